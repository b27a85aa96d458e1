/* SPDX-License-Identifier: MIT
 *
 * The answer: a row for each proposal with what was measured, and the same as a picture.
 */
#include "core/units_show.h"
#include "report/format.h"
#include "report/html/advice/advice.h"
#include "report/html/pages/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_PX = 24, LEFT = 176, NAME_CHARS = 17, PLACES = 4 };

/* ---- the trace ---- */

static void put_fact(struct ab_html *h, const char *name, const char *text)
{
    ab_html_f(h, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name, text);
}

static void put_facts(struct ab_html *h, const json_t *d)
{
    static const char *const columns[] = {"", "", NULL};
    const json_t *scopes = json_object_get(d, "scopes");
    char text[400];
    double n = ab_advice_number(scopes, "n"), calls = ab_advice_number(d, "calls");
    ab_page_table_begin(h, "The trace, and how it was measured", columns);
    put_fact(h, "program", ab_advice_text(d, "program"));
    snprintf(text, sizeof text, "%.0f, by %.0f thread%s", calls, ab_advice_number(d, "threads"),
             ab_advice_number(d, "threads") > 1 ? "s" : "");
    put_fact(h, "allocations", text);
    if (n > 0)
        snprintf(text, sizeof text, "%.0f, %s; %.0f allocations in one", n,
                 strcmp(ab_advice_text(scopes, "from"), "marks") == 0
                     ? "by marks of the program"
                     : "found where short-lived blocks are gone",
                 calls / n);
    else
        snprintf(text, sizeof text, "none; times are those of a million calls");
    put_fact(h, "scopes", text);
    put_fact(h, "grouped by",
             strcmp(ab_advice_text(d, "by"), "site") == 0
                 ? "call site"
                 : "size: the trace has no call sites (record --sites)");
    snprintf(text, sizeof text, "%.0f rounds; advised is what takes less memory, or gains %.3g %%",
             ab_advice_number(d, "rounds"), 100 * ab_advice_number(d, "limit"));
    put_fact(h, "measured", text);
    ab_page_table_end(h);
}

/* ---- the table ---- */

static void put_speed(struct ab_html *h, const json_t *row)
{
    char text[AB_CELL_BYTES];
    double speed = ab_advice_number(row, "speed");
    if (isnan(speed))
        ab_html_f(h, "<td class=\"n\">n/a</td>");
    else
        ab_html_f(h, "<td class=\"n\">%s%s</td>",
                  ab_format_effect(text, speed, ab_advice_number(row, "speed_low"),
                                   ab_advice_number(row, "speed_high")),
                  isnan(ab_advice_number(row, "speed_low")) ? " (too few rounds)" : "");
}

static void put_measured(struct ab_html *h, const json_t *d, const json_t *row)
{
    const char *reason = ab_advice_text(row, "reason");
    if (reason[0] != 0) {
        ab_html_f(h, "<td colspan=\"5\">not measured: %s</td></tr>\n", reason);
        return;
    }
    const double times[] = {ab_advice_number(row, "base_time_ns"),
                            ab_advice_number(row, "time_ns")};
    const double bytes[] = {ab_advice_number(row, "base_memory_bytes"),
                            ab_advice_number(row, "memory_bytes")};
    for (unsigned i = 0; i < 2; i++)
        ab_html_f(h, isnan(times[i]) ? "<td class=\"n\">n/a</td>" : "<td class=\"n\">%s</td>",
                  AB_TIME(ab_advice_unit_time(d, times[i])));
    put_speed(h, row);
    for (unsigned i = 0; i < 2; i++)
        ab_html_f(h, isnan(bytes[i]) ? "<td class=\"n\">n/a</td>" : "<td class=\"n\">%s</td>",
                  AB_BYTES(bytes[i]));
    ab_html_f(h, "</tr>\n");
}

static void put_places(struct ab_html *h, const json_t *d, const char *heap)
{
    const json_t *g;
    size_t i, n = 0;
    char place[400];
    json_array_foreach(json_object_get(d, "groups"), i,
                       g) if (strcmp(ab_advice_text(g, "heap"), heap) == 0 && n++ < PLACES)
        ab_html_f(h, "<br><code class=\"few\">%s</code>", ab_advice_place(g, place, sizeof place));
    if (n > PLACES)
        ab_html_f(h, "<br><span class=\"few\">and %zu more</span>", n - PLACES);
}

static void put_share(struct ab_html *h, double calls, double all)
{
    char share[32] = "";
    if (all > 0)
        snprintf(share, sizeof share, "%.1f %%", 100 * calls / all);
    ab_html_f(h, "<td class=\"n\">%s</td>", share);
}

