/* SPDX-License-Identifier: MIT
 *
 * Shows which blocks pin the pages at a moment: for each back end the groups that pin most, and a
 * sentence about the first group.
 */
#include "answer/topics.h"
#include "core/text.h"
#include "core/units_show.h"
#include "stats/pin_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALLOCATOR, PLACE, PINNED, SHARE, RETAINED, PAGES, LIVE, BLOCKS, SIZE, AGE, THREAD, COLUMNS };
enum { SHOWN = 5 };

/* Adds the row of a group of blocks that pins pages. The position in the file has its own column,
 * because terminals may cut the label. */
static void add_row(struct ab_grid *g, uint32_t backend, const struct ab_pin *pin)
{
    ab_grid_add(g, pin->function, "");
    ab_grid_say(g, ALLOCATOR, "%s", ab_backend_label(&g->session->backends[backend]));
    if (pin->line > 0)
        ab_grid_say(g, PLACE, "%s:%u", pin->file, pin->line);
    else if (pin->file[0] != 0)
        ab_grid_say(g, PLACE, "%s", pin->file);
}

static const char *moment_of(const char *at, struct ab_view_texts *texts)
{
    static const char *const moments[AB_PIN_MOMENT_COUNT] = {
        [AB_PIN_RESIDENT_PEAK] = "at the peak of resident memory",
        [AB_PIN_LIVE_PEAK] = "at the peak of live bytes",
        [AB_PIN_WORST] = "at the most external bytes",
        [AB_PIN_END] = "at the end",
        [AB_PIN_HALF_TIME] = "at half of the time of the work",
    };
    for (unsigned i = 0; i < AB_PIN_MOMENT_COUNT; i++)
        if (strcmp(at, ab_pin_moment_names[i]) == 0)
            return moments[i];
    return ab_view_texts_addf(texts, "at %s", at);
}

static bool has_places(const struct ab_session *s)
{
    return s->n_pins > 0 && s->pins[0].group == AB_PIN_SITE;
}

/* True if `pin` stands for the blocks of one place, set or size, not for all other blocks or the
 * allocator itself. */
static bool is_group(const struct ab_pin *pin)
{
    return strcmp(pin->function, AB_PIN_OTHERS) != 0 &&
           strcmp(pin->function, AB_PIN_ALLOCATOR) != 0;
}

static void put_age(struct ab_grid *g, const struct ab_pin *pin)
{
    if (isnan(pin->median_age))
        ab_grid_put(g, AGE, AB_GRID_COUNT, NAN, "it has no live block");
    else if (pin->is_age_in_seconds)
        ab_grid_put(g, AGE, AB_GRID_TIME, pin->median_age * 1e9, "");
    else
        ab_grid_say(g, AGE, "%s ops", ab_units_count((char[32]){0}, 32, pin->median_age));
}

static void put_pin(struct ab_grid *g, const struct ab_pin *pin, const struct ab_pins_of *m)
{
    ab_grid_put(g, PINNED, AB_GRID_BYTES, pin->pinned_bytes, "");
    ab_grid_put(g, SHARE, AB_GRID_SHARE, pin->pinned_bytes / m->resident_bytes,
                "resident memory is not known");
    ab_grid_put(g, RETAINED, AB_GRID_BYTES, pin->retained_bytes, "resident memory is not known");
    if (!is_group(pin))
        return;
    ab_grid_put(g, PAGES, AB_GRID_AMOUNT, pin->pages, "");
    ab_grid_put(g, LIVE, AB_GRID_BYTES, pin->live_bytes, "");
    ab_grid_put(g, BLOCKS, AB_GRID_AMOUNT, pin->blocks, "");
    ab_grid_put(g, SIZE, AB_GRID_BYTES, pin->median_bytes, "it has no live block");
    put_age(g, pin);
    if (pin->blocks > 0 && pin->lane != AB_PIN_SEVERAL)
        ab_grid_say(g, THREAD, "%u", pin->lane);
    else if (pin->blocks > 0)
        ab_grid_say(g, THREAD, "several");
}

static void add_backend(struct ab_grid *g, const struct ab_pins_of *m)
{
    const uint32_t backend = m->pins[0].backend;
    ab_grid_heading(g, ab_backend_label(&g->session->backends[backend]), "");
    for (uint32_t i = 0; i < m->n && i < SHOWN; i++) {
        if (m->pins[i].pinned_bytes + m->pins[i].retained_bytes <= 0)
            break;
        add_row(g, backend, &m->pins[i]);
        put_pin(g, &m->pins[i], m);
    }
    for (uint32_t i = SHOWN; i < m->n; i++)
        if (!is_group(&m->pins[i]) && m->pins[i].retained_bytes > 0) {
            add_row(g, backend, &m->pins[i]);
            put_pin(g, &m->pins[i], m);
        }
}

