/* SPDX-License-Identifier: MIT
 *
 * Makes records of the bytes that the memory pass distributed among owners of blocks, after
 * checking that each moment adds up.
 */
#include "core/text.h"
#include "runner/fold.h"

#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of owners that a moment lists by name; the rest is summed up. */
enum { GROUPS_MOST = 100 };
#define SECOND_NS 1e9

struct moment {
    const struct ab_fold *f;
    const struct ab_owners *owners;
    const struct ab_pins_state *state;
    bool has_usable;
    double retained_bytes; /* bytes of all pages without a block; NaN = not known */
};

static bool adds_up(const struct ab_pins_state *s, uint32_t n_owners)
{
    struct ab_pins_row sum = s->rest;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        if (s->rows[i].owner >= n_owners)
            return false;
        ab_pins_row_add(&sum, &s->rows[i]);
    }
    return sum.live == s->live && sum.internal == s->internal && sum.external == s->external &&
           sum.external_2m == s->external_2m;
}

static bool is_consistent(const struct ab_fold *f, const struct ab_owners *owners,
                          const struct ab_pins_state *s)
{
    const struct ab_tape_image *tape = f->tape->image;
    return s->phase < tape->n_phases && f->tape->phases[s->phase].is_measured &&
           s->position <= tape->n_ops && s->moment < AB_PINS_MOMENT_COUNT &&
           (s->moment != AB_PINS_ASKED || s->asked < owners->n_moments) &&
           s->n_rows <= AB_PINS_ROWS_MOST && adds_up(s, owners->n);
}

/* Returns the time in the recorded work at this position of the tape, in seconds. */
static double seconds_at(const struct ab_fold *f, uint32_t position)
{
    const struct ab_time_step *steps = ab_tape_steps(f->tape->image);
    uint32_t low = 0, high = f->tape->image->n_steps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps[middle].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : (double)steps[low - 1].time_ns / SECOND_NS;
}

static double age_of(const struct moment *m, uint32_t birth)
{
    if (birth > m->state->position)
        return NAN;
    if (m->f->tape->image->n_steps > 0)
        return seconds_at(m->f, m->state->position) - seconds_at(m->f, birth);
    return (double)(ab_tape_ops_before(m->f->tape->image, m->state->position) -
                    ab_tape_ops_before(m->f->tape->image, birth));
}

static const char *name_moment(const struct moment *m)
{
    static const enum ab_pin_moment moments[] = {[AB_PINS_RESIDENT_PEAK] = AB_PIN_RESIDENT_PEAK,
                                                 [AB_PINS_LIVE_PEAK] = AB_PIN_LIVE_PEAK,
                                                 [AB_PINS_WORST] = AB_PIN_WORST,
                                                 [AB_PINS_END] = AB_PIN_END};
    return m->state->moment == AB_PINS_ASKED ? m->owners->moments[m->state->asked].name
                                             : ab_pin_moment_names[moments[m->state->moment]];
}

static struct ab_pin *add_pin(const struct moment *m, const char *function)
{
    struct ab_session *s = m->f->session;
    AB_GROW(s->pins, s->cap_pins, s->n_pins);
    struct ab_pin *pin = &s->pins[s->n_pins++];
    *pin = (struct ab_pin){.backend = m->f->backend,
                           .round = m->f->round,
                           .phase = m->f->tape->phases[m->state->phase].name,
                           .position = ab_tape_ops_before(m->f->tape->image, m->state->position),
                           .group = m->owners->group,
                           .median_bytes = NAN,
                           .median_age = NAN,
                           .is_age_in_seconds = m->f->tape->image->n_steps > 0,
                           .lane = AB_PIN_SEVERAL};
    AB_COPY(pin->at, name_moment(m));
    AB_COPY(pin->function, function);
    return pin;
}

static void fill(const struct moment *m, const struct ab_pins_row *row, struct ab_pin *pin)
{
    pin->live_bytes = (double)row->live;
    pin->internal_bytes = m->has_usable ? (double)row->internal : NAN;
    pin->pinned_bytes = (double)(row->external + (m->has_usable ? 0 : row->internal));
    pin->pinned_2m_bytes = (double)(row->external_2m + (m->has_usable ? 0 : row->internal));
    pin->retained_bytes = isnan(m->retained_bytes) ? NAN : (double)row->retained;
    pin->blocks = (double)row->blocks;
    pin->pages = (double)row->pages;
}

