/* SPDX-License-Identifier: MIT
 *
 * Prints checks as tables. Gates: a block per back end, the most severe first. Comparisons: a block
 * per back end, with verdicts as sentences above and the noise below. Claims: a table per source.
 * Below a row stand the reason and what would settle it. Each verdict is a word, never just a
 * colour.
 */
#include "report/table/sink_checks.h"

#include "answer/verdicts.h"
#include "answer/words.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "result/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- below a row ---- */

/* Adds another part to the text below a row. */
__attribute__((format(printf, 2, 3))) static void add_part(struct ab_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *part = ab_vstrdupf(fmt, args);
    va_end(args);
    if (part[0] != 0)
        ab_text_addf(t, "%s%s", t->n > 0 ? "; " : "", part);
    free(part);
}

static void add_rounds_needed(struct ab_text *t, const struct ab_checked *c)
{
    if (c->rounds_needed == UINT32_MAX)
        add_part(t, "more rounds are unlikely to settle it");
    else if (c->rounds_needed > 0)
        add_part(t, "about %u rounds would settle it", c->rounds_needed);
}

/* ---- gates ---- */

enum { GATE_VALUE, GATE_INTERVAL, GATE_LIMIT, GATE_VERDICT, GATE_COLUMNS };
enum { TEXT_BYTES = 400 };

/* Severity of a gate, in the order of the list. */
enum gravity { FAILED, NOT_EVALUATED, WARNING, INCONCLUSIVE, SKIPPED, PASSED, N_GRAVITIES };
static const char *const gravity_words[N_GRAVITIES] = {"FAILED",       "NOT EVALUATED", "warning",
                                                       "inconclusive", "skipped",       "passed"};

/* A gate in the list. */
struct line {
    const struct ab_checked *gate;
    /* gravity: severity of this gate; worst: the highest severity of its back end's gates */
    enum gravity gravity, worst;
    char name[TEXT_BYTES]; /* name of the back end */
    /* what, limit: parts of the gate's text: "steady/alloc/p99", "< 2us" */
    const char *what, *limit;
    size_t n_what;
    /* index: position in the session; backend: index of the back end, UINT32_MAX = not in this
     * session */
    uint32_t index, backend;
};

static enum gravity gravity_of(const struct ab_checked *g)
{
    bool is_bad = g->verdict == AB_VERDICT_FAIL || g->verdict == AB_VERDICT_NOT_EVALUATED;
    return is_bad && g->is_warning                 ? WARNING
           : g->verdict == AB_VERDICT_PASS         ? PASSED
           : g->verdict == AB_VERDICT_SKIPPED      ? SKIPPED
           : g->verdict == AB_VERDICT_INCONCLUSIVE ? INCONCLUSIVE
           : g->verdict == AB_VERDICT_FAIL         ? FAILED
                                                   : NOT_EVALUATED;
}

/* True for a comparison operator: "=" of "missed = 0", but not of "slab:threads=sharded". */
static bool is_comparison(const char *s)
{
    return s[0] == '<' || s[0] == '>' || (s[0] == '=' && s[-1] == ' ');
}

/* Splits "arena:steady/alloc/p99 < 2us" into the back end "arena", "steady/alloc/p99" and "<
 * 2us". */
