/* SPDX-License-Identifier: MIT
 *
 * The answer as Markdown.
 */
#include "report/ci/markdown.h"

#include "core/units_show.h"
#include "report/ci/finding_list.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ab_markdown_text(struct ab_text *to, const char *s)
{
    struct ab_text printable = {0};
    ab_finding_list_text(&printable, s);
    for (const char *c = printable.s; c != NULL && *c != 0; c++) {
        char one[3] = {*c, 0, 0};
        if (*c == '<')
            ab_text_add(to, "&lt;");
        else if (*c == '>')
            ab_text_add(to, "&gt;");
        else if (*c == '&')
            ab_text_add(to, "&amp;");
        else if (strchr("\\`*_[]|~#!", *c) != NULL)
            ab_text_add(to, (one[1] = *c, one[0] = '\\', one));
        else
            ab_text_add(to, one);
    }
    ab_text_fini(&printable);
}

static void add_time(struct ab_text *t, double ns)
{
    ab_text_addf(t, " %s |", isfinite(ns) ? AB_TIME(ns) : "n/a");
}

static void add_bytes(struct ab_text *t, double bytes)
{
    ab_text_addf(t, " %s |", isfinite(bytes) ? AB_BYTES(bytes) : "n/a");
}

static void add_rank(struct ab_text *t, const struct ab_session *s,
                     const struct ab_view_ranking *ranking, const struct ab_view_rank *r)
{
    char words[96], range[160];
    ab_text_add(t, "| ");
    ab_markdown_text(t, r->name);
    ab_text_add(t, " |");
    add_time(t, r->run_ns.median);
    ab_text_add(t, " ");
    ab_markdown_text(
        t, r->is_base ? "base"
                      : ab_view_factor_words(words, sizeof words, &r->vs, "faster", "slower"));
    ab_view_factor_interval(range, sizeof range, &r->vs);
    ab_text_add(t, !r->is_base && range[0] != 0 ? " " : "");
    ab_markdown_text(t, r->is_base ? "" : range);
    ab_text_add(t, " |");
    if (!ab_session_is_exec(s)) { /* in a program no call is timed */
        add_time(t, r->p99_ns);
        add_time(t, r->p999_ns);
    }
    add_bytes(t, r->peak_bytes);
    if (ranking->has_drain)
        add_bytes(t, r->after_free_bytes);
    ab_text_add(t, "\n");
}

static void add_ranking(struct ab_text *t, const struct ab_session *s,
                        const struct ab_view_ranking *ranking)
{
    bool is_exec = ab_session_is_exec(s);
    ab_text_addf(t, "| allocator | %s | against ", is_exec ? "wall time" : "whole run");
    ab_markdown_text(t, ranking->base != UINT32_MAX ? s->backends[ranking->base].name : "the base");
    ab_text_addf(t, " |%s peak |%s\n|---|---:|---|%s---:|%s\n", is_exec ? "" : " p99 | p99.9 |",
                 ranking->has_drain ? " after free |" : "", is_exec ? "" : "---:|---:|",
                 ranking->has_drain ? "---:|" : "");
    for (uint32_t i = 0; i < ranking->n_ranked; i++)
        add_rank(t, s, ranking, &ranking->rows[i]);
    ab_text_add(t, "\n");
}

static void add_warnings(struct ab_text *t, const struct ab_view_warnings *warnings)
{
    for (size_t i = 0; i < warnings->n; i++) {
        const struct ab_view_warning *w = &warnings->items[i];
        if (w->severity == AB_VIEW_NOTE)
            continue;
        ab_text_add(t, "- ");
        ab_markdown_text(t, w->text);
        if (w->remedy[0] != 0) {
            ab_text_add(t, "; what helps: ");
            ab_markdown_text(t, w->remedy);
        }
        ab_text_add(t, "\n");
    }
    ab_text_add(t, "\n");
}

bool ab_markdown_answer(struct ab_text *to, const struct ab_session *session)
{
    struct ab_view view;
    ab_view_make(session, &view);
    if (view.ranking.n_ranked > 0) {
        for (unsigned i = 0; i < view.headline.n_sentences; i++) {
            ab_markdown_text(to, view.headline.sentences[i]);
            ab_text_add(to, "\n");
        }
        ab_text_add(to, "\n");
        add_ranking(to, session, &view.ranking);
        add_warnings(to, &view.warnings);
    }
    ab_view_fini(&view);
    return true;
}