/* Finds the back end whose worst group pins the largest part of its resident memory; NULL =
 * none. */
static const struct ab_pins_of *find_worst(const struct ab_session *s, const struct ab_pins_of *all,
                                           uint32_t n)
{
    const struct ab_pins_of *worst = NULL;
    double most = 0;
    for (const struct ab_pins_of *m = all; m < all + n; m++) {
        double share = m->pins[0].pinned_bytes / m->resident_bytes;
        if (!ab_view_shows(s, m->pins[0].backend) || !(share > most))
            continue;
        most = share;
        worst = m;
    }
    return worst;
}

/* Adds how much of the memory under each other back end the same group pins. */
static void add_others(struct ab_text *t, const struct ab_session *s, const struct ab_pins_of *all,
                       uint32_t n, const struct ab_pins_of *worst)
{
    const char *before = "; ";
    for (const struct ab_pins_of *m = all; m < all + n; m++) {
        if (m == worst || !ab_view_shows(s, m->pins[0].backend) || isnan(m->resident_bytes))
            continue;
        const struct ab_pin *same = ab_pins_same(m, &worst->pins[0]);
        ab_text_addf(t, "%s%.3g %% under %s", before,
                     same != NULL ? 100 * same->pinned_bytes / m->resident_bytes : 0.0,
                     ab_backend_label(&s->backends[m->pins[0].backend]));
        before = ", ";
    }
}

/* Returns a sentence about the group that pins the largest part of a back end's resident memory;
 * NULL = none is known. */
static const char *sentence_of(const struct ab_session *s, const struct ab_pins_of *all, uint32_t n,
                               struct ab_view_texts *texts)
{
    char name[300];
    struct ab_text t = {0};
    const struct ab_pins_of *m = find_worst(s, all, n);
    if (m == NULL)
        return NULL;
    const struct ab_pin *pin = &m->pins[0];
    ab_pin_name(pin, name, sizeof name);
    ab_text_addf(
        &t, "%s: %s blocks of %s, %.3g %% of live bytes, pin %.3g %% of resident memory under %s",
        name, ab_units_count((char[32]){0}, 32, pin->blocks), AB_BYTES(pin->median_bytes),
        100 * pin->live_bytes / m->live_bytes, 100 * pin->pinned_bytes / m->resident_bytes,
        ab_backend_label(&s->backends[pin->backend]));
    add_others(&t, s, all, n, m);
    const char *sentence = ab_view_texts_addf(texts, "%s.", t.s);
    ab_text_fini(&t);
    return sentence;
}

/* Fills the table of who pins the pages at one moment: for each back end a heading, then its groups
 * of blocks. */
bool ab_pins_grid(const struct ab_topic_at *topic, struct ab_grid *g)
{
    const struct ab_session *s = topic->view->session;
    uint32_t n;
    const struct ab_pins_of *all = ab_view_pins(topic->view, topic->number, &n);
    if (n == 0)
        return false;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocated by",
                          .columns = {[ALLOCATOR] = {.in_html = "allocator"},
                                      [PLACE] = {has_places(s) ? "at" : NULL, 0,
                                                 has_places(s) ? "at" : NULL, .width = 20},
                                      [PINNED] = {"pinned", 0, "#pinned"},
                                      [SHARE] = {"of all", 0, "#of resident"},
                                      [RETAINED] = {"retained", 2, "#retained"},
                                      [PAGES] = {"pages", 3, "#pages"},
                                      [LIVE] = {"live", 0, "#live"},
                                      [BLOCKS] = {"blocks", 1, "#blocks"},
                                      [SIZE] = {"size", 1, "#median size"},
                                      [AGE] = {"age", 4, "#median age"},
                                      [THREAD] = {"thread", 5, "thread"}},
                          .n_columns = COLUMNS,
                          .is_list = true};
    const char *moment = moment_of(all[0].pins[0].at, &g->texts);
    g->title = ab_view_texts_addf(&g->texts, "who pins the pages %s", moment);
    for (uint32_t i = 0; i < n; i++)
        if (ab_view_shows(s, all[i].pins[0].backend))
            add_backend(g, &all[i]);
    const char *sentence = g->n_rows > 0 ? sentence_of(s, all, n, &g->texts) : NULL;
    if (topic->surface == AB_PAGE) {
        g->caption = ab_view_texts_addf(&g->texts, "Who pins the pages %s", moment);
        if (sentence != NULL)
            ab_view_texts_addf(&g->sentences, "%s", sentence);
    } else {
        g->remark = sentence;
    }
    return g->n_rows > 0;
}
