/* SPDX-License-Identifier: MIT
 *
 * One table for each phase, with how it was counted below, and why something was not.
 */
#include "report/counts/table_counts.h"

#include "base/bits.h"
#include "core/text.h"
#include "report/table/table.h"
#include "report/view/words/harness_name.h"
#include "result/result_fields.h"
#include "stats/metric.h"

#include <math.h>
#include <string.h>

/* Columns after the instructions, as fields of result_fields.def. */
static const struct {
    const char *field;
    struct ab_table_column column;
} counted[] = {
    {"faults_minor", {"faults", 2}},    {"syscalls_mmap", {"mmap", 1}},
    {"syscalls_munmap", {"munmap", 1}}, {"syscalls_mremap", {"mremap", 4}},
    {"syscalls_brk", {"brk", 1}},       {"syscalls_madvise", {"madvise", 3}},
    {"syscalls_futex", {"futex", 3}},   {"syscalls_other", {"other calls", 4}},
};
enum { GROSS = 2, FIRST_COUNTED };

static double value(const struct ab_session *s, uint32_t backend, const char *phase,
                    const char *field)
{
    struct ab_metric m = {.phase = phase, .op = AB_OP_ALL};
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, field) == 0)
            m.field = &ab_fields[i];
    return ab_metric_value(s, backend, &m);
}

static void format(char cell[AB_CELL_BYTES], int decimals, double x)
{
    if (isfinite(x))
        snprintf(cell, AB_CELL_BYTES, "%.*f", decimals, x);
    else
        snprintf(cell, AB_CELL_BYTES, "-");
}

/* Of the loop itself with the harness of the back end; NAN = not counted. */
static double null_instructions(const struct ab_session *s, uint32_t backend, const char *phase)
{
    for (uint32_t i = 0; i < s->n_nulls; i++) {
        const struct ab_null_cost *n = &s->nulls[i];
        if (!isnan(n->instr_per_op) && strcmp(n->phase, phase) == 0 &&
            ab_null_is_of(n, &s->backends[backend]))
            return n->instr_per_op;
    }
    return NAN;
}

static void fill(const struct ab_session *s, uint32_t backend, const char *phase,
                 struct ab_table_row *row)
{
    uint32_t base = ab_session_base(s);
    double n = value(s, backend, phase, "instr_per_op");
    double by = base != UINT32_MAX ? value(s, base, phase, "instr_per_op") : (double)NAN;
    format(row->cells[0], 2, n);
    ab_format_ratio(row->cells[1], by > 0 && n >= 0 ? n / by : (double)NAN);
    format(row->cells[GROSS], 2, n + null_instructions(s, backend, phase));
    for (size_t i = 0; i < AB_ARRAY_LEN(counted); i++)
        format(row->cells[FIRST_COUNTED + i], 0, value(s, backend, phase, counted[i].field));
}

/* What the loop itself takes in this phase, for each harness that is used. */
static void add_harnesses(struct ab_table *t, const struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double n = ab_harness_is_used(s, i) ? null_instructions(s, i, phase) : (double)NAN;
        char name[AB_HARNESS_NAME_BYTES], label[AB_HARNESS_NAME_BYTES + 16];
        if (isnan(n))
            continue;
        ab_harness_name(s, i, name);
        snprintf(label, sizeof label, "harness (%s)", name);
        struct ab_table_row *row = ab_table_add(t, label, false);
        if (row == NULL)
            continue;
        format(row->cells[GROSS], 2, n);
        row->emphasis = AB_FAINT;
    }
}

static void print_phase(FILE *to, const struct ab_session *s, struct ab_table_style style,
                        const char *phase)
{
    char by[32] = "", name[24];
    uint32_t base = ab_session_base(s);
    struct ab_table t;
    struct ab_text title = {0};
    struct ab_table_column columns[FIRST_COUNTED + AB_ARRAY_LEN(counted)] = {
        {"instr/op", 0}, {by, 1}, {"with loop", 1}};
    if (base != UINT32_MAX)
        snprintf(by, sizeof by, "x %s",
                 ab_format_label(name, sizeof name, s->backends[base].name, 10, style.utf8));
    for (size_t i = 0; i < AB_ARRAY_LEN(counted); i++)
        columns[FIRST_COUNTED + i] = counted[i].column;
    ab_text_addf(&title, "%s / %s: counts", s->name, phase);
    if (title.s != NULL)
        ab_table_line(to, style, AB_STRONG, title.s);
    ab_text_fini(&title);
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    ab_table_add(&t, "all ops", true);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        struct ab_table_row *row = ab_session_has_numbers(s, i)
                                       ? ab_table_add_backend(&t, &s->backends[i])
                                       : NULL;
        if (row != NULL)
            fill(s, i, phase, row);
    }
    add_harnesses(&t, s, phase);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
}

static void print_method(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    const struct ab_counting *c = &s->counting;
    struct ab_text t = {0};
    char ops[AB_CELL_BYTES], all[AB_CELL_BYTES], shown[1000];
    if (c->method[0] == 0) {
        ab_text_addf(&t, "no instructions: %s", ab_text_printable(shown, sizeof shown, c->reason));
    } else {
        ab_text_addf(&t, "instructions: by %s, %s of %s tape ops; those of the null back end",
                     ab_text_printable(shown, sizeof shown, c->method),
                     ab_format_count(ops, (double)c->n_ops),
                     ab_format_count(all, (double)s->n_tape_ops));
        ab_text_add(
            &t, " (the harness) are subtracted from instr/op. System calls: of the whole phase");
    }
    if (t.s != NULL)
        ab_table_prose(to, style, AB_FAINT, t.s);
    ab_text_fini(&t);
}

static void print_reasons(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        char line[1600], name[300], why[1000];
        if (b->uncounted[0] == 0)
            continue;
        snprintf(line, sizeof line, "%s: %s", ab_text_printable(name, sizeof name, b->name),
                 ab_text_printable(why, sizeof why, b->uncounted));
        ab_table_prose(to, style, AB_FAINT, line);
    }
}

void ab_table_counts(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    if (!session->counting.is_asked)
        return;
    for (uint32_t i = 0; i < session->n_phases; i++)
        print_phase(to, session, style, session->phases[i]);
    print_method(to, session, style);
    print_reasons(to, session, style);
    fputc('\n', to);
}
