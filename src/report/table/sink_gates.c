/* SPDX-License-Identifier: MIT
 *
 * The gates as a table, a block a back end, the gravest first: number, interval, limit, verdict; below
 * a row why, and the place of a gate that did not pass. Never colour alone: each verdict is a word.
 */
#include "report/table/sink_gates.h"

#include "core/memory.h"
#include "core/text.h"
#include "report/format.h"
#include "report/table/table.h"
#include "report/view/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE, INTERVAL, LIMIT, VERDICT, N_COLUMNS };
enum { TEXT_BYTES = 400 };

/* In the order of the list. */
enum gravity { FAILED, NOT_EVALUATED, WARNING, INCONCLUSIVE, SKIPPED, PASSED, N_GRAVITIES };
static const char *const words[N_GRAVITIES] = {"FAILED",       "NOT EVALUATED", "warning",
                                               "inconclusive", "skipped",       "passed"};

/* A gate in the order of the list. */
struct line {
    const struct ab_gate_result *gate;
    enum gravity gravity, worst; /* its own, and that of its back end */
    char name[TEXT_BYTES];       /* of the back end */
    const char *what, *limit;    /* of the text: "steady/alloc/p99", "< 2us" */
    size_t n_what;
    uint32_t index;
};

static enum gravity gravity_of(const struct ab_gate_result *g)
{
    switch (g->verdict) {
    case AB_GATE_PASS:
        return PASSED;
    case AB_GATE_SKIPPED:
        return SKIPPED;
    case AB_GATE_INCONCLUSIVE:
        return INCONCLUSIVE;
    case AB_GATE_FAIL:
        return g->is_warning ? WARNING : FAILED;
    default:
        return g->is_warning ? WARNING : NOT_EVALUATED;
    }
}

/* ---- order ---- */

/* "=" of "missed = 0", not of "slab:threads=sharded". */
static bool is_comparison(const char *s)
{
    return s[0] == '<' || s[0] == '>' || (s[0] == '=' && s[-1] == ' ');
}

/* "arena:steady/alloc/p99 < 2us" is "steady/alloc/p99" of arena, and "< 2us". */
static void split(const struct ab_session *s, struct line *x)
{
    const char *text = x->gate->text, *slash = strchr(text, '/'), *end = text + strlen(text);
    size_t n = 0;
    if (x->gate->backend < s->n_backends) {
        snprintf(x->name, sizeof x->name, "%s", s->backends[x->gate->backend].name);
        n = strlen(x->name);
        n = strncmp(text, x->name, n) == 0 && text[n] == ':' ? n + 1 : 0;
    } else { /* one that this session does not have */
        for (size_t i = 0; slash != NULL && text + i < slash; i++)
            n = text[i] == ':' ? i + 1 : n;
        snprintf(x->name, sizeof x->name, "%.*s", (int)(n > 0 ? n - 1 : 0), text);
    }
    for (x->limit = end; x->limit > text + n && !is_comparison(x->limit);)
        x->limit--;
    x->limit = x->limit > text + n ? x->limit : end;
    x->what = text + n;
    for (x->n_what = (size_t)(x->limit - x->what); x->n_what > 0 && x->what[x->n_what - 1] == ' ';)
        x->n_what--;
}

static int by_gravity(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->worst != y->worst)
        return x->worst < y->worst ? -1 : 1;
    if (x->gate->backend != y->gate->backend)
        return x->gate->backend < y->gate->backend ? -1 : 1;
    int name = strcmp(x->name, y->name);
    if (name != 0)
        return name;
    if (x->gravity != y->gravity)
        return x->gravity < y->gravity ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct line *sort(const struct ab_session *s)
{
    struct line *list = ab_alloc_zeroed(s->n_gates, sizeof *list);
    for (uint32_t i = 0; i < s->n_gates; i++) {
        list[i] = (struct line){
            .gate = &s->gates[i], .gravity = gravity_of(&s->gates[i]), .index = i};
        split(s, &list[i]);
    }
    for (uint32_t i = 0; i < s->n_gates; i++) {
        list[i].worst = list[i].gravity;
        for (uint32_t k = 0; k < s->n_gates; k++)
            if (strcmp(list[k].name, list[i].name) == 0 && list[k].gravity < list[i].worst)
                list[i].worst = list[k].gravity;
    }
    qsort(list, s->n_gates, sizeof *list, by_gravity);
    return list;
}

/* ---- rows ---- */

/* A change is written as its bound is: "+8.0 %" of "< +10%". */
static bool is_change(const struct ab_gate_result *g)
{
    return strcmp(g->unit, "x baseline") == 0;
}

static void format_number(char cell[AB_CELL_BYTES], const struct ab_gate_result *g, double x)
{
    if (is_change(g))
        ab_view_change(cell, AB_CELL_BYTES, x);
    else
        ab_format_value(cell, x, g->unit);
}

/* With what a ratio is to, so that its direction is that of the number in the row: "0.42x glibc". */
static void format_row_value(char cell[AB_CELL_BYTES], const struct ab_gate_result *g)
{
    char label[AB_CELL_BYTES];
    format_number(cell, g, g->value);
    size_t n = strlen(cell);
    if (!is_change(g) && strncmp(g->unit, "x ", 2) == 0 && isfinite(g->value))
        snprintf(cell + n, AB_CELL_BYTES - n, " %s",
                 ab_format_label(label, sizeof label, g->unit + 2, 16, true));
}

static bool has_interval(const struct ab_gate_result *g)
{
    return isfinite(g->low) && isfinite(g->high) && g->low < g->high;
}

