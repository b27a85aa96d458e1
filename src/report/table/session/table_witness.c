/* SPDX-License-Identifier: MIT
 *
 * A row for each back end but the base, and one below it for the replay with a buffer.
 */
#include "report/table/session/table_witness.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "report/view/program/program.h"
#include "stats/aggregate.h"

#include <math.h>

enum { REPLAY, PROGRAM, WORD, COLUMNS };

/* How far predictions are off where the program shows a difference: without a buffer for the
 * program's own data and with the one that was fitted. */
struct fit {
    double bare, with_data; /* sums of |predicted - measured|, ns a call */
    uint32_t n;
    bool has_data; /* a buffer was tried */
};

static void format_difference(const struct ab_effect *e, char cell[AB_CELL_BYTES])
{
    if (!isfinite(e->ratio))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (!isfinite(e->low) || !isfinite(e->high))
        snprintf(cell, AB_CELL_BYTES, "%+.1f", e->ratio);
    else
        snprintf(cell, AB_CELL_BYTES, "%+.1f [%+.1f, %+.1f]", e->ratio, e->low, e->high);
}

/* A row of its own below the allocator's: "with 128 KiB". None where no buffer suits best. */
static void add_with_data(const struct ab_program_witness *x, struct ab_table *t)
{
    char label[AB_CELL_BYTES + 16];
    if (!(x->data_bytes > 0))
        return;
    snprintf(label, sizeof label, "    with %s", AB_BYTES(x->data_bytes));
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    format_difference(&x->with_data, row->cells[REPLAY]);
    snprintf(row->cells[WORD], AB_CELL_BYTES, "%s",
             ab_program_witness_word(&x->with_data, &x->measured));
}

static void add_fit(const struct ab_program_witness *x, struct fit *fit)
{
    const struct ab_effect *m = &x->measured;
    fit->has_data = fit->has_data || isfinite(x->data_bytes);
    if (!(m->low > 0 || m->high < 0) || !isfinite(x->predicted.ratio) ||
        !isfinite(x->with_data.ratio))
        return;
    fit->bare += fabs(x->predicted.ratio - m->ratio);
    fit->with_data += fabs(x->with_data.ratio - m->ratio);
    fit->n++;
}

static void add_witness(const struct ab_view *v, uint32_t backend, struct fit *fit,
                        struct ab_table *t)
{
    struct ab_program_witness x;
    struct ab_table_row *row = ab_table_add_backend(t, &v->session->backends[backend]);
    if (row == NULL || !ab_program_witness_of(v->session, backend, v->ranking.base, &x))
        return;
    format_difference(&x.predicted, row->cells[REPLAY]);
    format_difference(&x.measured, row->cells[PROGRAM]);
    snprintf(row->cells[WORD], AB_CELL_BYTES, "%s",
             ab_program_witness_word(&x.predicted, &x.measured));
    add_with_data(&x, t);
    add_fit(&x, fit);
}

static void print_fit(FILE *to, struct ab_table_style style, const struct fit *fit)
{
    struct ab_text text = {0};
    ab_text_add(&text,
                "Rows \"with\": the replay also reads a buffer of this size between the calls, "
                "as the program reads data of its own (replay --cache); the size is the one with "
                "which the other allocators differ from the base as they do in the program.");
    if (fit->n > 0)
        ab_text_addf(&text,
                     " Where a difference was measured, predictions are off by %.1f ns a call "
                     "without it and by %.1f with it, on average: it %s here.",
                     fit->bare / fit->n, fit->with_data / fit->n,
                     fit->with_data < fit->bare ? "helps" : "does not help");
    if (text.s != NULL)
        ab_table_prose(to, style, AB_FAINT, text.s);
    ab_text_fini(&text);
}

void ab_table_witness(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    static const struct ab_table_column columns[COLUMNS] = {[REPLAY] = {"replay, ns/call", 0},
                                                            [PROGRAM] = {"program, ns/call", 0},
                                                            [WORD] = {"prediction", 0}};
    const struct ab_session *s = v->session;
    struct fit fit = {.n = 0};
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
            add_witness(v, v->ranking.rows[i].backend, &fit, &t);
    fputc('\n', to);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    ab_table_prose(
        to, style, AB_FAINT,
        "How much more (+) or less (-) a call costs than with the base: as the replay of "
        "the trace predicts it, and as the program has it, its CPU time by the calls in "
        "the trace; last column: whether the two agree. Not "
        "measurable: the interval of the measured difference contains 0.");
    if (fit.has_data)
        print_fit(to, style, &fit);
}
