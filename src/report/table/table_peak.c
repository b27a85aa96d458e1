/* SPDX-License-Identifier: MIT
 *
 * Cells of memory, and the table of the whole run.
 */
#include "report/table/table_peak.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"

#include <math.h>

enum { PARTS = AB_VIEW_MEMORY_PARTS };

struct ab_peak_scale ab_peak_scale_of(double most_bytes)
{
    static const struct ab_peak_scale units[] = {
        {0x1p40, 0, "TiB"}, {0x1p30, 0, "GiB"}, {0x1p20, 0, "MiB"}, {0x1p10, 0, "KiB"}};
    unsigned i = 0;
    while (i + 1 < AB_ARRAY_LEN(units) && !(most_bytes >= units[i].unit))
        i++;
    struct ab_peak_scale scale = units[i];
    scale.decimals = most_bytes / scale.unit < 100 ? 2 : 1;
    return scale;
}

double ab_peak_steps(const struct ab_peak_scale *scale, double bytes)
{
    return nearbyint(bytes / scale->unit * pow(10, scale->decimals));
}

static void format_steps(char cell[AB_CELL_BYTES], const struct ab_peak_scale *scale, double steps)
{
    snprintf(cell, AB_CELL_BYTES, "%.*f", scale->decimals, steps / pow(10, scale->decimals));
}

void ab_peak_format(char cell[AB_CELL_BYTES], const struct ab_peak_scale *scale, double bytes)
{
    format_steps(cell, scale, ab_peak_steps(scale, bytes));
}

void ab_peak_fill(const struct ab_view_memory_row *row, const struct ab_peak_scale *scale,
                  char (*cells)[AB_CELL_BYTES], struct ab_footnotes *notes, bool utf8)
{
    double sum = 0, printed = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        if (!isfinite(row->parts[i])) {
            ab_footnotes_dash(notes, cells[i], row->whys[i], utf8);
            continue;
        }
        sum += row->parts[i];
        format_steps(cells[i], scale, ab_peak_steps(scale, sum) - printed);
        printed = ab_peak_steps(scale, sum);
    }
    if (isfinite(row->peak_bytes))
        ab_peak_format(cells[PARTS], scale, row->peak_bytes);
    else
        ab_footnotes_dash(notes, cells[PARTS], row->why_peak, utf8);
}

static double most_of(const struct ab_view *v)
{
    double most = NAN;
    for (uint32_t i = 0; i < v->memory.n_rows; i++)
        most = fmax(most, v->memory.rows[i].peak_bytes); /* fmax passes over NaN */
    return most;
}

static void add_row(const struct ab_view *v, const struct ab_view_rank *rank,
                    const struct ab_peak_scale *scale, struct ab_table_style style,
                    struct ab_table *t, struct ab_legend *legend)
{
    char times[AB_CELL_BYTES], why[AB_FOOTNOTE_BYTES];
    const struct ab_view_memory_row *m = &v->memory.rows[rank->backend];
    struct ab_table_row *row = m->of != NULL
                                   ? ab_table_add_backend(t, &v->session->backends[rank->backend])
                                   : NULL;
    if (row == NULL)
        return;
    ab_peak_fill(m, scale, row->cells, &legend->notes, style.utf8);
    if (isfinite(rank->times_live))
        snprintf(row->cells[PARTS + 1], AB_CELL_BYTES, "%.40sx",
                 ab_format_ratio(times, rank->times_live));
    else
        ab_footnotes_dash(&legend->notes, row->cells[PARTS + 1],
                          !isfinite(rank->peak_bytes) ? m->why_peak
                          : m->live_peak_bytes == 0   ? "nothing was live"
                                                      : "the live bytes are not known",
                          style.utf8);
    if (v->ranking.has_drain && isfinite(rank->after_free_bytes))
        ab_peak_format(row->cells[PARTS + 2], scale, rank->after_free_bytes);
    else if (v->ranking.has_drain)
        ab_footnotes_dash(&legend->notes, row->cells[PARTS + 2],
                          ab_view_memory_why_drained(v->session, rank->backend, why, sizeof why),
                          style.utf8);
}

/* Where it comes to something within what was measured. */
static void print_growth(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    static const double share_worth_saying = 0.01;
    struct ab_text line = {0};
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        char name[AB_CELL_BYTES * 4], bytes[32];
        if (rank->growth_bytes * rank->growth_over_ops / 1e6 >
            share_worth_saying * rank->peak_bytes)
            ab_text_addf(&line, "%s%s %s",
                         line.s == NULL ? "growth at constant live bytes, per M ops: " : ", ",
                         ab_format_label(name, sizeof name, rank->name, 24, style.utf8),
                         ab_units_bytes(bytes, sizeof bytes, rank->growth_bytes));
    }
    if (line.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, line.s);
    ab_text_fini(&line);
}

void ab_table_peak(FILE *to, const struct ab_view *v, struct ab_table_style style,
                   struct ab_legend *legend)
{
    /* The multiple follows from other columns, what stays after a load from none. */
    static const struct ab_table_column columns[PARTS + 3] = {
        {"live", 2},   {"internal", 2}, {"external", 2},   {"retained", 2},
        {"= peak", 0}, {"x live", 3},   {"after free", 1},
    };
    struct ab_peak_scale scale = ab_peak_scale_of(most_of(v));
    struct ab_table t;
    char title[64];
    if (!v->memory.has_parts)
        return;
    ab_table_init(&t, columns, PARTS + 2 + v->ranking.has_drain);
    snprintf(title, sizeof title, "memory, %s", scale.name);
    ab_table_add(&t, title, true);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        add_row(v, &v->ranking.rows[i], &scale, style, &t, legend);
    fputc('\n', to);
    unsigned shown = ab_table_print(to, &t, style);
    ab_legend_see(legend, &t, shown, style.utf8);
    legend->has_live = (shown & 1) != 0;
    legend->has_multiple = (shown >> (PARTS + 1) & 1) != 0;
    legend->has_drain = v->ranking.has_drain && (shown >> (PARTS + 2) & 1) != 0;
    ab_table_fini(&t);
    print_growth(to, v, style);
}
