/* SPDX-License-Identifier: MIT
 *
 * Reads what a trace looks like, with its bounds: no list is longer than what is made of it, and
 * every class and thread is one that there can be.
 */
#include "report/read/read_overview.h"

#include "base/bits.h"

#include <stdlib.h>

static uint64_t count(struct ab_stored_reader *r, const struct ab_json_node *o, const char *key)
{
    return ab_json_whole(&r->json, o, key, INT64_MAX, UINT64_MAX);
}

/* Numbers of a list into out[0..n); n is how many there have to be. */
static void read_counts(struct ab_stored_reader *r, const struct ab_json_node *o, const char *key,
                        uint32_t n, uint64_t *out, size_t stride)
{
    struct ab_json_node list = ab_json_array(&r->json, o, key);
    if (ab_json_count(&r->json, &list, n) != n)
        ab_json_fail(&r->json, &list, "must have %u numbers", n);
    for (uint32_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        if (!json_is_integer(item.json) || json_integer_value(item.json) < 0)
            ab_json_fail(&r->json, &item, "must be a count");
        else
            out[i * stride] = (uint64_t)json_integer_value(item.json);
    }
}

/* A power of two below 2^AB_OVERVIEW_CLASSES. */
static unsigned read_class(struct ab_stored_reader *r, const struct ab_json_node *o,
                           const char *key, uint64_t unknown)
{
    struct ab_json_node at = {.parent = o, .key = key};
    uint64_t le = ab_json_whole(&r->json, o, key, INT64_MAX, unknown);
    if (le == UINT64_MAX && unknown == UINT64_MAX)
        return AB_OVERVIEW_CLASSES;
    if (!ab_is_pow2(le) || ab_log2(le) >= AB_OVERVIEW_CLASSES)
        ab_json_fail(&r->json, &at, "must be a power of two up to 2^%d", AB_OVERVIEW_CLASSES - 1);
    return r->json.status == AB_OK ? ab_log2(le) : 0;
}

static void read_blocks(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_overview *out)
{
    struct ab_json_node list = ab_json_array(&r->json, o, "blocks");
    size_t n = ab_json_count(&r->json, &list, AB_OVERVIEW_CLASSES * (AB_OVERVIEW_CLASSES + 1));
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node cell = ab_json_item_object(&r->json, &list, i);
        unsigned size = read_class(r, &cell, "le_bytes", 0);
        unsigned life = read_class(r, &cell, "le_calls", UINT64_MAX);
        if (r->json.status != AB_OK)
            return;
        if (out->blocks[size][life] != 0)
            ab_json_fail(&r->json, &cell, "is of a class that was there before");
        out->blocks[size][life] = count(r, &cell, "n");
    }
}

static void read_live(struct ab_stored_reader *r, const struct ab_json_node *o,
                      struct ab_overview *out)
{
    struct ab_json_node live = ab_json_object(&r->json, o, "live");
    struct ab_json_node low = ab_json_array(&r->json, &live, "low");
    out->n_steps = (uint32_t)ab_json_count(&r->json, &low, AB_OVERVIEW_STEPS);
    out->step_calls = count(r, &live, "step_calls");
    read_counts(r, &live, "low", out->n_steps, &out->live[0].low, 2);
    read_counts(r, &live, "high", out->n_steps, &out->live[0].high, 2);
}

static void read_threads(struct ab_stored_reader *r, const struct ab_json_node *o,
                         struct ab_overview *out)
{
    struct ab_json_node list = ab_json_array(&r->json, o, "threads");
    out->n_threads = (uint32_t)ab_json_whole(&r->json, o, "n_threads", UINT32_MAX, 0);
    out->n_rows = (uint32_t)ab_json_count(&r->json, &list, AB_OVERVIEW_THREADS);
    for (uint32_t i = 0; i < out->n_rows && r->json.status == AB_OK; i++) {
        struct ab_json_node row = ab_json_item_object(&r->json, &list, i);
        uint32_t thread = (uint32_t)ab_json_whole(&r->json, &row, "thread", INT32_MAX, UINT32_MAX);
        out->thread[i] = (int32_t)thread;
        if (thread == UINT32_MAX && i + 1 < out->n_rows)
            ab_json_fail(&r->json, &row, "has no thread, and is not the last");
        read_counts(r, &row, "freed_by", out->n_rows, out->freed[i], 1);
        out->freed[i][out->n_rows] = count(r, &row, "never_freed");
    }
}

struct ab_overview *ab_stored_overview(struct ab_stored_reader *r,
                                       const struct ab_json_node *document)
{
    static const char key[] = "trace_overview";
    if (!ab_json_has(&r->json, document, key) || json_is_null(json_object_get(document->json, key)))
        return NULL;
    struct ab_json_node o = ab_json_object(&r->json, document, key);
    struct ab_overview *out = ab_stored_records(r, 1, sizeof *out);
    if (out == NULL)
        return NULL;
    out->n_calls = count(r, &o, "n_calls");
    read_blocks(r, &o, out);
    read_live(r, &o, out);
    read_threads(r, &o, out);
    return out;
}

/* ---- windows ---- */

/* The number at *text, at most UINT32_MAX; *text moves past it. false: there is none. */
static bool take_number(const char **text, uint32_t *out)
{
    uint64_t n = 0;
    const char *p = *text;
    for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    if (p == *text || n > UINT32_MAX)
        return false;
    *text = p;
    *out = (uint32_t)n;
    return true;
}

static bool parse_counts(const char *text, struct ab_window *window, uint64_t *sum)
{
    uint32_t bin;
    if (!take_number(&text, &bin) || *text++ != ':')
        return false;
    for (;; text++) {
        if (bin >= AB_WINDOW_BINS || !take_number(&text, &window->counts[bin]))
            return false;
        *sum += window->counts[bin++];
        if (*text != ',')
            return *text == 0;
    }
}

void ab_stored_window_counts(struct ab_stored_reader *r, const struct ab_json_node *o,
                             struct ab_window *window)
{
    struct ab_json_node at = {.parent = o, .key = "counts"};
    uint64_t sum = 0;
    if (!ab_json_has(&r->json, o, "counts"))
        return;
    const char *text = ab_json_text(&r->json, o, "counts");
    if (text[0] == 0)
        return;
    if (!parse_counts(text, window, &sum))
        ab_json_fail(&r->json, &at, "must be BIN:COUNT,COUNT,… of at most %d bins", AB_WINDOW_BINS);
    else if (sum != window->n && !r->session->is_histogram_merged)
        ab_json_fail(&r->json, &at, "add up to %llu, but n is %llu", (unsigned long long)sum,
                     (unsigned long long)window->n);
}
