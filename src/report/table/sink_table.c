/* SPDX-License-Identifier: MIT
 *
 * The report for the terminal: the answer, then the topics below it, place by place (topics.def).
 * Numbers cover all rounds: histograms are merged, throughput is a median. The JSON has the exact
 * numbers.
 */
#include "report/table/sink_table.h"

#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/shown.h"

#include <string.h>

/* ---- places: how the grids of each stand below each other ---- */

enum {
    BLANK_FIRST = 1,      /* a blank line before the first grid */
    BLANK_BEFORE = 2,     /* a blank line before each grid */
    BLANK_AFTER = 4,      /* a blank line after each grid with rows */
    BLANK_TURN = 8,       /* a blank line after each turn */
    BLANK_END = 16,       /* a blank line after all grids */
    BLANK_CLOSING = 32,   /* a blank line after the closing words, if there are any */
    CLOSES_TOPICS = 64,   /* closing words are printed below the tables of their topic */
    LEGEND_OF_TURN = 128, /* each turn counts its footnotes from 1 */
    /* the place prints its footnotes: below each turn or, without LEGEND_OF_TURN, at its end */
    FOOTNOTES = 256,
    ALL_PHASES = 512 /* ignores phase=NAME */
};

static const unsigned places[AB_TERMINAL_COUNT] = {
    [AB_TERMINAL_BY_VALUE] = BLANK_AFTER,
    [AB_TERMINAL_PROGRAM] = BLANK_FIRST,
    [AB_TERMINAL_INSIDE] = BLANK_FIRST | CLOSES_TOPICS,
    [AB_TERMINAL_ANSWER] = BLANK_BEFORE,
    [AB_TERMINAL_IDLE] = BLANK_BEFORE,
    [AB_TERMINAL_GROWTH] = BLANK_BEFORE,
    [AB_TERMINAL_PREDICTION] = BLANK_BEFORE,
    [AB_TERMINAL_COUNTS] = LEGEND_OF_TURN | BLANK_END | ALL_PHASES,
    [AB_TERMINAL_ITERATIONS] = BLANK_BEFORE | LEGEND_OF_TURN | FOOTNOTES | ALL_PHASES,
    [AB_TERMINAL_HEAPS] = BLANK_BEFORE | LEGEND_OF_TURN | BLANK_CLOSING,
    [AB_TERMINAL_WALKS] = BLANK_END,
    [AB_TERMINAL_LATENCY] = LEGEND_OF_TURN | BLANK_TURN,
    [AB_TERMINAL_DEPTH] = CLOSES_TOPICS | BLANK_TURN,
    [AB_TERMINAL_MEMORY] = FOOTNOTES | BLANK_END,
    [AB_TERMINAL_PINS] = BLANK_AFTER,
};

struct printer {
    FILE *to;
    struct ab_table_style style;
    unsigned how;
    struct ab_legend *legend;
    struct ab_view_texts closing; /* closing words that are not printed yet */
};

/* Keeps the closing words of a grid, each once. */
static void keep_closing(struct printer *p, const struct ab_grid *g)
{
    for (size_t i = 0; i < g->closing.n; i++) {
        size_t k = 0;
        while (k < p->closing.n && strcmp(p->closing.items[k], g->closing.items[i]) != 0)
            k++;
        if (k == p->closing.n)
            ab_view_texts_addf(&p->closing, "%s", g->closing.items[i]);
    }
}

static bool print_closing(struct printer *p)
{
    bool is_any = p->closing.n > 0;
    for (size_t i = 0; i < p->closing.n; i++)
        ab_table_prose(p->to, p->style, AB_FAINT, p->closing.items[i]);
    ab_view_texts_fini(&p->closing);
    return is_any;
}

