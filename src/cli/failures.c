/* SPDX-License-Identifier: MIT
 *
 * Prints what failed: back ends that a result has no numbers of, and, in few words, verdicts.
 */
#include "cli/failures.h"

#include "core/text.h"
#include "report/ci/findings.h"
#include "report/format.h"

#include <stdio.h>
#include <string.h>

/* Is it a failure, or does a default list name what is not there? */
static bool is_error(const struct ab_backend_info *b)
{
    return b->was_named || b->status != AB_BACKEND_ABSENT;
}

int ab_failures_tell(const struct ab_session *session, bool is_quiet)
{
    return ab_failures_tell_rest(session, "", NULL, is_quiet);
}

static bool failed_in(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return !ab_backend_status_has_numbers(s->backends[i].status);
    return false;
}

int ab_failures_tell_rest(const struct ab_session *session, const char *where,
                          const struct ab_session *told, bool is_quiet)
{
    int exit_code = 0;
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i];
        char name[300], reason[1400];
        if (ab_backend_status_has_numbers(b->status) || (told != NULL && failed_in(told, b->name)))
            continue;
        if (is_error(b))
            exit_code = ab_status_exit_code(AB_BACKEND);
        if (is_error(b) || !is_quiet)
            fprintf(stderr, "allocbench: %s: %s%s: %s: %s\n", is_error(b) ? "error" : "warning",
                    where, ab_text_printable(name, sizeof name, b->name),
                    ab_backend_status_name(b->status),
                    ab_text_printable(reason, sizeof reason, b->reason));
    }
    return exit_code;
}

/* Back ends that failed are told of by themselves. */
static bool is_told(const struct ab_finding *f, bool fails_inconclusive)
{
    bool is_verdict = strcmp(f->kind, "gate") == 0 || strcmp(f->kind, "comparison") == 0;
    bool is_bad = f->outcome == AB_OUTCOME_FAILED || f->outcome == AB_OUTCOME_ERROR ||
                  (fails_inconclusive && strcmp(f->verdict, "inconclusive") == 0);
    return is_verdict && is_bad && !f->is_shown_only;
}

void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    if (ab_findings_make(session, &all))
        for (size_t i = 0; i < all.n; i++)
            if (is_told(&all.items[i], fails_inconclusive))
                fprintf(stderr, "allocbench: %s: %s: %s\n", all.items[i].kind, all.items[i].title.s,
                        all.items[i].sentence.s);
    ab_finding_list_fini(&all);
    ab_format_end(&guard);
}