static void split(struct line *x)
{
    const char *text = x->gate->text, *slash = strchr(text, '/'), *end = text + strlen(text);
    size_t n = 0;
    if (x->gate->backend != NULL) {
        AB_COPY(x->name, x->gate->backend);
        n = strlen(x->name);
        n = strncmp(text, x->name, n) == 0 && text[n] == ':' ? n + 1 : 0;
    } else { /* the session does not have the back end */
        for (size_t i = 0; slash != NULL && text + i < slash; i++)
            n = text[i] == ':' ? i + 1 : n;
        AB_FIT(x->name, "%.*s", (int)(n > 0 ? n - 1 : 0), text);
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
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
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
        const struct ab_checked *g = &s->gates[i];
        list[i] = (struct line){.gate = g, .gravity = gravity_of(g), .index = i};
        list[i].backend = g->backend != NULL ? ab_session_backend(s, g->backend) : UINT32_MAX;
        split(&list[i]);
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

/* Writes the value of a gate. A change is written like its bound, "+8.0 %" for "< +10%". With
 * is_named, a ratio names its base, "0.42x glibc", so that its direction is clear. */
static void format_value(char cell[AB_CELL_BYTES], const struct ab_checked *g, double x,
                         bool is_named)
{
    char unit[160], label[AB_CELL_BYTES];
    if (g->against == AB_AGAINST_BASELINE) {
        ab_view_change(cell, AB_CELL_BYTES, x);
        return;
    }
    ab_format_value(cell, x, ab_check_unit(g, unit, sizeof unit));
    size_t n = strlen(cell);
    if (is_named && g->against != AB_AGAINST_NOTHING && isfinite(x))
        snprintf(cell + n, AB_CELL_BYTES - n, " %s",
                 ab_format_label(label, sizeof label, unit + 2, 16, true));
}

static bool has_interval(const struct ab_checked *g)
{
    return isfinite(g->effect.low) && isfinite(g->effect.high) && g->effect.low < g->effect.high;
}

static void format_interval(char cell[AB_CELL_BYTES], const struct ab_checked *g)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    if (!has_interval(g))
        return;
    if (g->against == AB_AGAINST_BASELINE)
        ab_view_change_interval(cell, AB_CELL_BYTES, &g->effect);
    else
        snprintf(cell, AB_CELL_BYTES, "[%.20s, %.20s]", ab_format_ratio(low, g->effect.low),
                 ab_format_ratio(high, g->effect.high));
}

/* Adds the reason, and where the gate is defined. */
static void add_gate_reason(struct ab_text *t, const struct line *x)
{
    const struct ab_checked *g = x->gate;
    char shown[4 * sizeof g->reason], number[AB_CELL_BYTES];
    if (x->gravity == WARNING && g->verdict == AB_VERDICT_NOT_EVALUATED)
        add_part(t, "not evaluated");
    add_part(t, "%s", ab_text_printable(shown, sizeof shown, g->reason));
    if (g->n_confirm > 0 && g->verdict == AB_VERDICT_FAIL) {
        format_value(number, g, g->confirm, false);
        add_part(t, "confirmed by %u more rounds: %s", g->n_confirm, number);
    }
    if (g->reason[0] == 0)
        add_rounds_needed(t, g);
    if (g->verdict != AB_VERDICT_PASS && strcmp(g->place, "--gate") != 0)
        ab_text_addf(t, "%s(%s)", t->n > 0 ? " " : "",
                     ab_text_printable(shown, sizeof shown, g->place));
}

static void add_gate_row(struct ab_table *t, const struct line *x, bool is_first)
{
    char label[TEXT_BYTES];
    if (is_first)
        ab_table_add(t, x->name, true);
    AB_FIT(label, "%.*s", (int)x->n_what, x->what);
    struct ab_table_row *row = ab_table_add(t, label, false);
    row->emphasis = x->gate->status != AB_OK ? AB_STRONG : AB_PLAIN;
    format_value(row->cells[GATE_VALUE], x->gate, x->gate->effect.ratio, true);
    format_interval(row->cells[GATE_INTERVAL], x->gate);
    ab_format_label(row->cells[GATE_LIMIT], AB_CELL_BYTES, x->limit, 60, true);
    snprintf(row->cells[GATE_VERDICT], AB_CELL_BYTES, "%s", gravity_words[x->gravity]);
}

/* Adds columns that do not fit the width to the text below the row, before the reason. */
static void add_below(struct ab_table *t, const struct line *list, unsigned shown)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        struct ab_table_row *row = &t->rows[r];
        if (row->is_heading)
            continue;
        if ((shown >> GATE_LIMIT & 1) == 0 && row->cells[GATE_LIMIT][0] != 0)
            add_part(&row->below, "limit %s", row->cells[GATE_LIMIT]);
        if ((shown >> GATE_INTERVAL & 1) == 0 && row->cells[GATE_INTERVAL][0] != 0)
            add_part(&row->below, "interval %s", row->cells[GATE_INTERVAL]);
        add_gate_reason(&row->below, list++);
    }
}

