/* SPDX-License-Identifier: MIT
 *
 * One table for each mapped row and phase: what its heaps served, and how fast.
 */
#include "report/heaps/table_heaps.h"

#include "base/bits.h"
#include "core/units_show.h"
#include "report/heaps/heaps_view.h"
#include "report/heaps/table_heap_latency.h"
#include "report/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS, TIME, P50, P99, LIVE, HELD, BLOCKS, KEYS, COLUMNS };
enum { FEW_PHASES = 3, KEYS_WIDTH = 24 };

static void format_share(char cell[AB_CELL_BYTES], double share)
{
    if (isnan(share))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (share > 0 && share < 0.0005)
        snprintf(cell, AB_CELL_BYTES, "<0.1%%");
    else
        snprintf(cell, AB_CELL_BYTES, "%.1f%%", 100 * share);
}

static void format_bytes(char cell[AB_CELL_BYTES], double bytes)
{
    snprintf(cell, AB_CELL_BYTES, "-");
    if (isfinite(bytes))
        ab_units_bytes(cell, AB_CELL_BYTES, bytes);
}

static void fill(const struct ab_session *s, const struct ab_mapped_heap *heap,
                 const struct ab_heap_row *from, struct ab_table_row *row, bool utf8)
{
    format_share(row->cells[CALLS], from->call_share);
    format_share(row->cells[TIME], from->time_share);
    ab_format_ns(row->cells[P50], from->p50, s->timer.floor_ns);
    ab_format_ns(row->cells[P99], from->p99, s->timer.floor_ns);
    ab_units_bytes(row->cells[LIVE], AB_CELL_BYTES, (double)from->live_peak_bytes);
    format_bytes(row->cells[HELD], from->memory != NULL ? from->memory->footprint_bytes : NAN);
    ab_format_count(row->cells[BLOCKS], (double)from->live_peak_blocks);
    ab_format_name(row->cells[KEYS], AB_CELL_BYTES, heap->keys, KEYS_WIDTH, utf8);
}

static bool print_phase(FILE *to, const struct ab_session *s, uint32_t backend, const char *phase,
                        struct ab_table_style style, struct ab_hdr *scratch)
{
    static const struct ab_table_column columns[COLUMNS] = {
        [CALLS] = {"calls", 0},   [TIME] = {"time", 1},      [P50] = {"p50", 0},
        [P99] = {"p99", 0},       [LIVE] = {"live peak", 2}, [HELD] = {"held", 3},
        [BLOCKS] = {"blocks", 5}, [KEYS] = {"serves", 4},
    };
    const struct ab_backend_info *b = &s->backends[backend];
    struct ab_heap_row rows[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n = ab_heaps_view(s, backend, phase, scratch, rows);
    char title[AB_TABLE_LABEL_BYTES], name[AB_TABLE_LABEL_BYTES / 2];
    struct ab_table t;
    bool is_timed = false;
    if (n == 0)
        return false;
    fputc('\n', to);
    ab_table_init(&t, columns, COLUMNS);
    ab_format_name(name, sizeof name, b->name, 24, style.utf8);
    snprintf(title, sizeof title, "%s by heap, %.64s", name, phase);
    ab_table_add(&t, title, true);
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_mapped_heap *heap = &b->heaps[rows[i].heap];
        struct ab_table_row *row = ab_table_add(&t, heap->name, false);
        if (row != NULL)
            fill(s, heap, &rows[i], row, style.utf8);
        is_timed = is_timed || !isnan(rows[i].time_share);
    }
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    if (!is_timed)
        ab_table_prose(to, style, AB_FAINT,
                       "time is not known: too many of the calls take less than a step of the "
                       "clock.");
    return true;
}

static uint32_t count_mapped(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].n_heaps > 0 && ab_session_has_numbers(s, i);
    return n;
}

void ab_table_heaps(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    bool is_short = style.topics == 0, is_any = false;
    if (s->n_heap_parts == 0 || (!is_short && (style.topics & AB_TOPIC_TIME) == 0) ||
        (is_short && (count_mapped(s) != 1 || s->n_phases > FEW_PHASES)))
        return;
    struct ab_hdr *scratch = malloc(sizeof *scratch);
    for (uint32_t b = 0; b < s->n_backends && scratch != NULL; b++)
        for (uint32_t p = 0; p < s->n_phases && ab_session_has_numbers(s, b); p++)
            if ((style.phase == NULL || strcmp(style.phase, s->phases[p]) == 0) &&
                print_phase(to, s, b, s->phases[p], style, scratch)) {
                is_any = true;
                if (!is_short)
                    ab_table_heap_latency(to, s, b, s->phases[p], style, scratch);
            }
    if (is_any && !is_short)
        ab_table_prose(to, style, AB_FAINT,
                       "calls, time: shares of the row; serves: the rules of the heap; calls, live "
                       "peak: of the work, exact; time: of the timed calls, without the clock's "
                       "own; p50, p99: of all calls; held: resident, at the peak of the row; a "
                       "resize from heap to heap is the new one's.");
    if (is_any && !is_short)
        fputc('\n', to);
    free(scratch);
}
