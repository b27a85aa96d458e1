/* SPDX-License-Identifier: MIT
 *
 * Memory over the time of the work: a table of idle stretches and back ends, and a table of growth.
 */
#include "answer/topics.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "stats/growth.h"
#include "stats/over_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SPAN(ns) ab_units_span((char[32]){0}, 32, ns, false)

/* ---- idle stretches ---- */

enum {
    STRETCH,
    BEGIN,
    AT_1S,
    AT_10S,
    AT_60S,
    END,
    FLOOR,
    HALF_BACK,
    MOST_BACK,
    AREA,
    LIVE,
    EXTERNAL,
    RETAINED,
    COLUMNS
};

struct stretches { /* idle stretches (pauses of the work) of one back end */
    struct ab_idles all;
    uint32_t longest; /* index of the longest stretch; the first of several equally long ones */
};

static struct stretches list_stretches(const struct ab_session *s, uint32_t backend)
{
    struct stretches of = {.all = ab_idles_of(s, backend, AB_OVER_TIME_ALL_ROUNDS)};
    for (uint32_t k = 1; k < of.all.n; k++) {
        const struct ab_idle *x = &of.all.items[k], *best = &of.all.items[of.longest];
        if (x->end_ns - x->begin_ns > best->end_ns - best->begin_ns)
            of.longest = k;
    }
    return of;
}

/* True for the first, the longest and the last stretch; or for all, if there are at most three. */
static bool is_shown(const struct stretches *of, uint32_t i)
{
    return of->all.n <= 3 || i == 0 || i == of->longest || i + 1 == of->all.n;
}

static void put_stretch(struct ab_grid *g, const struct ab_idle *x, uint32_t i, uint32_t n)
{
    const double bytes[] = {x->begin_bytes,  x->at_1s_bytes, x->at_10s_bytes,
                            x->at_60s_bytes, x->end_bytes,   x->floor_bytes};
    if (n > 1)
        ab_grid_say(g, STRETCH, "%s, %u of %u, %s", x->phase, i + 1, n,
                    SPAN(x->end_ns - x->begin_ns));
    else
        ab_grid_say(g, STRETCH, "%s, %s", x->phase, SPAN(x->end_ns - x->begin_ns));
    for (unsigned c = 0; c < sizeof bytes / sizeof bytes[0]; c++)
        ab_grid_put(g, BEGIN + c, AB_GRID_BYTES, bytes[c], "the stretch is shorter");
    const char *why = isnan(x->freed_bytes) ? "nothing was freed before it"
                                            : "less than that was given back";
    ab_grid_put(g, HALF_BACK, AB_GRID_TIME, x->half_back_ns, why);
    ab_grid_put(g, MOST_BACK, AB_GRID_TIME, x->most_back_ns, why);
    if (isfinite(x->area))
        ab_grid_say(g, AREA, "%.3g", x->area);
    else
        ab_grid_put(g, AREA, AB_GRID_BYTES, NAN, NULL);
    ab_grid_put(g, LIVE, AB_GRID_BYTES, x->live_bytes, "not known");
    ab_grid_put(g, EXTERNAL, AB_GRID_BYTES, x->end_external_bytes, "not known");
    ab_grid_put(g, RETAINED, AB_GRID_BYTES, x->end_retained_bytes, "not known");
}

/* Returns " 2/7, not shown: 3 to 5": the number of a stretch, and the stretches after it that are
 * left out. */
static const char *count_of(struct ab_grid *g, const struct stretches *of, uint32_t i)
{
    const struct ab_idles *all = &of->all;
    uint32_t next = i + 1;
    while (next < all->n && !is_shown(of, next))
        next++;
    if (all->n <= 1)
        return "";
    if (next == i + 1)
        return ab_view_texts_addf(&g->texts, " %u/%u", i + 1, all->n);
    if (next == i + 2)
        return ab_view_texts_addf(&g->texts, " %u/%u, not shown: %u", i + 1, all->n, next);
    return ab_view_texts_addf(&g->texts, " %u/%u, not shown: %u to %u", i + 1, all->n, i + 2, next);
}

/* Adds one stretch: a heading, then a row for each back end. */
static void add_stretch(struct ab_grid *g, const struct stretches *of, uint32_t i)
{
    bool is_first = true;
    for (uint32_t b = 0; b < g->session->n_backends; b++) {
        if (i >= of[b].all.n || !is_shown(&of[b], i))
            continue;
        const struct ab_idle *x = &of[b].all.items[i];
        if (is_first)
            ab_grid_heading(
                g, ab_view_texts_addf(&g->texts, "%s %s", x->phase, SPAN(x->end_ns - x->begin_ns)),
                count_of(g, &of[b], i));
        is_first = false;
        ab_grid_add_backend(g, b);
        put_stretch(g, x, i, of[b].all.n);
    }
}

/* True if any stretch was long enough for the reading of this column. */
static bool is_known(const struct ab_grid *g, unsigned column)
{
    for (size_t r = 0; r < g->n_rows; r++)
        if (!g->rows[r].is_heading && isfinite(g->rows[r].cells[column].value))
            return true;
    return false;
}

