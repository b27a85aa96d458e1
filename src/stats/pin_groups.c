/* SPDX-License-Identifier: MIT
 *
 * Finds the groups of a moment in the records of a result. The records of one moment are next to
 * each other.
 */
#include "stats/pin_groups.h"

#include "core/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct ab_pin *pin, uint32_t backend, uint32_t round, const char *at)
{
    return pin->backend == backend && strcmp(pin->at, at) == 0 &&
           (round == AB_PINS_FIRST_ROUND || pin->round == round);
}

static bool is_same_moment(const struct ab_pin *a, const struct ab_pin *b)
{
    return a->backend == b->backend && a->round == b->round && strcmp(a->at, b->at) == 0 &&
           a->position == b->position && strcmp(a->phase, b->phase) == 0;
}

static double known_or_0(double bytes)
{
    return isnan(bytes) ? 0 : bytes;
}

static void add_up(struct ab_pins_of *m)
{
    m->live_bytes = m->internal_bytes = m->pinned_bytes = m->resident_bytes = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ab_pin *pin = &m->pins[i];
        m->live_bytes += pin->live_bytes;
        m->pinned_bytes += pin->pinned_bytes;
        m->internal_bytes += known_or_0(pin->internal_bytes);
        m->resident_bytes += pin->live_bytes + pin->pinned_bytes + known_or_0(pin->internal_bytes) +
                             pin->retained_bytes; /* NaN if retained pages are not known */
    }
}

bool ab_pins_find(const struct ab_session *s, uint32_t backend, uint32_t round, const char *at,
                  struct ab_pins_of *out)
{
    *out = (struct ab_pins_of){0};
    for (uint32_t i = 0; i < s->n_pins; i++) {
        const struct ab_pin *pin = &s->pins[i];
        if (!is_of(pin, backend, round, at) || (out->n > 0 && out->pins[0].round != pin->round))
            continue;
        if (out->n == 0 || !is_same_moment(&out->pins[0], pin))
            *out = (struct ab_pins_of){.pins = pin};
        out->n++;
    }
    add_up(out);
    return out->n > 0;
}

static bool is_asked(const char *at)
{
    for (unsigned i = 0; i < AB_PIN_MOMENT_COUNT; i++)
        if (strcmp(at, ab_pin_moment_names[i]) == 0)
            return false;
    return true;
}

/* ---- the list of all ---- */

static void list_moments(const struct ab_session *s, struct ab_pins_list *out)
{
    out->moments[out->n_moments++] = ab_pin_moment_names[AB_PIN_WORST];
    out->moments[out->n_moments++] = ab_pin_moment_names[AB_PIN_END];
    for (uint32_t i = 0; i < s->n_pins && s->pins[i].backend == s->pins[0].backend &&
                         s->pins[i].round == s->pins[0].round;
         i++)
        if (is_asked(s->pins[i].at) && (i == 0 || strcmp(s->pins[i].at, s->pins[i - 1].at) != 0))
            out->moments[out->n_moments++] = s->pins[i].at;
}

static int by_moment(const void *a, const void *b)
{
    const struct ab_pin *x = ((const struct ab_pins_of *)a)->pins;
    const struct ab_pin *y = ((const struct ab_pins_of *)b)->pins;
    int order = strcmp(x->at, y->at);
    if (order != 0)
        return order;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    return (x > y) - (x < y);
}

void ab_pins_list_make(const struct ab_session *s, struct ab_pins_list *out)
{
    uint32_t n = 0;
    *out = (struct ab_pins_list){
        .moments = ab_alloc(((size_t)s->n_pins + 2) * sizeof out->moments[0]),
        .items = ab_alloc(((size_t)s->n_pins + 1) * sizeof out->items[0])};
    list_moments(s, out);
    for (uint32_t i = 0; i < s->n_pins; i++) {
        if (i == 0 || !is_same_moment(&s->pins[i - 1], &s->pins[i]))
            out->items[n++] = (struct ab_pins_of){.pins = &s->pins[i]};
        out->items[n - 1].n++;
    }
    qsort(out->items, n, sizeof out->items[0], by_moment);
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_pin *pin = out->items[i].pins;
        const struct ab_pin *before = out->n > 0 ? out->items[out->n - 1].pins : NULL;
        bool is_new = before == NULL || before->backend != pin->backend ||
                      strcmp(before->at, pin->at) != 0;
        if (is_new || before->round == pin->round)
            out->items[is_new ? out->n++ : out->n - 1] = out->items[i];
    }
    for (uint32_t i = 0; i < out->n; i++)
        add_up(&out->items[i]);
}

const struct ab_pin *ab_pins_same(const struct ab_pins_of *in, const struct ab_pin *pin)
{
    for (uint32_t i = 0; i < in->n; i++)
        if (in->pins[i].line == pin->line && strcmp(in->pins[i].function, pin->function) == 0 &&
            strcmp(in->pins[i].file, pin->file) == 0)
            return &in->pins[i];
    return NULL;
}

void ab_pin_name(const struct ab_pin *pin, char *buf, size_t cap)
{
    if (pin->file[0] == 0)
        snprintf(buf, cap, "%s", pin->function);
    else if (pin->line == 0)
        snprintf(buf, cap, "%s (%s)", pin->function, pin->file);
    else
        snprintf(buf, cap, "%s (%s:%u)", pin->function, pin->file, pin->line);
}
