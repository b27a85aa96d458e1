/* SPDX-License-Identifier: MIT
 *
 * Writes the overview of a trace. Only what is not 0 of blocks by size and lifetime is listed.
 */
#include "report/sinks/json_overview.h"

#include <stdio.h>

static json_t *blocks(struct ab_json *w, const struct ab_overview *o)
{
    json_t *list = json_array();
    for (unsigned size = 0; size < AB_OVERVIEW_CLASSES; size++)
        for (unsigned life = 0; life <= AB_OVERVIEW_CLASSES; life++) {
            if (o->blocks[size][life] == 0)
                continue;
            json_t *cell = json_object();
            ab_json_put(w, cell, "le_bytes", ab_json_integer(UINT64_C(1) << size));
            ab_json_put(w, cell, "le_calls",
                        life < AB_OVERVIEW_CLASSES ? ab_json_integer(UINT64_C(1) << life)
                                                   : json_null());
            ab_json_put(w, cell, "n", ab_json_integer(o->blocks[size][life]));
            ab_json_append(w, list, cell);
        }
    return list;
}

static json_t *live(struct ab_json *w, const struct ab_overview *o)
{
    json_t *curve = json_object(), *low = json_array(), *high = json_array();
    for (uint32_t i = 0; i < o->n_steps; i++) {
        ab_json_append(w, low, ab_json_integer(o->live[i].low));
        ab_json_append(w, high, ab_json_integer(o->live[i].high));
    }
    ab_json_put(w, curve, "step_calls", ab_json_integer(o->step_calls));
    ab_json_put(w, curve, "low", low);
    ab_json_put(w, curve, "high", high);
    return curve;
}

static json_t *threads(struct ab_json *w, const struct ab_overview *o)
{
    json_t *list = json_array();
    for (uint32_t row = 0; row < o->n_rows; row++) {
        json_t *one = json_object(), *freed = json_array();
        for (uint32_t i = 0; i < o->n_rows; i++)
            ab_json_append(w, freed, ab_json_integer(o->freed[row][i]));
        ab_json_put(w, one, "thread",
                    o->thread[row] == AB_OVERVIEW_OTHERS ? json_null()
                                                         : json_integer(o->thread[row]));
        ab_json_put(w, one, "freed_by", freed);
        ab_json_put(w, one, "never_freed", ab_json_integer(o->freed[row][o->n_rows]));
        ab_json_append(w, list, one);
    }
    return list;
}

json_t *ab_json_overview(struct ab_json *w, const struct ab_overview *overview)
{
    if (overview == NULL)
        return json_null();
    json_t *o = json_object();
    ab_json_put(w, o, "n_calls", ab_json_integer(overview->n_calls));
    ab_json_put(w, o, "n_threads", ab_json_integer(overview->n_threads));
    ab_json_put(w, o, "blocks", blocks(w, overview));
    ab_json_put(w, o, "live", live(w, overview));
    ab_json_put(w, o, "threads", threads(w, overview));
    return o;
}

json_t *ab_json_window_counts(const struct ab_window *window)
{
    char text[AB_WINDOW_BINS * 11 + 16];
    unsigned first = 0, end = AB_WINDOW_BINS;
    while (end > 0 && window->counts[end - 1] == 0)
        end--;
    if (end == 0)
        return json_null();
    while (window->counts[first] == 0)
        first++;
    size_t n = (size_t)snprintf(text, sizeof text, "%u:", first);
    for (unsigned i = first; i < end; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", i > first ? "," : "",
                              window->counts[i]);
    return json_string(text);
}
