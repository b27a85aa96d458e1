/* SPDX-License-Identifier: MIT
 *
 * Of each op two tables over the powers of two: p50/p99 with the share of the calls, and p99.9/max.
 * Columns that do not fit follow below, under the same rows.
 */
#include "report/table/table_sizes.h"

#include "core/text.h"
#include "report/table/table.h"
#include "stats/aggregate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = AB_TABLE_COLUMNS_MAX - 1, NAME = 14 }; /* back ends of one table */

struct sizes {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    struct ab_hdr *hdr;
    const char *phase;
    unsigned op;
    uint64_t n[AB_SIZE_CLASS_COUNT]; /* timed calls of all back ends */
    uint64_t total;
    bool has_dash, has_overflow;
};

/* What overflowed is in no counter, and was a call. */
static uint64_t n_calls(const struct ab_hdr *hdr)
{
    return ab_hdr_total(hdr) + hdr->overflow;
}

/* Over all rounds, into hdr. */
static bool merge(const struct sizes *x, uint32_t backend, unsigned log2)
{
    bool found = false;
    ab_hdr_init(x->hdr);
    for (uint32_t i = 0; i < x->s->n_size_classes; i++) {
        const struct ab_size_class *c = &x->s->size_classes[i];
        if (c->backend != backend || c->op != x->op || c->log2 != log2 ||
            strcmp(c->phase, x->phase) != 0)
            continue;
        ab_hdr_merge(x->hdr, c->hdr);
        found = true;
    }
    return found && n_calls(x->hdr) > 0;
}

static void fill_cell(struct sizes *x, uint32_t backend, unsigned log2, bool is_tail,
                      char cell[AB_CELL_BYTES])
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    double floor_ns = x->s->timer.floor_ns;
    if (!merge(x, backend, log2))
        return;
    double a = ab_result_quantile(x->hdr, is_tail ? 0.999 : 0.5);
    double max = x->hdr->overflow > 0 ? NAN : (double)x->hdr->max;
    double b = is_tail ? max : ab_result_quantile(x->hdr, 0.99);
    x->has_overflow = x->has_overflow || x->hdr->overflow > 0;
    x->has_dash = x->has_dash || (x->hdr->overflow == 0 && !(isfinite(a) && isfinite(b)));
    snprintf(cell, AB_CELL_BYTES, "%.28s/%.28s", ab_format_ns(low, a, floor_ns),
             ab_format_ns(high, b, floor_ns));
}

/* ---- tables ---- */

/* The back ends with such calls, from *next on; how many. */
static unsigned choose(const struct sizes *x, uint32_t *next, uint32_t list[MOST])
{
    unsigned n = 0;
    for (; *next < x->s->n_backends && n < MOST; (*next)++) {
        bool has_calls = false;
        for (uint32_t i = 0; i < x->s->n_size_classes; i++) {
            const struct ab_size_class *c = &x->s->size_classes[i];
            has_calls = has_calls ||
                        (c->backend == *next && c->op == x->op && strcmp(c->phase, x->phase) == 0);
        }
        if (has_calls && ab_session_has_numbers(x->s, *next))
            list[n++] = *next;
    }
    return n;
}

static void print_part(struct sizes *x, const uint32_t *list, unsigned n, bool is_tail)
{
    struct ab_table_column columns[MOST + 1];
    char titles[MOST][NAME * 4 + 4], heading[64], label[AB_CELL_BYTES];
    struct ab_table t;
    columns[0] = (struct ab_table_column){"calls", 0};
    for (unsigned i = 0; i < n; i++) {
        ab_format_name(titles[i], sizeof titles[i], x->s->backends[list[i]].name, NAME,
                       x->style.utf8);
        columns[i + 1] = (struct ab_table_column){titles[i], 0};
    }
    ab_table_init(&t, columns, n + 1);
    snprintf(heading, sizeof heading, "%s, %s, ns", ab_result_op_name(x->op),
             is_tail ? "p99.9/max" : "p50/p99");
    ab_table_add(&t, heading, true);
    for (unsigned log2 = 0; log2 < AB_SIZE_CLASS_COUNT; log2++) {
        if (x->n[log2] == 0)
            continue;
        ab_format_size_class(label, log2);
        struct ab_table_row *row = ab_table_add(&t, label, false);
        if (row != NULL)
            snprintf(row->cells[0], AB_CELL_BYTES, "%.1f %%",
                     100 * (double)x->n[log2] / (double)x->total);
        for (unsigned i = 0; row != NULL && i < n; i++)
            fill_cell(x, list[i], log2, is_tail, row->cells[i + 1]);
    }
    ab_table_print_stacked(x->to, &t, x->style);
    ab_table_fini(&t);
}

static void count(struct sizes *x)
{
    memset(x->n, 0, sizeof x->n);
    x->total = 0;
    for (uint32_t i = 0; i < x->s->n_size_classes; i++) {
        const struct ab_size_class *c = &x->s->size_classes[i];
        if (c->op != x->op || c->log2 >= AB_SIZE_CLASS_COUNT || strcmp(c->phase, x->phase) != 0 ||
            !ab_session_has_numbers(x->s, c->backend))
            continue;
        x->n[c->log2] += n_calls(c->hdr);
        x->total += n_calls(c->hdr);
    }
}

bool ab_table_sizes(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style, struct ab_hdr *scratch)
{
    struct sizes x = {.to = to, .s = s, .style = style, .hdr = scratch, .phase = phase};
    char title[256];
    bool is_any = false;
    for (x.op = 0; x.op < AB_OP_KIND_COUNT; x.op++) {
        uint32_t list[MOST], next = 0;
        count(&x);
        if (x.total == 0)
            continue;
        snprintf(title, sizeof title, "%s: latency by size of the request", phase);
        if (!is_any)
            ab_table_line(to, style, AB_STRONG, title);
        is_any = true;
        for (unsigned n; (n = choose(&x, &next, list)) > 0;) {
            print_part(&x, list, n, false);
            print_part(&x, list, n, true);
        }
    }
    if (x.has_dash)
        ab_table_prose(
            to, style, AB_FAINT,
            "-: too few calls of this size; a percentile needs at least 10 slower calls.");
    if (x.has_overflow)
        ab_table_prose(to, style, AB_FAINT,
                       "-: calls of more than a minute, which are in no counter.");
    return is_any;
}