bool ab_over_time_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    uint32_t most = 0;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocator",
                          .title = "resident memory while idle",
                          .columns = {[STRETCH] = {.in_html = "idle stretch"},
                                      [BEGIN] = {"begin", 0, "#at its begin"},
                                      [AT_1S] = {"+1 s", 8, "#+1 s"},
                                      [AT_10S] = {"+10 s", 7, "#+10 s"},
                                      [AT_60S] = {"+60 s", 5, "#+60 s"},
                                      [END] = {"end", 0, "#end"},
                                      [FLOOR] = {"floor", 4, "#floor"},
                                      [HALF_BACK] = {"half back", 6, "#half back after"},
                                      [MOST_BACK] = {"90% back", 3, "#90 % back after"},
                                      [AREA] = {"MiB h", 1, "#MiB h"},
                                      [LIVE] = {"live", 2, "#live at the end"},
                                      [EXTERNAL] = {"external", 2, "#external"},
                                      [RETAINED] = {"retained", 2, "#retained"}},
                          .n_columns = COLUMNS,
                          .is_list = true};
    struct stretches *of = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof of[0]);
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (ab_view_shows(s, b)) {
            of[b] = list_stretches(s, b);
            most = of[b].all.n > most ? of[b].all.n : most;
        }
    for (uint32_t i = 0; i < most; i++)
        add_stretch(g, of, i);
    for (uint32_t b = 0; b < s->n_backends; b++)
        free(of[b].all.items);
    free(of);
    for (unsigned c = AT_1S; c <= AT_60S; c++)
        if (!is_known(g, c))
            g->columns[c].title = g->columns[c].in_html = NULL;
    return g->n_rows > 0;
}

/* ---- growth ---- */

enum { VERDICT, PER_HOUR, LOW, HIGH, WINDOW, GROWTH_COLUMNS };

static const char *const what_grows[AB_GROWTH_VERDICTS] = {
    [AB_GROWTH_STEADY] = "steady",
    [AB_GROWTH_RETAINED] = "retained (pages without blocks)",
    [AB_GROWTH_FRAGMENTED] = "fragmented (pages with few)",
    [AB_GROWTH_LEAKED] = "leaked (live bytes grow)",
    [AB_GROWTH_GROWS] = "grows",
};

static void put_growth(struct ab_grid *g, const struct ab_growth_by_time *growth)
{
    const char *why = growth->why;
    if (growth->verdict != AB_GROWTH_UNKNOWN)
        ab_grid_say(g, VERDICT, "%s", what_grows[growth->verdict]);
    else if (isfinite(growth->needs_ns))
        ab_grid_say(g, VERDICT, "not known (needs about %s)", SPAN(growth->needs_ns));
    else
        ab_grid_say(g, VERDICT, "not known (%s)", growth->brief);
    ab_grid_put(g, PER_HOUR, AB_GRID_BYTES, growth->bytes_per_hour, why);
    ab_grid_put(g, LOW, AB_GRID_BYTES, growth->low, why);
    ab_grid_put(g, HIGH, AB_GRID_BYTES, growth->high, why);
    if (isfinite(growth->begin_ns))
        ab_grid_say(g, WINDOW, "%s to %s", SPAN(growth->begin_ns), SPAN(growth->end_ns));
    else
        ab_grid_put(g, WINDOW, AB_GRID_TEXT, NAN, why);
}

/* Adds "live bytes grow in keep (server.c:88) by 12.0 MiB, …" for the first leak whose call sites
 * are known: as a sentence on pages, else as the remark. */
static void add_sites(struct ab_grid *g, const struct ab_growth_by_time *growth, bool is_page)
{
    struct ab_text t = {0};
    if (g->remark != NULL || g->sentences.n > 0 || growth->n_sites == 0)
        return;
    for (uint32_t i = 0; i < growth->n_sites; i++) {
        const struct ab_growth_site *site = &growth->sites[i];
        ab_text_addf(&t, "%s%s", i == 0 ? "live bytes grow in " : ", ", site->function);
        if (site->line > 0)
            ab_text_addf(&t, " (%s:%u)", site->file, site->line);
        ab_text_addf(&t, " by %s", AB_BYTES(site->bytes));
    }
    const char *text = ab_view_texts_addf(is_page ? &g->sentences : &g->texts,
                                          "%s, in the second half of the time.", t.s);
    g->remark = is_page ? NULL : text;
    ab_text_fini(&t);
}

bool ab_growth_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocator",
                          .columns = {[VERDICT] = {"", 0, "resident memory"},
                                      [PER_HOUR] = {"an hour", 0, "#in an hour"},
                                      [LOW] = {"from", 2, "#from"},
                                      [HIGH] = {"to (99 %)", 2, "#to (99 %)"},
                                      [WINDOW] = {"seen in", 3, "seen in"}},
                          .n_columns = GROWTH_COLUMNS,
                          .is_list = true};
    bool is_any_known = false; /* false = the work is too short for a table */
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_growth_by_time growth = {.verdict = AB_GROWTH_UNKNOWN, .lasts_ns = NAN};
        if (ab_view_shows(s, b))
            growth = ab_growth_by_time(s, b, AB_GROWTH_ALL_ROUNDS);
        if (isnan(growth.lasts_ns))
            continue;
        if (g->n_rows == 0)
            ab_grid_heading(g, "growth", "");
        ab_grid_add_backend(g, b);
        put_growth(g, &growth);
        add_sites(g, &growth, at->surface == AB_PAGE);
        is_any_known = is_any_known || isfinite(growth.bytes_per_hour);
    }
    return is_any_known;
}