static void end_turn(struct printer *p)
{
    if ((p->how & CLOSES_TOPICS) != 0)
        print_closing(p);
    if ((p->how & FOOTNOTES) != 0 && (p->how & LEGEND_OF_TURN) != 0)
        ab_footnotes_print(p->to, &p->legend->notes, p->style);
    if ((p->how & LEGEND_OF_TURN) != 0)
        *p->legend = (struct ab_legend){0};
    fputs((p->how & BLANK_TURN) != 0 ? "\n" : "", p->to);
}

static void end_place(struct printer *p)
{
    end_turn(p);
    bool has_closing = print_closing(p);
    if ((p->how & FOOTNOTES) != 0)
        ab_footnotes_print(p->to, &p->legend->notes, p->style);
    if ((p->how & BLANK_END) != 0 || ((p->how & BLANK_CLOSING) != 0 && has_closing))
        fputc('\n', p->to);
}

static void print_grid(struct printer *p, const struct ab_grid *g, bool is_first)
{
    if ((p->how & BLANK_BEFORE) != 0 || ((p->how & BLANK_FIRST) != 0 && is_first))
        fputc('\n', p->to);
    ab_legend_grid(p->to, g, p->style, p->legend);
    keep_closing(p, g);
    if ((p->how & BLANK_AFTER) != 0 && g->n_rows > 0)
        fputc('\n', p->to);
}

/* Prints the grids of a place, and remembers their signs in `legend`; NULL = the place has a legend
 * of its own. */
static void print_place(FILE *to, const struct ab_view *v, enum ab_terminal_place place,
                        struct ab_table_style style, struct ab_legend *legend)
{
    struct ab_legend own = {0};
    struct printer p = {to, style, places[place], legend != NULL ? legend : &own, {0}};
    struct ab_topic_walk walk = {.at = {.view = v,
                                        .surface = AB_TERMINAL,
                                        .asked = style.topics,
                                        .is_verbose = style.is_verbose,
                                        .utf8 = style.utf8},
                                 .place = place,
                                 .phase = (p.how & ALL_PHASES) != 0 ? NULL : style.phase};
    const struct ab_topic *last = NULL, *topic;
    struct ab_grid g;
    for (; (topic = ab_topics_next(&walk, &g)) != NULL; last = topic) {
        if (last != NULL && walk.is_new_turn)
            end_turn(&p);
        else if (last != NULL && last != topic && (p.how & CLOSES_TOPICS) != 0)
            print_closing(&p);
        print_grid(&p, &g, last == NULL);
        ab_grid_fini(&g);
    }
    if (last != NULL)
        end_place(&p);
}

void ab_table_places(FILE *to, const struct ab_view *v, enum ab_terminal_place first,
                     enum ab_terminal_place last, struct ab_table_style style)
{
    for (unsigned place = first; place <= last; place++)
        print_place(to, v, place, style, NULL);
}

static bool has_any_result(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].backend < s->n_backends &&
            ab_backend_status_has_numbers(s->backends[s->results[i].backend].status))
            return true;
    return false;
}

static void table_notes(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_view_texts notes = {0};
    ab_view_notes(s, (style.topics & AB_TOPIC_TIME) != 0, style.utf8 ? "\u00b1" : "+-", &notes);
    for (size_t i = 0; i < notes.n; i++)
        ab_table_prose(to, style, AB_FAINT, notes.items[i]);
    ab_view_texts_fini(&notes);
}

/* ---- the answer: sentences and tables ---- */

static bool has_numbers(const struct ab_view *v)
{
    return v->session->n_results > 0 && v->ranking.n_rows > 0 &&
           v->ranking.rows[0].standing != AB_VIEW_FAILED;
}

static void add(struct ab_text *t, const char *text)
{
    ab_text_addf(t, "%s%s.", t->n > 0 ? " " : "", text);
}

