/* SPDX-License-Identifier: MIT
 *
 * Values of the document, and cells of tables.
 */
#include "report/html/advice/advice.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"

#include <math.h>
#include <string.h>

double ab_advice_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

const char *ab_advice_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

bool ab_advice_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

double ab_advice_unit_time(const json_t *document, double ns)
{
    return ns / ab_advice_number(document, "units");
}

/* As many as an advice has heaps; grey is what has several. */
enum ab_colour ab_advice_colour(size_t heap)
{
    static const enum ab_colour colours[] = {
        AB_COLOUR_S0,  AB_COLOUR_S1,       AB_COLOUR_S2,       AB_COLOUR_S3,       AB_COLOUR_S4,
        AB_COLOUR_S6,  AB_COLOUR_S9,       AB_COLOUR_S7,       AB_COLOUR_S8,       AB_COLOUR_S10,
        AB_COLOUR_S11, AB_COLOUR_INTERNAL, AB_COLOUR_EXTERNAL, AB_COLOUR_RETAINED, AB_COLOUR_GOOD,
    };
    return colours[heap % AB_ARRAY_LEN(colours)];
}

const char *ab_advice_place(const json_t *group, char *buf, size_t cap)
{
    const char *file = ab_advice_text(group, "file"), *function = ab_advice_text(group, "function"),
               *rule = ab_advice_text(group, "rule");
    double line = ab_advice_number(group, "line");
    if (file[0] != 0 && line > 0)
        snprintf(buf, cap, "%.128s:%.0f %.200s", file, line, function);
    else
        snprintf(buf, cap, "%.300s",
                 function[0] != 0 ? function
                 : rule[0] != 0   ? rule
                                  : "not known");
    return buf;
}

bool ab_advice_is_advised(const json_t *document, const char *heap)
{
    const json_t *h;
    size_t i;
    json_array_foreach(json_object_get(document, "heaps"), i,
                       h) if (strcmp(ab_advice_text(h, "name"), heap) ==
                              0) return ab_advice_flag(h, "advised");
    return false;
}

static void put_cell(struct ab_html *h, double value, const char *text)
{
    if (isnan(value))
        ab_html_f(h, "<td class=\"n\" data-v=\"-1\">n/a</td>");
    else
        ab_html_f(h, "<td class=\"n\" data-v=\"%.3f\">%s</td>", value, text);
}

void ab_advice_put_time(struct ab_html *h, double ns)
{
    put_cell(h, ns, AB_TIME(ns));
}

void ab_advice_put_bytes(struct ab_html *h, double bytes)
{
    put_cell(h, bytes, AB_BYTES(bytes));
}

void ab_advice_put_count(struct ab_html *h, double n)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f", n);
    put_cell(h, n, text);
}

void ab_advice_put_share(struct ab_html *h, double share)
{
    char text[32];
    snprintf(text, sizeof text, share > 0 && share < 0.0005 ? "<0.1 %%" : "%.1f %%", 100 * share);
    put_cell(h, share, text);
}
