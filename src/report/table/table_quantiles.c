/* SPDX-License-Identifier: MIT
 *
 * How far the number of samples carries: an interval that is wide here is narrowed by more samples,
 * one that is narrow while rounds differ is not. One round, because the samples of several are not
 * of one kind.
 */
#include "report/table/table_quantiles.h"

#include "base/bits.h"
#include "report/table/table.h"
#include "stats/aggregate.h"
#include "stats/quantile_interval.h"

#include <math.h>
#include <string.h>

static const double quantiles[] = {0.5, 0.99, 0.999};
static const struct ab_table_column columns[] = {{"p50", 2}, {"p99", 0}, {"p99.9", 1}};

static void fill(const struct ab_session *s, const struct ab_result *r, struct ab_table_row *row)
{
    for (size_t q = 0; q < AB_ARRAY_LEN(quantiles); q++) {
        char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES];
        double ns = r != NULL ? ab_result_quantile(r->hdr, quantiles[q]) : NAN;
        double floor_ns = s->timer.floor_ns;
        snprintf(row->cells[q], AB_CELL_BYTES, "-");
        if (!isfinite(ns))
            continue;
        struct ab_quantile_interval i = ab_quantile_interval(r->hdr, quantiles[q]);
        snprintf(row->cells[q], AB_CELL_BYTES, "%.16s [%.16s, %.16s]",
                 ab_format_ns(value, ns, floor_ns), ab_format_ns(low, i.low, floor_ns),
                 ab_format_ns(high, i.high, floor_ns));
    }
}

static void print_phase(FILE *to, const struct ab_session *s, const char *phase,
                        struct ab_table_style style)
{
    struct ab_table t;
    char title[256];
    snprintf(title, sizeof title, "%s: percentiles of the first round, 90 %% intervals (by rank)",
             phase);
    ab_table_line(to, style, AB_STRONG, title);
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(s, phase, op))
            continue;
        ab_table_add(&t, ab_result_op_name(op), true);
        for (uint32_t b = 0; b < s->n_backends; b++) {
            struct ab_table_row *row = ab_session_has_numbers(s, b)
                                           ? ab_table_add_backend(&t, &s->backends[b])
                                           : NULL;
            if (row != NULL)
                fill(s, ab_session_find(s, b, phase, op, s->rounds[0].index), row);
        }
    }
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    fputc('\n', to);
}

void ab_table_quantiles(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    for (uint32_t i = 0; i < session->n_phases && session->n_rounds > 0; i++)
        print_phase(to, session, session->phases[i], style);
}