static void print_gates(FILE *to, const struct ab_session *s, const struct line *list,
                        struct ab_table_style style)
{
    /* "": the text below the row has what a dropped column had */
    static const char *const names[GATE_COLUMNS] = {"value", "", "", "verdict"};
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_gates; i++)
        is_any = is_any || has_interval(&s->gates[i]);
    const struct ab_table_column columns[GATE_COLUMNS] = {
        [GATE_VALUE] = {"value", 0},
        [GATE_INTERVAL] = {is_any ? "90 % interval" : "", 2},
        [GATE_LIMIT] = {"limit", 1},
        [GATE_VERDICT] = {"verdict", 0},
    };
    struct ab_table t;
    ab_table_init(&t, columns, GATE_COLUMNS);
    t.names = names;
    for (uint32_t i = 0; i < s->n_gates; i++)
        add_gate_row(&t, &list[i], i == 0 || strcmp(list[i].name, list[i - 1].name) != 0);
    add_below(&t, list, ab_table_shown(&t, style));
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
}

static void print_gates_title(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    uint32_t n[N_GRAVITIES] = {0};
    struct ab_text title = {0};
    for (uint32_t i = 0; i < s->n_gates; i++)
        n[gravity_of(&s->gates[i])]++;
    for (unsigned i = 0; i < N_GRAVITIES; i++)
        if (n[i] > 0)
            ab_text_addf(&title, "%s%u %s%s", title.n == 0 ? "gates: " : ", ", n[i],
                         gravity_words[i],
                         i == NOT_EVALUATED         ? " (fails)"
                         : i == WARNING && n[i] > 1 ? "s"
                                                    : "");
    ab_table_note(to, style, AB_STRONG, &title);
}

void ab_sink_gates(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    if (session->n_gates == 0)
        return;
    ab_format_begin(&guard);
    struct line *list = sort(session);
    fputc('\n', to);
    print_gates_title(to, session, style);
    print_gates(to, session, list, style);
    free(list);
    ab_format_end(&guard);
}

/* ---- claims ----
 * Published and measured figures are shown as "times better", like the speeds of other tables. For
 * times and sizes less is better, for rates more. */

static void format_times(char cell[AB_CELL_BYTES], const struct ab_checked *c, double ratio,
                         const struct ab_effect *interval)
{
    struct ab_effect e = interval != NULL ? *interval : (struct ab_effect){.low = NAN, .high = NAN};
    e.ratio = ratio;
    if (!c->is_higher_better)
        e = ab_effect_turned(&e);
    ab_format_effect(cell, e.ratio, e.low, e.high);
}

static bool is_throughput(const struct ab_checked *c)
{
    return strcmp(c->op, "all") == 0 && strcmp(c->metric, "ns_per_op") == 0;
}

static void add_claim(struct ab_table *t, const struct ab_checked *c, bool has_net, bool utf8)
{
    char label[AB_TABLE_LABEL_BYTES];
    uint32_t n = c->effect.n_new;
    AB_FIT(label, is_throughput(c) ? "%s %s" : "%s %s %s %s", c->backend, c->phase, c->op,
           c->metric);
    struct ab_table_row *row = ab_table_add(t, label, false);
    unsigned of = has_net ? 4 : 3;
    ab_format_label(row->cells[0], AB_CELL_BYTES, c->base_backend, 12, utf8);
    format_times(row->cells[1], c, c->bound, NULL);
    format_times(row->cells[2], c, c->effect.ratio, &c->effect);
    if (is_throughput(c) && n > 0)
        format_times(row->cells[3], c, c->relative.ratio, &c->relative);
    if (c->reason[0] != 0)
        ab_format_label(row->cells[of], AB_CELL_BYTES, c->reason, AB_CELL_BYTES - 4, utf8);
    else
        snprintf(row->cells[of], AB_CELL_BYTES, "%u round%s", n, n == 1 ? "" : "s");
}