/* What a heap is for that is not advised is said as well, with the reason. */
static void put_heap(struct ab_html *h, const json_t *d, const json_t *heap)
{
    const char *name = ab_advice_text(heap, "name"), *why = ab_advice_text(heap, "refusal");
    ab_html_f(h, "<tr><th scope=\"row\">%s</th><td class=\"site\">%s", name,
              ab_advice_text(heap, "what"));
    put_places(h, d, name);
    ab_html_f(h, "</td>");
    put_share(h, ab_advice_number(heap, "calls"), ab_advice_number(d, "calls"));
    if (ab_advice_flag(heap, "advised"))
        ab_html_f(h, "<td>%s%s</td>", ab_advice_text(heap, "proposal"),
                  ab_advice_flag(heap, "by_memory") ? " (a gain in memory)" : "");
    else
        ab_html_f(h, "<td>malloc (keep)<br><span class=\"few\">%s: %s</span></td>",
                  ab_advice_text(heap, "proposal"), why);
    put_measured(h, d, json_object_get(heap, "alone"));
}

static void put_other(struct ab_html *h, const json_t *d, const char *what, const char *proposal,
                      const json_t *row)
{
    ab_html_f(h, "<tr><th scope=\"row\"></th><td>%s</td><td></td><td>%s</td>", what, proposal);
    put_measured(h, d, row);
}

static void put_rest(struct ab_html *h, const json_t *d)
{
    const json_t *heap;
    size_t i;
    double rest = ab_advice_number(d, "calls");
    json_array_foreach(json_object_get(d, "heaps"), i, heap)
        rest -= ab_advice_number(heap, "calls");
    if (!(rest > 0))
        return;
    ab_html_f(h, "<tr><th scope=\"row\"></th><td>the rest</td>");
    put_share(h, rest, ab_advice_number(d, "calls"));
    ab_html_f(h, "<td>malloc (keep)</td><td colspan=\"5\"></td></tr>\n");
}

static void put_table(struct ab_html *h, const json_t *d)
{
    static const char *const columns[] = {
        "",       "what",     "#calls",         "proposal",      "#before",
        "#after", "#as fast", "#memory before", "#memory after", NULL};
    char title[300];
    const json_t *row, *together = json_object_get(d, "together");
    const json_t *compiled = json_object_get(d, "compiled");
    size_t i;
    snprintf(title, sizeof title, "Time in the allocator per %s; before: %.128s",
             ab_advice_text(d, "unit"), ab_advice_text(json_object_get(d, "base"), "name"));
    ab_page_table_begin(h, title, columns);
    json_array_foreach(json_object_get(d, "heaps"), i, row) put_heap(h, d, row);
    put_rest(h, d);
    if (json_is_object(together))
        put_other(h, d, "all that is advised, together", "", together);
    if (json_is_object(compiled))
        put_other(h, d, "the same, compiled in as --code does", "", compiled);
    json_array_foreach(json_object_get(d, "generals"), i, row)
        put_other(h, d, "everything in", ab_advice_text(row, "name"), row);
    ab_page_table_end(h);
    ab_html_f(h,
              "<p class=\"soft\">Each proposal is replayed alone, the rest in %s. <i>As fast</i>: "
              "time before by time after, with its 90 %% interval over the rounds. Memory: "
              "peak resident.</p>\n",
              ab_advice_text(json_object_get(d, "base"), "name"));
}

/* ---- pictures ---- */

struct bar {
    const char *name;
    enum ab_colour colour;
    double value, low, high; /* NaN = no interval */
};

struct bars {
    struct bar *items;
    size_t n;
};

/* The interval of the time is that of the ratio. */
static void add_bar(struct bars *to, const json_t *d, const json_t *row, bool is_memory,
                    const char *name, enum ab_colour colour)
{
    double base = ab_advice_unit_time(d, ab_advice_number(row, "base_time_ns"));
    struct bar b = {name, colour, ab_advice_unit_time(d, ab_advice_number(row, "time_ns")),
                    base / ab_advice_number(row, "speed_high"),
                    base / ab_advice_number(row, "speed_low")};
    if (is_memory)
        b = (struct bar){name, colour, ab_advice_number(row, "memory_bytes"), NAN, NAN};
    if (isfinite(b.value))
        to->items[to->n++] = b;
}

