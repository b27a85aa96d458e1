/* SPDX-License-Identifier: MIT
 *
 * A section for each metric but the wall time, which the ranking has; rows in its order. Values are
 * medians of the rounds. A factor is the ratio of the two medians that are shown, its interval that
 * of the pairs of rounds, so that drift of the machine cancels.
 */
#include "report/table/table_program.h"

#include "base/bits.h"
#include "core/units_show.h"
#include "report/view/program.h"
#include "report/view/words.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *field, *title;
    bool is_detail; /* with --verbose only */
} metrics[] = {
    {"cpu_ns", "CPU time", false},
    {"user_ns", "user CPU time", true},
    {"system_ns", "system CPU time", true},
    {"resident_peak_bytes", "peak memory", false},
    {"resident_mean_bytes", "mean memory", false},
    {"faults_minor", "minor page faults", false},
    {"faults_major", "major page faults", true},
    {"switches_voluntary", "voluntary context switches", true},
    {"switches_involuntary", "involuntary context switches", true},
    {"run_delay_ns", "waits for a CPU", true},
};

enum { MEDIAN, VERSUS };

static void format_value(const struct ab_field *f, double x, char cell[AB_CELL_BYTES])
{
    if (!isfinite(x))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (strcmp(f->unit, "ns") == 0)
        ab_units_time(cell, AB_CELL_BYTES, x);
    else if (strcmp(f->unit, "bytes") == 0)
        ab_units_bytes(cell, AB_CELL_BYTES, x);
    else
        ab_units_count(cell, AB_CELL_BYTES, x);
}

static void format_factor(const struct ab_program_value *value, char cell[AB_CELL_BYTES],
                          struct ab_legend *legend)
{
    char words[AB_CELL_BYTES], interval[AB_CELL_BYTES];
    bool is_clear = ab_effect_is_clear(&value->ratio);
    ab_view_change_words(words, sizeof words, value->ratio.ratio);
    ab_view_change_interval(interval, sizeof interval, &value->ratio);
    if (!isfinite(value->ratio.ratio)) {
        snprintf(cell, AB_CELL_BYTES, "-");
        return;
    }
    snprintf(cell, AB_CELL_BYTES, "%s%.30s%s%.30s", is_clear ? "" : "~", words,
             interval[0] == '[' ? " "
             : interval[0] != 0 ? ", "
                                : "",
             interval);
    legend->has_unclear = legend->has_unclear || !is_clear;
    legend->has_interval = legend->has_interval || interval[0] == '[';
}

static void add_backend(const struct ab_view *v, const struct ab_view_rank *rank,
                        const struct ab_field *field, struct ab_table *t, struct ab_legend *legend)
{
    const struct ab_session *s = v->session;
    struct ab_table_row *row = ab_table_add_backend(t, &s->backends[rank->backend]);
    struct ab_program_value value;
    if (row == NULL)
        return;
    ab_program_value_of(s, rank->backend, v->ranking.base, field, &value);
    format_value(field, value.median, row->cells[MEDIAN]);
    if (rank->is_base)
        snprintf(row->cells[VERSUS], AB_CELL_BYTES, "base");
    else
        format_factor(&value, row->cells[VERSUS], legend);
    if (ab_effect_is_clear(&value.ratio) && field->better != AB_FIELD_NEITHER)
        row->emphasis = value.ratio.ratio < 1 ? AB_GOOD : AB_BAD;
}

static bool is_known(const struct ab_view *v, const struct ab_field *field)
{
    struct ab_program_value value;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        ab_program_value_of(v->session, v->ranking.rows[i].backend, v->ranking.base, field, &value);
        if (isfinite(value.median))
            return true;
    }
    return false;
}

static void add_section(const struct ab_view *v, const char *title, const struct ab_field *field,
                        struct ab_table *t, struct ab_legend *legend)
{
    ab_table_add(t, title, true);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        if (v->ranking.rows[i].standing != AB_VIEW_FAILED)
            add_backend(v, &v->ranking.rows[i], field, t, legend);
}

void ab_table_program(FILE *to, const struct ab_view *v, struct ab_table_style style,
                      struct ab_legend *legend)
{
    char versus[AB_CELL_BYTES * 4 + 8] = "", base[AB_CELL_BYTES * 4];
    if (v->ranking.base != UINT32_MAX)
        snprintf(versus, sizeof versus, "vs %s",
                 ab_format_label(base, sizeof base, v->session->backends[v->ranking.base].name, 20,
                                 style.utf8));
    const struct ab_table_column columns[] = {[MEDIAN] = {"median", 0}, [VERSUS] = {versus, 0}};
    struct ab_text unknown = {0};
    struct ab_table t;
    ab_table_init(&t, columns, v->ranking.base == UINT32_MAX || v->ranking.n_ranked < 2 ? 1 : 2);
    for (size_t i = 0; i < AB_ARRAY_LEN(metrics); i++) {
        const struct ab_field *field = ab_program_field(metrics[i].field);
        if (field == NULL || (metrics[i].is_detail && !style.is_verbose))
            continue;
        if (is_known(v, field))
            add_section(v, metrics[i].title, field, &t, legend);
        else
            ab_text_addf(&unknown, "%s%s%s", unknown.n > 0 ? ", " : "not known: ", metrics[i].title,
                         strcmp(metrics[i].field, "resident_mean_bytes") == 0
                             ? " (the program is too short to be sampled)"
                             : "");
    }
    fputc('\n', to);
    ab_table_print(to, &t, style);
    if (unknown.s != NULL)
        ab_table_prose(to, style, AB_FAINT, unknown.s);
    ab_text_fini(&unknown);
    ab_table_fini(&t);
}