/* Prints the claims [first, end), which share a source. */
static void print_source(FILE *to, const struct ab_session *s, uint32_t first, uint32_t end,
                         struct ab_table_style style)
{
    bool has_net = false;
    for (uint32_t i = first; i < end; i++)
        has_net = has_net || is_throughput(&s->claims[i]);
    const struct ab_table_column net = {"net of harness", 0}, of = {"of", 3};
    const struct ab_table_column columns[] = {
        {"than", 2}, {"claimed", 0}, {"measured", 0}, has_net ? net : of, of,
    };
    struct ab_table t;
    struct ab_text note = {0};
    ab_table_init(&t, columns, has_net ? 5 : 4);
    ab_table_add(&t, "times better", true);
    for (uint32_t i = first; i < end; i++)
        add_claim(&t, &s->claims[i], has_net, style.utf8);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    const char *between = "says: ";
    for (uint32_t i = first; i < end; i++)
        if (s->claims[i].says[0] != 0 &&
            (i == first || s->claims[i].text != s->claims[i - 1].text)) {
            ab_text_addf(&note, "%s%s", between, s->claims[i].says);
            between = "; ";
        }
    if (s->claims[first].source[0] != 0)
        ab_text_addf(&note, "%s%s",
                     note.n > 0 ? " | source: " : "source: ", s->claims[first].source);
    ab_table_note(to, style, AB_FAINT, &note);
}

void ab_sink_claims(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    const struct ab_checked *claims = session->claims;
    if (session->n_claims == 0)
        return;
    ab_format_begin(&guard);
    fputc('\n', to);
    ab_table_line(to, style, AB_STRONG, "published vs. measured (no verdict)");
    for (uint32_t i = 0, end; i < session->n_claims; i = end) {
        for (end = i + 1;
             end < session->n_claims && strcmp(claims[end].source, claims[i].source) == 0; end++) {
        }
        print_source(to, session, i, end, style);
    }
    ab_format_end(&guard);
}

/* ---- comparisons ---- */

enum { BASE, NOW, CHANGE, INTERVAL, LIMIT, VERDICT, N_COLUMNS };
enum { ROWS_OF_A_LONG_TABLE = 30 };

static const struct ab_table_column columns[N_COLUMNS] = {
    [BASE] = {"base", 2},     [NOW] = {"new", 1},
    [CHANGE] = {"change", 0}, [INTERVAL] = {"90 % interval", 0},
    [LIMIT] = {"limit", 3},   [VERDICT] = {"verdict", 0},
};
static const char *const names[N_COLUMNS] = {"base",
                                             "new",
                                             "change",
                                             "90 % interval",
                                             /* the legend has the limit */ "",
                                             "verdict"};

/* Signs and limit in a table, for the legend below it. */
struct signs {
    bool has_unclear, has_unknown; /* "~", "n/a" */
    /* limit of the cells that have one, the same for all of them; NaN = none */
    double limit;
};

static void format_number(char out[AB_CELL_BYTES], const struct ab_checked *cell, double x,
                          double floor)
{
    /* a value below the clock's floor is shown as "<" and the floor */
    bool is_below = cell->op != NULL && x < floor;
    char *at = out + is_below;
    size_t cap = AB_CELL_BYTES - 1;
    x = is_below ? floor : x;
    snprintf(out, cap, "<");
    if (!isfinite(x))
        snprintf(at, cap, "-");
    else if (strcmp(cell->unit, "ns") == 0)
        ab_units_time(at, cap, x);
    else if (strcmp(cell->unit, "bytes") == 0)
        ab_units_bytes(at, cap, x);
    else if (strcmp(cell->unit, "percent") == 0)
        snprintf(at, cap, "%.3g %%", x);
    else
        ab_units_count(at, cap, x);
}

static enum ab_emphasis emphasis_of(const struct ab_checked *cell)
{
    if (!ab_check_is_judged(cell))
        return ab_check_direction(cell) != 0 ? AB_PLAIN : AB_FAINT;
    return cell->verdict == AB_VERDICT_IMPROVED                                    ? AB_GOOD
           : cell->verdict == AB_VERDICT_PASS || cell->verdict == AB_VERDICT_MOVED ? AB_PLAIN
                                                                                   : AB_BAD;
}

/* Writes "churn alloc p99" or "whole run peak memory". Leaves out a part of the name that repeats
 * the unit. */
