/* SPDX-License-Identifier: MIT
 *
 * A row for each back end but the base.
 */
#include "report/table/table_witness.h"

#include "report/table/table.h"
#include "report/view/program.h"
#include "stats/aggregate.h"

#include <math.h>

enum { REPLAY, PROGRAM, WORD, COLUMNS };

static void format_difference(const struct ab_effect *e, char cell[AB_CELL_BYTES])
{
    if (!isfinite(e->ratio))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (!isfinite(e->low) || !isfinite(e->high))
        snprintf(cell, AB_CELL_BYTES, "%+.1f", e->ratio);
    else
        snprintf(cell, AB_CELL_BYTES, "%+.1f [%+.1f, %+.1f]", e->ratio, e->low, e->high);
}

static void add_witness(const struct ab_view *v, uint32_t backend, struct ab_table *t)
{
    struct ab_program_witness x;
    struct ab_table_row *row = ab_table_add_backend(t, &v->session->backends[backend]);
    ab_program_witness_of(v->session, backend, v->ranking.base, &x);
    format_difference(&x.predicted, row->cells[REPLAY]);
    format_difference(&x.measured, row->cells[PROGRAM]);
    snprintf(row->cells[WORD], AB_CELL_BYTES, "%s",
             ab_program_witness_word(&x.predicted, &x.measured));
}

void ab_table_witness(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    static const struct ab_table_column columns[COLUMNS] = {[REPLAY] = {"replay, ns/call", 0},
                                                            [PROGRAM] = {"program, ns/call", 0},
                                                            [WORD] = {"prediction", 0}};
    const struct ab_session *s = v->session;
    char title[200], base[100];
    struct ab_table t;
    if (v->ranking.base == UINT32_MAX || !ab_program_has_prediction(s))
        return;
    snprintf(title, sizeof title, "vs %s",
             ab_format_label(base, sizeof base, s->backends[v->ranking.base].name, 20, style.utf8));
    ab_table_init(&t, columns, COLUMNS);
    ab_table_add(&t, title, true);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        if (!v->ranking.rows[i].is_base && v->ranking.rows[i].standing != AB_VIEW_FAILED)
            add_witness(v, v->ranking.rows[i].backend, &t);
    fputc('\n', to);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    ab_table_prose(
        to, style, AB_FAINT,
        "How much more (+) or less (-) a call costs than with the base: as the replay of "
        "the trace predicts it, and as the program has it, its CPU time by the calls in "
        "the trace; last column: whether the two agree. Not "
        "measurable: the interval of the measured difference contains 0.");
}