static void format_interval(char cell[AB_CELL_BYTES], const struct ab_gate_result *g)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    struct ab_effect e = {.low = g->low, .high = g->high, .method = AB_EFFECT_UNPAIRED};
    if (!has_interval(g))
        return;
    if (is_change(g))
        ab_view_change_interval(cell, AB_CELL_BYTES, &e);
    else
        snprintf(cell, AB_CELL_BYTES, "[%.20s, %.20s]", ab_format_ratio(low, g->low),
                 ab_format_ratio(high, g->high));
}

static void add_part(struct ab_text *t, const char *lead, const char *text)
{
    if (text[0] != 0)
        ab_text_addf(t, "%s%s%s", t->n > 0 ? "; " : "", lead, text);
}

/* Why, and where it is written. */
static void add_reason(struct ab_text *t, const struct line *x)
{
    const struct ab_gate_result *g = x->gate;
    char shown[4 * sizeof g->reason], number[AB_CELL_BYTES];
    if (x->gravity == WARNING && g->verdict == AB_GATE_NOT_EVALUATED)
        add_part(t, "", "not evaluated");
    add_part(t, "", ab_text_printable(shown, sizeof shown, g->reason));
    if (g->n_confirm > 0 && g->verdict == AB_GATE_FAIL) {
        format_number(number, g, g->confirm_value);
        ab_text_addf(t, "%sconfirmed by %u more rounds: %s", t->n > 0 ? "; " : "", g->n_confirm,
                     number);
    }
    if (g->reason[0] == 0 && g->rounds_needed == UINT32_MAX)
        add_part(t, "", "more rounds would hardly settle it");
    else if (g->reason[0] == 0 && g->rounds_needed > 0)
        ab_text_addf(t, "%sabout %u rounds would settle it", t->n > 0 ? "; " : "",
                     g->rounds_needed);
    if (g->verdict != AB_GATE_PASS && strcmp(g->place, "--gate") != 0)
        ab_text_addf(t, "%s(%s)", t->n > 0 ? " " : "",
                     ab_text_printable(shown, sizeof shown, g->place));
}

static void add_row(struct ab_table *t, const struct line *x, bool is_first)
{
    char label[TEXT_BYTES];
    if (is_first)
        ab_table_add(t, x->name, true);
    snprintf(label, sizeof label, "%.*s", (int)x->n_what, x->what);
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    row->emphasis = x->gate->status != AB_OK ? AB_STRONG : AB_PLAIN;
    format_row_value(row->cells[VALUE], x->gate);
    format_interval(row->cells[INTERVAL], x->gate);
    ab_format_label(row->cells[LIMIT], AB_CELL_BYTES, x->limit, 60, true);
    snprintf(row->cells[VERDICT], AB_CELL_BYTES, "%s", words[x->gravity]);
}

/* What the width has no column for stands below the row, before the reason. */
static void add_below(struct ab_table *t, const struct line *list, unsigned shown)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        struct ab_table_row *row = &t->rows[r];
        if (row->is_heading)
            continue;
        if ((shown >> LIMIT & 1) == 0)
            add_part(&row->below, "limit ", row->cells[LIMIT]);
        if ((shown >> INTERVAL & 1) == 0)
            add_part(&row->below, "interval ", row->cells[INTERVAL]);
        add_reason(&row->below, list++);
    }
}

static void print_table(FILE *to, const struct ab_session *s, const struct line *list,
                        struct ab_table_style style)
{
    static const struct ab_table_column columns[N_COLUMNS] = {
        [VALUE] = {"value", 0},
        [INTERVAL] = {"90 % interval", 2},
        [LIMIT] = {"limit", 1},
        [VERDICT] = {"verdict", 0},
    };
    static const struct ab_table_column without_interval[N_COLUMNS] = {[VALUE] = {"value", 0},
                                                                       [INTERVAL] = {"", 2},
                                                                       [LIMIT] = {"limit", 1},
                                                                       [VERDICT] = {"verdict", 0}};
    static const char *const names[N_COLUMNS] = {"value", "", "", "verdict"}; /* said below */
    struct ab_table t;
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_gates; i++)
        is_any = is_any || has_interval(&s->gates[i]);
    ab_table_init(&t, is_any ? columns : without_interval, N_COLUMNS);
    t.names = names;
    for (uint32_t i = 0; i < s->n_gates; i++)
        add_row(&t, &list[i], i == 0 || strcmp(list[i].name, list[i - 1].name) != 0);
    add_below(&t, list, ab_table_shown(&t, style));
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
}

static void print_title(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    static const char *const counted[N_GRAVITIES] = {
        "FAILED", "NOT EVALUATED (fails)", "warning", "inconclusive", "skipped", "passed"};
    uint32_t n[N_GRAVITIES] = {0};
    struct ab_text title = {0};
    for (uint32_t i = 0; i < s->n_gates; i++)
        n[gravity_of(&s->gates[i])]++;
    for (unsigned i = 0; i < N_GRAVITIES; i++)
        if (n[i] > 0)
            ab_text_addf(&title, "%s%u %s%s", title.n == 0 ? "gates: " : ", ", n[i], counted[i],
                         i == WARNING && n[i] > 1 ? "s" : "");
    if (title.s != NULL)
        ab_table_prose(to, style, AB_STRONG, title.s);
    ab_text_fini(&title);
}

void ab_sink_gates(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    if (session->n_gates == 0)
        return;
    ab_format_begin(&guard);
    struct line *list = sort(session);
    fputc('\n', to);
    print_title(to, session, style);
    print_table(to, session, list, style);
    free(list);
    ab_format_end(&guard);
}