static void label_case(const struct ab_checked *cell, char *buf, size_t cap)
{
    char phase[160], of[160];
    const char *op = cell->iteration != NULL ? cell->iteration : cell->op;
    static const char *const tails[] = {"_bytes", "_percent"};
    size_t n = strlen(cell->metric);
    for (size_t i = 0; i < AB_ARRAY_LEN(tails); i++) {
        size_t tail = strlen(tails[i]);
        if (n > tail && strcmp(cell->metric + n - tail, tails[i]) == 0)
            n -= tail;
    }
    ab_text_printable(phase, sizeof phase, cell->phase != NULL ? cell->phase : "whole run");
    if (cell->phase == NULL && strstr(cell->metric, "peak_bytes") != NULL)
        snprintf(buf, cap, "peak memory");
    else
        snprintf(buf, cap, "%s%s%s %.*s", phase, op != NULL ? " " : "",
                 op != NULL ? ab_text_printable(of, sizeof of, op) : "", (int)n, cell->metric);
}

/* Adds the change relative to the controls, which are the same build in both results, and the
 * change of the controls, which the machine caused. Adds nothing if the verdict does not depend on
 * this. */
static void add_relative(struct ab_text *t, const struct ab_checked *cell)
{
    char shown[4 * sizeof cell->controls], change[2][AB_CELL_BYTES], interval[AB_CELL_BYTES];
    if (ab_check_judged_effect(cell) != &cell->relative)
        return;
    ab_view_change_interval(interval, sizeof interval, &cell->relative);
    ab_text_addf(t, "%s relative to %s, the same build in both (%s)%s%s",
                 ab_view_change(change[0], sizeof change[0], cell->relative.ratio),
                 ab_text_printable(shown, sizeof shown, cell->controls),
                 ab_view_change(change[1], sizeof change[1], cell->machine_ratio),
                 interval[0] != 0 ? ": " : "", interval);
}

/* Adds why a cell has no verdict, what would settle it, and whether more rounds confirmed it. */
static void add_reason(struct ab_table_row *row, const struct ab_checked *cell)
{
    bool is_open = cell->verdict == AB_VERDICT_INCONCLUSIVE ||
                   cell->verdict == AB_VERDICT_NOT_EVALUATED;
    struct ab_text *t = &row->below;
    char shown[4 * sizeof cell->reason], change[AB_CELL_BYTES];
    if (!ab_check_is_judged(cell))
        return;
    add_relative(t, cell);
    add_part(t, "%s", ab_text_printable(shown, sizeof shown, cell->reason));
    if (is_open)
        add_rounds_needed(t, cell);
    if (cell->n_confirm > 0 && isfinite(cell->confirm))
        add_part(t, "%u more rounds: %s", cell->n_confirm,
                 ab_view_change(change, sizeof change, cell->confirm));
}

static void add_row(struct ab_table *t, const struct ab_comparison *c,
                    const struct ab_checked *cell, struct signs *signs)
{
    char label[300];
    const char *word = ab_check_word(cell);
    label_case(cell, label, sizeof label);
    struct ab_table_row *row = ab_table_add(t, label, false);
    double floor = fmax(c->base->timer.floor_ns, c->now->timer.floor_ns);
    row->emphasis = emphasis_of(cell);
    format_number(row->cells[BASE], cell, cell->base, floor);
    format_number(row->cells[NOW], cell, cell->now, floor);
    ab_view_change(row->cells[CHANGE], AB_CELL_BYTES, cell->effect.ratio);
    ab_view_change_interval(row->cells[INTERVAL], AB_CELL_BYTES, &cell->effect);
    if (!isnan(cell->bound))
        snprintf(row->cells[LIMIT], AB_CELL_BYTES, "%+.3g %%", 100 * cell->bound);
    snprintf(row->cells[VERDICT], AB_CELL_BYTES, "%s", word);
    add_reason(row, cell);
    signs->has_unclear = signs->has_unclear || strcmp(word, "~") == 0;
    signs->has_unknown = signs->has_unknown || strcmp(word, "n/a") == 0;
    signs->limit = isnan(cell->bound) ? signs->limit : cell->bound;
}

static void add_heading(struct ab_table *t, const struct ab_checked *cell)
{
    char label[300];
    bool is_one = strcmp(cell->backend, cell->base_backend) == 0;
    AB_FIT(label, "%s%s%s", cell->backend, is_one ? "" : " against ",
           is_one ? "" : cell->base_backend);
    ab_table_add(t, label, true);
}

