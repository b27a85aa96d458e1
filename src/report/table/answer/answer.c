/* SPDX-License-Identifier: MIT
 *
 * The order of the answer, its sentences and warnings.
 */
#include "report/table/answer/answer.h"

#include "core/text.h"
#include "report/table/answer/table_peak.h"
#include "report/table/answer/table_phases.h"
#include "report/table/answer/table_ranking.h"
#include "report/table/session/table_program.h"
#include "report/table/session/table_rounds.h"
#include "report/table/session/table_witness.h"

#include <string.h>

static bool has_numbers(const struct ab_view *v)
{
    return v->session->n_results > 0 && v->ranking.n_rows > 0 &&
           v->ranking.rows[0].standing != AB_VIEW_FAILED;
}

void ab_answer_print(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    ab_table_prose(to, style, AB_PLAIN, v->title);
    for (unsigned i = 0; i < v->headline.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, v->headline.sentences[i]);
    fputc('\n', to);
    if (!has_numbers(v))
        return;
    ab_table_ranking(to, v, style, &legend);
    if (ab_session_is_exec(v->session)) {
        ab_table_program(to, v, style, &legend);
    } else {
        ab_table_phases(to, v, style, &legend);
        ab_table_calls(to, v, style, &legend);
        ab_table_peak(to, v, style, &legend);
    }
    fputc('\n', to);
    ab_legend_print(to, v, &legend, style);
    if (ab_session_is_exec(v->session))
        ab_table_witness(to, v, style);
}

/* ---- warnings ---- */

/* What is not installed and was not asked for, in one line. */
static void print_absent(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    char name[4 * sizeof v->session->backends->name];
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct ab_view_warning *w = &v->warnings.items[i];
        if (strcmp(w->id, "absent") == 0 && w->severity == AB_VIEW_NOTE)
            ab_text_addf(
                &line, "%s%s", line.s == NULL ? "not installed: " : ", ",
                ab_text_printable(name, sizeof name, v->session->backends[w->backend].name));
    }
    if (line.s != NULL)
        ab_table_prose(to, style, AB_FAINT, line.s);
    ab_text_fini(&line);
}

static bool is_said_elsewhere(const struct ab_view *v, const struct ab_view_warning *w,
                              struct ab_table_style style)
{
    return (strcmp(w->id, "few-rounds") == 0 && v->headline.verdict == AB_VIEW_TOO_FEW) ||
           (strcmp(w->id, "little-work") == 0 && v->headline.verdict == AB_VIEW_TOO_LITTLE) ||
           (strcmp(w->id, "incomplete") == 0 && style.is_live) || /* the headline */
           (strcmp(w->id, "absent") == 0 && w->severity == AB_VIEW_NOTE) ||
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
    if (line.s != NULL)
        ab_table_prose(to, style,
                       w->severity == AB_VIEW_FAILURE   ? AB_BAD
                       : w->severity == AB_VIEW_WARNING ? AB_STRONG
                                                        : AB_FAINT,
                       line.s);
    ab_text_fini(&line);
}

void ab_answer_end(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_text next = {0}, end = {0};
    ab_rounds_note_end(v->session, &end);
    if (end.n > 0)
        ab_table_prose(to, style, AB_FAINT, end.s);
    ab_text_fini(&end);
    for (size_t i = 0; i < v->warnings.n; i++)
        if (!is_said_elsewhere(v, &v->warnings.items[i], style))
            print_warning(to, &v->warnings.items[i], style);
    print_absent(to, v, style);
    for (unsigned i = 0; i < v->next.n; i++)
        ab_text_addf(&next, "%s%s (%s)", i == 0 ? "next: " : "; ", v->next.items[i].command,
                     v->next.items[i].why);
    if (next.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, next.s);
    if (style.topics == 0 && has_numbers(v) && !ab_session_is_exec(v->session))
        ab_table_prose(to, style, AB_FAINT,
                       "more: -v [time|size|worst|memory|phase=NAME|all], allocbench explain WORD");
    ab_text_fini(&next);
}
