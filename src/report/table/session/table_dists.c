/* SPDX-License-Identifier: MIT
 *
 * Percentiles of the ratios to the live bytes, from the merged histograms of all rounds: two tables
 * of two kinds each, as wide as a terminal of 80 columns.
 */
#include "report/table/session/table_dists.h"

#include "base/bits.h"
#include "stats/metric/metric_dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 2, COLUMNS = KINDS * AB_DIST_STATS };

static const enum ab_memory_dist_kind halves[][KINDS] = {
    {AB_DIST_EXTERNAL_RATIO, AB_DIST_RETAINED_RATIO},
    {AB_DIST_INTERNAL_RATIO, AB_DIST_OVERHEAD},
};
static const char *const titles[][KINDS] = {{"external p50", "retained p50"},
                                            {"internal p50", "overhead p50"}};

static void format_percent(char cell[AB_CELL_BYTES], double ratio)
{
    char times[AB_CELL_BYTES];
    double percent = ratio * 100;
    if (percent < 999.95)
        snprintf(cell, AB_CELL_BYTES, "%.*f", percent < 9.995 ? 2 : 1, percent);
    else /* a multiple reads better than 25,700 % */
        snprintf(cell, AB_CELL_BYTES, "%.60sx", ab_format_ratio(times, ratio));
}

static void fill(const struct ab_memory_dist *d, char (*cells)[AB_CELL_BYTES],
                 struct ab_footnotes *notes, bool utf8)
{
    for (unsigned i = 0; i < AB_DIST_STATS; i++) {
        char why[AB_FOOTNOTE_BYTES];
        double value = ab_memory_dist_value(d, i);
        ab_memory_dist_why(d, i, why, sizeof why);
        if (isfinite(value))
            format_percent(cells[i], value);
        else
            ab_footnotes_dash(notes, cells[i], why, utf8);
    }
}

/* A row of each back end that this phase was measured of. */
static bool print_half(FILE *to, const struct ab_session *s, const char *phase, unsigned half,
                       struct ab_table_style style, struct ab_footnotes *notes)
{
    struct ab_table_column columns[COLUMNS];
    struct ab_table t;
    bool is_any = false;
    for (unsigned i = 0; i < COLUMNS; i++)
        columns[i] = (struct ab_table_column){i % AB_DIST_STATS == 0
                                                  ? titles[half][i / AB_DIST_STATS]
                                                  : ab_dist_stat_names[i % AB_DIST_STATS],
                                              0};
    ab_table_init(&t, columns, COLUMNS);
    ab_table_add(&t, phase, true);
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_memory_dist d[KINDS];
        if (!ab_session_has_numbers(s, b) ||
            !ab_session_merge_dist(s, b, phase, halves[half][0], AB_DIST_ALL_ROUNDS, &d[0]))
            continue;
        ab_session_merge_dist(s, b, phase, halves[half][1], AB_DIST_ALL_ROUNDS, &d[1]);
        struct ab_table_row *row = ab_table_add_backend(&t, &s->backends[b]);
        for (unsigned k = 0; k < KINDS; k++) {
            if (row != NULL)
                fill(&d[k], row->cells + k * AB_DIST_STATS, notes, style.utf8);
            free(d[k].hdr);
        }
        is_any = true;
    }
    if (is_any)
        ab_table_print_stacked(to, &t, style);
    ab_table_fini(&t);
    return is_any;
}

bool ab_table_dists(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style, struct ab_footnotes *notes)
{
    char title[256];
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_dists; i++)
        is_any |= strcmp(s->dists[i].phase, phase) == 0 &&
                  ab_session_has_numbers(s, s->dists[i].backend);
    if (!is_any)
        return false;
    snprintf(title, sizeof title, "memory over the ops / %.200s, in %% of live", phase);
    ab_table_line(to, style, AB_STRONG, title);
    for (unsigned half = 0; half < AB_ARRAY_LEN(halves); half++)
        print_half(to, s, phase, half, style, notes);
    return true;
}
