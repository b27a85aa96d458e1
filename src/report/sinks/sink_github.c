/* SPDX-License-Identifier: MIT
 *
 * Writes annotations of GitHub Actions: lines "::error file=F,line=L,title=T::message" that its
 * runner finds in the log. GitHub shows ten of a kind per step, so the last one counts the rest.
 */
#include "report/sinks/sinks.h"

#include "answer/findings.h"
#include "document/suite_document.h"
#include "result/shown.h"

#include <inttypes.h>
#include <string.h>

enum { MOST = 10 };

/* Escapes % CR LF in messages, and also ':' and ',' in properties. */
static void put_escaped(FILE *to, const char *s, bool is_property)
{
    const char *special = is_property ? "%\r\n:," : "%\r\n";
    for (; *s != 0; s++) {
        if (strchr(special, *s) != NULL)
            fprintf(to, "%%%02X", (unsigned char)*s);
        else
            fputc(*s, to);
    }
}

static void put_name(FILE *to, const char *name)
{
    struct ab_text printable = {0};
    ab_finding_text(&printable, name);
    put_escaped(to, printable.s != NULL ? printable.s : "", true);
    ab_text_fini(&printable);
}

/* Removes leading "./", because GitHub names files from the root of the repository. */
static const char *without_dot(const char *file)
{
    while (file[0] == '.' && file[1] == '/')
        for (file += 2; *file == '/'; file++) {
        }
    return file;
}

static void put_annotation(FILE *to, const char *command, const char *name,
                           const struct ab_finding *f)
{
    fprintf(to, "::%s ", command);
    if (f->file.s != NULL) {
        fputs("file=", to);
        put_escaped(to, without_dot(f->file.s), true);
        fprintf(to, ",line=%" PRIu32 ",col=%" PRIu32 ",", f->line, f->column);
    }
    fprintf(to, "title=allocbench %s%%3A ", f->kind);
    put_escaped(to, f->title.s, true);
    fputs(" in ", to);
    put_name(to, name);
    fputs("::", to);
    put_escaped(to, f->sentence.s, false);
    fputc('\n', to);
}

/* True if a finding is an error, which fails the command; with is_error false: if it is a
 * warning. */
static bool is_of(const struct ab_finding *f, bool is_error)
{
    if (f->is_shown_only)
        return false;
    if (f->outcome == AB_OUTCOME_FAILED || f->outcome == AB_OUTCOME_ERROR)
        return is_error;
    return !is_error &&
           (f->outcome == AB_OUTCOME_WARNED || strcmp(f->verdict, "inconclusive") == 0);
}

static void put_kind(FILE *to, const char *name, const struct ab_findings *all, bool is_error)
{
    const char *command = is_error ? "error" : "warning";
    size_t n = 0, n_shown = 0;
    for (size_t i = 0; i < all->n; i++)
        n += is_of(&all->items[i], is_error);
    size_t most = n > MOST ? MOST - 1 : n;
    for (size_t i = 0; i < all->n && n_shown < most; i++) {
        if (!is_of(&all->items[i], is_error))
            continue;
        put_annotation(to, command, name, &all->items[i]);
        n_shown++;
    }
    if (n > most)
        fprintf(to, "::%s title=allocbench::and %zu more; the log has them all\n", command,
                n - most);
}

/* Writes the annotations of `name`, and frees the findings. */
static void put_all(FILE *to, const char *name, struct ab_findings *all)
{
    put_kind(to, name, all, true);
    put_kind(to, name, all, false);
    ab_findings_fini(all);
}

void ab_sink_github(FILE *to, const struct ab_session *session)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_findings_make(session, &all);
    put_all(to, session->name, &all);
    ab_format_end(&guard);
}

void ab_suite_github(FILE *to, const struct ab_suite *suite)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    for (uint32_t i = 0; i < suite->n; i++)
        if (suite->items[i].document != NULL) {
            ab_findings_make(&suite->items[i].stored.session, &all);
            put_all(to, suite->items[i].name, &all);
        }
    ab_findings_of_gates(suite->summary.gates, suite->summary.n_gates, &all);
    put_all(to, AB_SUITE_MEAN, &all);
    ab_format_end(&guard);
}