static void legend_print(FILE *to, const struct ab_view *v, const struct ab_legend *legend,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    char base[AB_CELL_BYTES * 4];
    if (legend->has_unclear)
        ab_text_addf(&t, "%s~: not clearly different from %s.", t.n > 0 ? " " : "",
                     ab_format_label(base, sizeof base,
                                     AB_OWN_LABEL(&v->session->backends[v->ranking.base]), 24,
                                     style.utf8));
    if (legend->has_interval)
        add(&t, "[low, high]: 90 % interval");
    if ((legend->signs & AB_SIGN_TAIL) != 0)
        add(&t, "p99, p99.9: over calls that return a block, in all phases");
    if (legend->has_floor)
        ab_text_addf(&t, "%s<%s: below the timer's floor.", t.n > 0 ? " " : "",
                     ab_format_ns((char[AB_CELL_BYTES]){0}, v->session->timer.floor_ns, NAN));
    if ((legend->signs & AB_SIGN_AT_FLOOR) != 0)
        ab_text_addf(&t, "%sp50 of %s: the timer's floor; the call may take less.",
                     t.n > 0 ? " " : "", AB_TIME(v->session->timer.floor_ns));
    if ((legend->signs & AB_SIGN_LIVE) != 0)
        add(&t, "live: the program's live bytes at that allocator's peak");
    if ((legend->signs & AB_SIGN_AGED) != 0)
        add(&t, "aged: live bytes of the aged heap, allocated before the work; x live counts them "
                "as live");
    if ((legend->signs & AB_SIGN_DURING) != 0)
        add(&t, "in calls: resident only within a call, as both places of a block that moves");
    if ((legend->signs & AB_SIGN_DRAIN) != 0)
        ab_text_addf(&t, "%safter free: resident %s after everything was freed.",
                     t.n > 0 ? " " : "", ab_drain_names[v->ranking.drain]);
    if ((legend->signs & AB_SIGN_MULTIPLE) != 0)
        add(&t, "x live: peak divided by the most live bytes");
    ab_table_note(to, style, AB_FAINT, &t);
    ab_table_names(to, v->session, style);
    ab_footnotes_print(to, &legend->notes, style);
}

/* Prints the sentences, the ranking and the tables. */
static void answer_print(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    struct ab_legend legend = {0};
    /* tables by the values of params replace the rest, which is then only shown with -v */
    bool has_rest = v->session->n_combinations == 0 || style.topics != 0;
    ab_table_prose(to, style, AB_PLAIN, said->title);
    for (unsigned i = 0; i < said->headline.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, said->headline.sentences[i]);
    fputc('\n', to);
    if (!has_numbers(v)) {
        ab_table_names(to, v->session, style);
        return;
    }
    print_place(to, v, AB_TERMINAL_BY_VALUE, style, &legend);
    for (unsigned place = AB_TERMINAL_RANKING; place <= AB_TERMINAL_GROWTH && has_rest; place++)
        print_place(to, v, place, style, &legend);
    fputs(has_rest ? "\n" : "", to);
    legend_print(to, v, &legend, style);
    print_place(to, v, AB_TERMINAL_PREDICTION, style, NULL);
}

/* ---- warnings ---- */

/* True if the warning is about a back end that was not asked for and is not installed. With
 * is_aged, True if it cannot free single blocks and so has no row on an aged heap. */
static bool is_absent(const struct ab_view *v, const struct ab_view_warning *w, bool is_aged)
{
    if (strcmp(w->id, "absent") != 0 || w->severity != AB_VIEW_NOTE)
        return false;
    const struct ab_backend_info *b = &v->session->backends[w->backend];
    return is_aged ? b->aging.occupancy > 0 && b->never_frees : !(b->aging.occupancy > 0);
}

/* Names the back ends for which is_absent() is true, in one line. */
static void print_absent(FILE *to, const struct ab_view *v, struct ab_table_style style,
                         bool is_aged)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    const char *begin = is_aged ? "no aged heap, because they cannot free single blocks: "
                                : "not installed: ";
    struct ab_text line = {0};
    char name[4 * sizeof v->session->backends->name];
    for (size_t i = 0; i < said->warnings.n; i++) {
        const struct ab_view_warning *w = &said->warnings.items[i];
        if (is_absent(v, w, is_aged))
            ab_text_addf(&line, "%s%s", line.s == NULL ? begin : ", ",
                         ab_text_printable(name, sizeof name,
                                           ab_backend_label(&v->session->backends[w->backend])));
    }
    ab_table_note(to, style, AB_FAINT, &line);
}