static bool is_in_table(const struct ab_comparison *c, const struct ab_checked *cell,
                        bool is_verbose)
{
    return is_verbose || c->n_cells <= ROWS_OF_A_LONG_TABLE || ab_check_is_judged(cell) ||
           cell->op == NULL || ab_check_direction(cell) != 0;
}

bool ab_sink_compare_is_cut(const struct ab_comparison *c, bool is_verbose)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (!is_in_table(c, &c->cells[i], is_verbose))
            return true;
    return false;
}

/* ---- below the table ---- */

static void print_legend(FILE *to, const struct signs *signs, uint32_t n_left_out,
                         bool is_limit_shown, struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_add(&t, "change: + is worse.");
    if (signs->has_unclear)
        ab_text_add(&t, " ~: no clear difference.");
    if (signs->has_unknown)
        ab_text_add(&t, " n/a: too few rounds or samples.");
    if (!is_limit_shown && !isnan(signs->limit))
        ab_text_addf(&t, " Limit of the whole run time: %+.3g %%.", 100 * signs->limit);
    if (n_left_out > 0)
        ab_text_addf(&t, " -v lists %u unchanged percentiles.", n_left_out);
    ab_table_note(to, style, AB_FAINT, &t);
}

static void print_cells(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_table t;
    struct signs signs = {.limit = NAN};
    uint32_t n_left_out = 0;
    const char *last = NULL;
    ab_table_init(&t, columns, N_COLUMNS);
    t.names = names;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_checked *cell = &c->cells[i];
        if (!is_in_table(c, cell, style.is_verbose)) {
            n_left_out++;
            continue;
        }
        if (last == NULL || strcmp(last, cell->backend) != 0)
            add_heading(&t, cell);
        last = cell->backend;
        add_row(&t, c, cell, &signs);
    }
    if (t.n_rows > 0) {
        unsigned shown = ab_table_print(to, &t, style);
        print_legend(to, &signs, n_left_out, (shown >> LIMIT & 1) != 0, style);
    }
    ab_table_fini(&t);
}

/* ---- sentences ---- */

static void add_side(struct ab_text *t, const char *what, const char *label,
                     const struct ab_session *s)
{
    char name[512];
    ab_text_addf(t, "%s %s (%u round%s)", what, ab_text_printable(name, sizeof name, label),
                 s->n_rounds, s->n_rounds == 1 ? "" : "s");
}

/* Prints the names of the two compared results. */
static void print_title(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_text t = {0};
    if (c->base_label == NULL || c->now_label == NULL)
        return;
    add_side(&t, "base:", c->base_label, c->base);
    add_side(&t, ", new:", c->now_label, c->now);
    ab_table_note(to, style, AB_PLAIN, &t);
}

static void print_end(FILE *to, const struct ab_comparison *c, const struct ab_view_verdicts *v,
                      struct ab_table_style style)
{
    struct ab_text t = {0};
    if (c->advisory[0] != 0) {
        ab_text_addf(&t, "verdicts are advisory: %s", c->advisory);
        ab_table_note(to, style, AB_STRONG, &t);
    }
    for (uint32_t i = 0; i < c->n_notes; i++) {
        ab_text_addf(&t, "note: %s", c->notes[i]);
        ab_table_note(to, style, AB_FAINT, &t);
    }
    ab_text_addf(&t, "%s", v->counts);
    ab_table_note(to, style, AB_STRONG, &t);
    if (v->noise[0] != 0)
        ab_text_addf(&t, "noise: %s", v->noise);
    ab_table_note(to, style, AB_PLAIN, &t);
}

void ab_sink_compare(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct ab_view_texts texts = {0};
    struct ab_view_verdicts verdicts;
    ab_format_begin(&guard);
    ab_view_verdicts_make(c, &texts, &verdicts);
    for (unsigned i = 0; i < verdicts.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, verdicts.sentences[i]);
    print_title(to, c, style);
    fputc('\n', to);
    print_cells(to, c, style);
    print_end(to, c, &verdicts, style);
    ab_view_texts_fini(&texts);
    ab_format_end(&guard);
}
