/* SPDX-License-Identifier: MIT
 *
 * The sections of the page of an advice, its flame graphs, and the texts to copy.
 */
#include "report/html/advice/advice_report.h"

#include "base/bits.h"
#include "report/format.h"
#include "report/html/advice/advice.h"
#include "report/html/frame/frame.h"
#include "report/html/trace/flame_figure.h"

#include <stdlib.h>
#include <string.h>

/* ---- flame graphs ---- */

enum { HEAPS_MOST = 63 };

static void put_swatch(struct ab_html *h, const char *fill, const char *name, const char *what)
{
    ab_html_f(h,
              "<li><span class=\"name\"><svg class=\"swatch\" viewBox=\"0 0 34 10\" "
              "aria-hidden=\"true\"><rect width=\"34\" height=\"10\" fill=\"%s\"/></svg>%s</span> "
              "%s</li>",
              fill, name, what);
}

/* In the colours of the boxes, which are the same in both themes. */
static void put_legend(struct ab_html *h, const json_t *heaps)
{
    const json_t *heap;
    size_t i;
    ab_html_f(h, "<ul class=\"legend\">");
    json_array_foreach(heaps, i, heap) if (ab_advice_flag(heap, "advised"))
        put_swatch(h, ab_colours[ab_advice_colour(i)].dark, ab_advice_text(heap, "name"),
                   ab_advice_text(heap, "proposal"));
    put_swatch(h, ab_colours[AB_COLOUR_LIVE].dark, "malloc", "the rest");
    put_swatch(h, AB_FLAME_GREY, "grey", "functions whose calls have several of these");
    ab_html_f(h, "</ul>\n");
}

void ab_advice_put_flames(struct ab_html *h, const void *user)
{
    const struct ab_advice_report *r = user;
    const json_t *heaps = json_object_get(r->document, "heaps");
    enum ab_colour colours[HEAPS_MOST + 1] = {AB_COLOUR_LIVE};
    size_t n = json_array_size(heaps) < HEAPS_MOST ? json_array_size(heaps) : HEAPS_MOST;
    if (r->stacks == NULL || r->stacks->by_calls == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        colours[1 + i] = ab_advice_colour(i);
    ab_html_f(h, "<p>Who asks for memory, by what is proposed for it.</p>\n");
    put_legend(h, heaps);
    ab_flame_figure_of_kinds(h, r->stacks->by_calls, false,
                             "Flame graph: calls that allocate, by proposal", colours, n + 1);
    ab_flame_figure_of_kinds(h, r->stacks->by_bytes, true,
                             "Flame graph: bytes asked for, by proposal", colours, n + 1);
}

/* ---- texts ---- */

static void put_text(struct ab_html *h, const char *title, const char *text)
{
    ab_html_f(h, "<h3>%s</h3>\n<pre data-copy=\"%s\">", title, title);
    ab_html_lines(h, text);
    ab_html_f(h, "</pre>\n");
}

void ab_advice_put_texts(struct ab_html *h, const void *user)
{
    const struct ab_advice_report *r = user;
    ab_html_f(h, "<p>Save the rules as a file to measure the placement again (allocbench replay "
                 "TRACE --map @FILE), and the code beside the program; its first comment says "
                 "which call becomes which.</p>\n");
    put_text(h, "Rules for replay --map", r->rules);
    if (r->code != NULL)
        put_text(h, "Code", r->code);
    else
        ab_html_f(h, "<p>Code: none, for no heap is advised.</p>\n");
}

/* ---- all ---- */

static const struct ab_frame_part parts[] = {
    {"advice", "Advice", ab_advice_put_answer},
    {"budget", "Budget", ab_advice_put_budget},
    {"heaps", "Into heaps", ab_advice_put_sites},
    {"malloc", "Stays in malloc", ab_advice_put_malloc},
    {"survivors", "Survivors", ab_advice_put_survivors},
    {"flame", "Flame graphs", ab_advice_put_flames},
    {"code", "Rules and code", ab_advice_put_texts},
};

bool ab_advice_report_write(FILE *to, const struct ab_advice_report *report)
{
    struct ab_html h = {.to = to};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    bool ok = ab_frame_document(
        &h, ab_advice_text(report->document, "trace"),
        "Which allocations belong in an arena, a pool or a slab, and what it gains.", parts,
        AB_ARRAY_LEN(parts), report);
    ab_format_end(&guard);
    return ok;
}