static void add_group(const struct moment *m, const struct ab_pins_row *row)
{
    const struct ab_owner_name *name = &m->owners->names[row->owner];
    struct ab_pin *pin = add_pin(m, name->function);
    fill(m, row, pin);
    memcpy(pin->file, name->file, sizeof pin->file);
    pin->line = name->line;
    if (row->blocks == 0)
        return;
    pin->median_bytes = (double)row->median_size;
    pin->median_age = age_of(m, row->median_birth);
    pin->lane = row->lane;
}

static int by_pinned(const void *a, const void *b)
{
    const struct ab_pin *x = a, *y = b;
    if (x->pinned_bytes != y->pinned_bytes)
        return x->pinned_bytes < y->pinned_bytes ? 1 : -1;
    return (x->retained_bytes < y->retained_bytes) - (x->retained_bytes > y->retained_bytes);
}

/* Adds the retained bytes that no owner has, as those of the allocator itself. */
static void add_allocator(const struct moment *m, uint64_t retained)
{
    struct ab_pins_row none = {0};
    if (!(m->retained_bytes > (double)retained))
        return;
    struct ab_pin *pin = add_pin(m, AB_PIN_ALLOCATOR);
    fill(m, &none, pin);
    pin->retained_bytes = m->retained_bytes - (double)retained;
}

static void add_moment(struct moment *m)
{
    const struct ab_pins_state *s = m->state;
    struct ab_session *session = m->f->session;
    struct ab_pins_row others = s->rest, all = s->rest;
    uint64_t used = s->live + s->internal + s->external;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        ab_pins_row_add(&all, &s->rows[i]);
        if (i >= GROUPS_MOST)
            ab_pins_row_add(&others, &s->rows[i]);
    }
    bool is_known = s->footprint != AB_MEMORY_UNKNOWN && s->footprint >= used + all.retained;
    m->retained_bytes = is_known ? (double)(s->footprint - used) : NAN;
    uint32_t first = session->n_pins;
    for (uint32_t i = 0; i < s->n_rows && i < GROUPS_MOST; i++)
        add_group(m, &s->rows[i]);
    qsort(session->pins + first, session->n_pins - first, sizeof session->pins[0], by_pinned);
    if (s->n_rows > GROUPS_MOST)
        fill(m, &others, add_pin(m, AB_PIN_OTHERS));
    add_allocator(m, all.retained);
}

/* Sorts by position. States at one position are in the order of the moments, except that the end of
 * the last phase comes last. */
static int by_position(const void *a, const void *b)
{
    const struct ab_pins_state *x = *(const struct ab_pins_state *const *)a;
    const struct ab_pins_state *y = *(const struct ab_pins_state *const *)b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    bool x_ends = x->moment == AB_PINS_END, y_ends = y->moment == AB_PINS_END;
    if (x_ends != y_ends)
        return x_ends ? 1 : -1;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return x->asked != y->asked ? (x->asked < y->asked ? -1 : 1)
                                : (x->phase > y->phase) - (x->phase < y->phase);
}

/* Passes the stacks that have blocks to owners->take_stack, in the first run of the first back end
 * only. */
static void give_stacks(const struct ab_fold *f, const struct ab_owners *owners,
                        const struct ab_pins_report *r)
{
    if (owners->take_stack == NULL || f->backend != 0)
        return;
    for (uint32_t i = 0; i < f->session->n_pins; i++)
        if (f->session->pins[i].backend == f->backend)
            return;
    for (uint32_t i = 0; i < r->n_stack_rows && i < AB_PINS_STACKS_MOST; i++)
        if (r->stacks[i].stack < owners->n_stacks && r->stacks[i].external < UINT64_C(1) << 56)
            owners->take_stack(owners->user, r->stacks[i].stack, r->stacks[i].external);
}

void ab_fold_pins(const struct ab_fold *f, const struct ab_owners *owners,
                  const struct ab_outcome *run)
{
    const struct ab_pins_report *r = run->pins;
    const struct ab_pins_state *states[AB_PINS_STATES_MOST];
    uint32_t n = 0;
    if (r == NULL || owners == NULL || ab_fold_doubt(run->memory) != NULL)
        return;
    for (uint32_t i = 0; i < AB_PINS_STATES_MOST; i++)
        if (r->states[i].position != AB_MEMORY_NEVER && is_consistent(f, owners, &r->states[i]))
            states[n++] = &r->states[i];
    give_stacks(f, owners, r);
    qsort(states, n, sizeof states[0], by_position);
    for (uint32_t i = 0; i < n; i++) {
        struct moment m = {.f = f,
                           .owners = owners,
                           .state = states[i],
                           .has_usable = ab_fold_has_usable(run->memory, states[i]->phase)};
        add_moment(&m);
    }
}
