/* SPDX-License-Identifier: MIT
 *
 * The gates, one line each: its text, the back end, the value, and the place of a gate that did not
 * pass. Never colour alone: each verdict has a sign and, where it is bad, words.
 */
#include "report/table/sink_gates.h"

#include "core/text.h"
#include "report/format.h"
#include "report/table/table.h"

#include <math.h>
#include <string.h>

enum { TEXT_WIDEST = 60, TEXT_LEAST = 12, NAME_WIDEST = 24, VALUE_WIDEST = 12, SIGNS = 6, GAP = 2 };

struct columns {
    unsigned text, name, value;
};

static const char *name_of(const struct ab_session *s, const struct ab_gate_result *g)
{
    return g->backend < s->n_backends ? s->backends[g->backend].name : "-";
}

static unsigned wider(unsigned so_far, const char *text, unsigned most)
{
    char label[AB_TABLE_LABEL_BYTES];
    unsigned width = ab_format_width(ab_format_label(label, sizeof label, text, most, true));
    return width > so_far ? width : so_far;
}

/* The text gives way where all three do not fit; the value never does. */
static struct columns measure_columns(const struct ab_session *s, unsigned width)
{
    struct columns c = {0, 0, 0};
    for (uint32_t i = 0; i < s->n_gates; i++) {
        char cell[AB_CELL_BYTES];
        ab_format_value(cell, s->gates[i].value, s->gates[i].unit);
        c.text = wider(c.text, s->gates[i].text, TEXT_WIDEST);
        c.name = wider(c.name, name_of(s, &s->gates[i]), NAME_WIDEST);
        c.value = wider(c.value, cell, VALUE_WIDEST);
    }
    unsigned others = SIGNS + c.name + c.value + 3 * GAP;
    unsigned room = width > others + TEXT_LEAST ? width - others : TEXT_LEAST;
    c.text = c.text < room ? c.text : room;
    return c;
}

static const char *sign_of(const struct ab_gate_result *g, bool utf8)
{
    if (g->verdict == AB_GATE_PASS)
        return utf8 ? "\u2713" : "ok  ";
    if (g->is_warning && (g->verdict == AB_GATE_FAIL || g->verdict == AB_GATE_NOT_EVALUATED))
        return utf8 ? "!" : "warn";
    if (g->verdict == AB_GATE_FAIL)
        return utf8 ? "\u2717" : "FAIL";
    if (g->verdict == AB_GATE_NOT_EVALUATED)
        return utf8 ? "?" : "??  ";
    if (g->verdict == AB_GATE_INCONCLUSIVE)
        return utf8 ? "~" : "~~  ";
    return utf8 ? "\u2013" : "--  ";
}

/* A text of at most its column's width, filled up with blanks. */
static void add_padded(struct ab_text *line, const char *text, unsigned width, bool utf8)
{
    char label[AB_TABLE_LABEL_BYTES];
    ab_format_label(label, sizeof label, text, width, utf8);
    ab_text_addf(line, "  %s%*s", label, (int)(width - ab_format_width(label)), "");
}

/* What follows the columns: its place unless it passed, and why it was not evaluated. */
static void add_rest(struct ab_text *rest, const struct ab_gate_result *g)
{
    const char *lead = g->verdict == AB_GATE_SKIPPED         ? "skipped: "
                       : g->verdict == AB_GATE_NOT_EVALUATED ? "not evaluated: "
                       : g->verdict == AB_GATE_INCONCLUSIVE  ? "inconclusive: "
                                                             : "";
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    if (isfinite(g->low) && isfinite(g->high) && g->low < g->high)
        ab_text_addf(rest, "  [%.20s, %.20s]", ab_format_ratio(low, g->low),
                     ab_format_ratio(high, g->high));
    if (g->is_warning)
        ab_text_add(rest, "  warning only");
    if (g->n_confirm > 0 && g->verdict == AB_GATE_FAIL)
        ab_text_addf(rest, "  confirmed: %.3gx in %u more rounds", g->confirm_value, g->n_confirm);
    if (g->verdict != AB_GATE_PASS)
        ab_text_addf(rest, "  (%s)", g->place);
    if (g->reason[0] != 0)
        ab_text_addf(rest, "%s%s%s", g->verdict == AB_GATE_PASS ? "  " : " ", lead, g->reason);
    else if (g->rounds_needed > 0 && g->rounds_needed < UINT32_MAX)
        ab_text_addf(rest, " %sabout %u rounds would settle it", lead, g->rounds_needed);
}

static void print_gate(FILE *to, const struct ab_session *s, const struct ab_gate_result *g,
                       const struct columns *c, struct ab_table_style style)
{
    struct ab_text line = {0}, rest = {0};
    char cell[AB_CELL_BYTES];
    enum ab_emphasis emphasis = g->status != AB_OK ? AB_STRONG : AB_PLAIN;
    ab_format_value(cell, g->value, g->unit);
    ab_text_addf(&line, "  %s", sign_of(g, style.utf8));
    add_padded(&line, g->text, c->text, style.utf8);
    add_padded(&line, name_of(s, g), c->name, style.utf8);
    ab_text_addf(&line, "  %*s", (int)c->value, cell);
    add_rest(&rest, g);
    bool fits = line.s != NULL && rest.s != NULL &&
                ab_format_width(line.s) + ab_format_width(rest.s) <= style.width;
    if (fits)
        ab_text_add(&line, rest.s);
    if (line.s != NULL)
        ab_table_line(to, style, emphasis, line.s);
    if (!fits && rest.s != NULL) {
        struct ab_text more = {0};
        ab_text_addf(&more, "%s%s", style.utf8 ? "   " : "      ", rest.s);
        if (more.s != NULL)
            ab_table_prose(to, style, emphasis, more.s);
        ab_text_fini(&more);
    }
    ab_text_fini(&line);
    ab_text_fini(&rest);
}

static void print_title(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    uint32_t n_passed = 0, n_failed = 0, n_open = 0, n_skipped = 0, n_unsure = 0, n_warned = 0;
    struct ab_text title = {0};
    for (uint32_t i = 0; i < s->n_gates; i++) {
        const struct ab_gate_result *g = &s->gates[i];
        n_passed += g->verdict == AB_GATE_PASS;
        bool is_bad = g->verdict == AB_GATE_FAIL || g->verdict == AB_GATE_NOT_EVALUATED;
        n_warned += is_bad && g->is_warning;
        n_failed += g->verdict == AB_GATE_FAIL && !g->is_warning;
        n_open += g->verdict == AB_GATE_NOT_EVALUATED && !g->is_warning;
        n_skipped += g->verdict == AB_GATE_SKIPPED;
        n_unsure += g->verdict == AB_GATE_INCONCLUSIVE;
    }
    ab_text_addf(&title, "gates: %u passed", n_passed);
    if (n_failed > 0)
        ab_text_addf(&title, ", %u FAILED", n_failed);
    if (n_open > 0)
        ab_text_addf(&title, ", %u NOT EVALUATED (fails)", n_open);
    if (n_warned > 0)
        ab_text_addf(&title, ", %u warning%s", n_warned, n_warned == 1 ? "" : "s");
    if (n_unsure > 0)
        ab_text_addf(&title, ", %u inconclusive", n_unsure);
    if (n_skipped > 0)
        ab_text_addf(&title, ", %u skipped", n_skipped);
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
    struct columns c = measure_columns(session, style.width);
    fputc('\n', to);
    print_title(to, session, style);
    for (uint32_t i = 0; i < session->n_gates; i++)
        print_gate(to, session, &session->gates[i], &c, style);
    ab_format_end(&guard);
}