static bool is_said_elsewhere(const struct ab_view *v, const struct ab_view_warning *w,
                              struct ab_table_style style)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    return (strcmp(w->id, "few-rounds") == 0 && said->headline.verdict == AB_VIEW_TOO_FEW) ||
           (strcmp(w->id, "little-work") == 0 && said->headline.verdict == AB_VIEW_TOO_LITTLE) ||
           (strcmp(w->id, "incomplete") == 0 && style.is_live) || /* the headline says so */
           is_absent(v, w, false) || is_absent(v, w, true) ||
           (strcmp(w->id, "caveat") == 0 && style.topics == 0);
}

static void print_warning(FILE *to, const struct ab_view_warning *w, struct ab_table_style style)
{
    static const char *const words[] = {
        [AB_VIEW_FAILURE] = "", [AB_VIEW_WARNING] = "warning: ", [AB_VIEW_NOTE] = "note: "};
    struct ab_text line = {0};
    ab_text_addf(&line, "%s%s", words[w->severity], w->text);
    if (w->remedy[0] != 0)
        ab_text_addf(&line, " -> %s", w->remedy);
    ab_table_note(to, style,
                  w->severity == AB_VIEW_FAILURE   ? AB_BAD
                  : w->severity == AB_VIEW_WARNING ? AB_STRONG
                                                   : AB_FAINT,
                  &line);
}

/* Prints which words -v takes. */
static void print_hint(FILE *to, struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_add(&t, "more: -v [");
    for (unsigned i = 0; i < AB_TOPIC_WORD_COUNT; i++)
        if (ab_topic_levels[i] <= AB_LEVEL_COMMON)
            ab_text_addf(&t, "%s|", ab_topic_words[i]);
    ab_text_add(&t, "phase=NAME|all], allocbench explain WORD");
    ab_table_note(to, style, AB_FAINT, &t);
}

/* Prints the end of every report: warnings and next steps. */
static void answer_end(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    struct ab_text next = {0}, end = {0};
    ab_rounds_note_end(v->session, &end);
    ab_table_note(to, style, AB_FAINT, &end);
    for (size_t i = 0; i < said->warnings.n; i++)
        if (!is_said_elsewhere(v, &said->warnings.items[i], style))
            print_warning(to, &said->warnings.items[i], style);
    print_absent(to, v, style, false);
    print_absent(to, v, style, true);
    for (unsigned i = 0; i < said->next.n; i++)
        ab_text_addf(&next, "%s%s (%s)", i == 0 ? "next: " : "; ", said->next.items[i].command,
                     said->next.items[i].why);
    ab_table_note(to, style, AB_PLAIN, &next);
    if (style.topics == 0 && has_numbers(v) && !ab_session_is_exec(v->session))
        print_hint(to, style);
}

static void print_report(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_session *s = v->session;
    answer_print(to, v, style);
    if (has_any_result(s) && !ab_session_is_exec(s)) {
        ab_table_places(to, v, AB_TERMINAL_COUNTS, AB_TERMINAL_PINS, style);
        if (style.topics != 0)
            table_notes(to, s, style);
    }
    struct ab_text unrun = {0};
    ab_rounds_note_unrun(s, &unrun);
    ab_table_note(to, style, AB_FAINT, &unrun);
    answer_end(to, v, style);
}

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct ab_view view;
    ab_format_begin(&guard);
    ab_view_make(session, &view);
    print_report(to, &view, style);
    ab_view_fini(&view);
    ab_format_end(&guard);
}
