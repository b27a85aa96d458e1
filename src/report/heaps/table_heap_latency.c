/* SPDX-License-Identifier: MIT
 *
 * Rows of one op in one heap: how many were timed, and their percentiles as far as so many carry.
 */
#include "report/heaps/table_heap_latency.h"

#include "report/heaps/heaps_view.h"
#include "report/table/table.h"

#include <math.h>

enum { SAMPLES, P50, P90, P99, P999, MOST, COLUMNS };

static void fill(const struct ab_session *s, const struct ab_hdr *hdr, struct ab_table_row *row)
{
    const double floor_ns = s->timer.floor_ns;
    ab_format_count(row->cells[SAMPLES], (double)ab_hdr_total(hdr));
    ab_format_ns(row->cells[P50], ab_result_quantile(hdr, 0.5), floor_ns);
    ab_format_ns(row->cells[P90], ab_result_quantile(hdr, 0.9), floor_ns);
    ab_format_ns(row->cells[P99], ab_result_quantile(hdr, 0.99), floor_ns);
    ab_format_ns(row->cells[P999], ab_result_quantile(hdr, 0.999), floor_ns);
    ab_format_ns(row->cells[MOST], ab_hdr_total(hdr) > 0 ? (double)hdr->max : (double)NAN,
                 floor_ns);
}

void ab_table_heap_latency(FILE *to, const struct ab_session *s, uint32_t backend,
                           const char *phase, struct ab_table_style style, struct ab_hdr *scratch)
{
    static const struct ab_table_column columns[COLUMNS] = {
        [SAMPLES] = {"timed", 0}, [P50] = {"p50", 0},    [P90] = {"p90", 2},
        [P99] = {"p99", 0},       [P999] = {"p99.9", 1}, [MOST] = {"max", 1},
    };
    const struct ab_backend_info *b = &s->backends[backend];
    char label[AB_TABLE_LABEL_BYTES], name[AB_TABLE_LABEL_BYTES / 2];
    struct ab_table t;
    bool is_any = false;
    ab_table_init(&t, columns, COLUMNS);
    ab_format_name(name, sizeof name, b->name, 24, style.utf8);
    snprintf(label, sizeof label, "%s by heap and op, %.64s", name, phase);
    ab_table_add(&t, label, true);
    for (uint32_t h = 0; h < b->n_heaps; h++)
        for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
            ab_heaps_latency(s, backend, phase, h, op, scratch);
            if (ab_hdr_total(scratch) == 0)
                continue;
            ab_format_name(name, sizeof name, b->heaps[h].name, 24, style.utf8);
            snprintf(label, sizeof label, "%s %s", name, ab_result_op_name(op));
            struct ab_table_row *row = ab_table_add(&t, label, false);
            if (row != NULL)
                fill(s, scratch, row);
            is_any = true;
        }
    if (is_any) {
        fputc('\n', to);
        ab_table_print(to, &t, style);
    }
    ab_table_fini(&t);
}