static void collect(struct bars *to, const json_t *d, bool is_memory)
{
    const json_t *row, *base = json_object_get(d, "base");
    size_t i;
    add_bar(to, d, base, is_memory, ab_advice_text(base, "name"), AB_COLOUR_LIVE);
    json_array_foreach(json_object_get(d, "heaps"), i, row)
        add_bar(to, d, json_object_get(row, "alone"), is_memory, ab_advice_text(row, "proposal"),
                ab_advice_colour(i));
    row = json_object_get(d, "together");
    if (json_is_object(row))
        add_bar(to, d, row, is_memory, "together", AB_COLOUR_S5);
    row = json_object_get(d, "compiled");
    if (json_is_object(row))
        add_bar(to, d, row, is_memory, "compiled in", AB_COLOUR_S5);
    json_array_foreach(json_object_get(d, "generals"), i, row)
        add_bar(to, d, row, is_memory, ab_advice_text(row, "name"), AB_COLOUR_LIVE);
}

static void draw_bar(struct ab_plot *p, const struct bar *b, enum ab_axis_unit unit, double y)
{
    char cut[120], title[400], value[64];
    snprintf(title, sizeof title, "%.200s: %s", b->name,
             ab_axis_text(value, sizeof value, unit, b->value));
    struct ab_paint paint = {.colour = b->colour, .title = title};
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 7, ab_axis_at(&p->y, y) + 4, "end",
                 ab_page_cut(cut, sizeof cut, b->name, NAME_CHARS));
    ab_plot_bar(p, paint, (struct ab_point){0, y - 0.34}, (struct ab_point){b->value, y + 0.34},
                0.75);
    paint.colour = AB_COLOUR_INK;
    if (isfinite(b->low) && isfinite(b->high))
        ab_plot_error_x(p, paint, b->low, b->high, y);
}

/* A wild interval is cut, not all bars. */
static double longest_of(const struct bar *b)
{
    return isfinite(b->high) ? fmax(b->value, fmin(b->high, 3 * b->value)) : b->value;
}

/* The time before is a line through all rows. */
static void draw(struct ab_html *h, const json_t *d, const struct bars *bars, bool is_memory)
{
    enum ab_axis_unit unit = is_memory ? AB_AXIS_BYTES : AB_AXIS_TIME;
    char title[120];
    double most = 0, n = (double)bars->n;
    for (size_t i = 0; i < bars->n; i++)
        most = fmax(most, longest_of(&bars->items[i]));
    if (bars->n == 0 || !(most > 0))
        return;
    snprintf(title, sizeof title, is_memory ? "Memory at the peak" : "Time in the allocator per %s",
             ab_advice_text(d, "unit"));
    struct ab_plot p = {.x = {.high = most, .unit = unit, .title = is_memory ? "resident" : "time"},
                        .y = {.low = 0, .high = n},
                        .is_y_exact = true};
    ab_plot_begin(
        &p, h,
        &(struct ab_figure){
            .title = title,
            .description = is_memory ? "Resident memory before, with each proposal and with all"
                                     : "Time before, with each proposal alone and with all",
            .why = is_memory ? "The first bar and the line are today's malloc."
                             : "Median of the rounds; shorter is faster. The first bar and the "
                               "line are today's malloc. Caps: 90 % interval of the ratio to it.",
            .height = 68 + ROW_PX * n,
            .left = LEFT,
            .has_no_y = true});
    for (size_t i = 0; i < bars->n; i++)
        draw_bar(&p, &bars->items[i], unit, n - (double)i - 0.5);
    const struct ab_point line[] = {{bars->items[0].value, 0}, {bars->items[0].value, n}};
    ab_plot_line(
        &p,
        (struct ab_paint){.colour = AB_COLOUR_INK, .dash = "4 3", .width = 1, .title = "before"},
        line, 2);
    ab_plot_end(&p);
}

static void put_pictures(struct ab_html *h, const json_t *d)
{
    size_t most = 3 + json_array_size(json_object_get(d, "heaps")) +
                  json_array_size(json_object_get(d, "generals"));
    struct bars bars = {.items = calloc(most, sizeof bars.items[0])};
    h->is_short_of_memory = h->is_short_of_memory || bars.items == NULL;
    if (bars.items == NULL)
        return;
    ab_page_figures_begin(h);
    for (unsigned is_memory = 0; is_memory < 2; is_memory++) {
        bars.n = 0;
        collect(&bars, d, is_memory);
        draw(h, d, &bars, is_memory);
    }
    ab_page_figures_end(h);
    free(bars.items);
}

void ab_advice_put_answer(struct ab_html *h, const void *user)
{
    const json_t *d = ((const struct ab_advice_report *)user)->document;
    ab_html_f(h, "<div class=\"verdict\"><p>Advice: %s</p></div>\n",
              ab_advice_text(d, "answer_text"));
    put_table(h, d);
    put_pictures(h, d);
    put_facts(h, d);
}
