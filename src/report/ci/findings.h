/* SPDX-License-Identifier: MIT
 *
 * The verdicts of a session as the forms for CI services tell them: one finding a gate and back
 * end, a number of session->comparison, a back end; each with a full sentence. What fails the
 * command comes first.
 */
#ifndef AB_REPORT_CI_FINDINGS_H
#define AB_REPORT_CI_FINDINGS_H

#include "core/text.h"
#include "result/result.h"

enum ab_finding_outcome { /* worst first */
                          AB_OUTCOME_FAILED,
                          AB_OUTCOME_ERROR,   /* not measured, or not evaluated: fails as well */
                          AB_OUTCOME_WARNED,  /* bad, but fails nothing */
                          AB_OUTCOME_SKIPPED, /* skipped, or inconclusive */
                          AB_OUTCOME_PASSED,
                          AB_OUTCOME_COUNT
};

struct ab_finding {
    enum ab_finding_outcome outcome;
    const char *kind;    /* "gate", "comparison", "back end" or "session" */
    const char *verdict; /* "pass", "not_evaluated", "regressed", "crashed" … */
    /* Printable: no control characters, valid UTF-8. */
    struct ab_text title, sentence;
    struct ab_text file; /* s NULL = no place */
    uint32_t line, column;
    double seconds;     /* of a run of the back end; NaN = not known */
    bool is_shown_only; /* a compared number without a limit */
    size_t index;       /* before sorting */
};

struct ab_findings {
    struct ab_finding *items;
    size_t n, cap;
    size_t counts[AB_OUTCOME_COUNT]; /* shown only: not counted */
};

/* Call it between ab_format_begin and ab_format_end. */
void ab_findings_make(const struct ab_session *session, struct ab_findings *out);
void ab_findings_fini(struct ab_findings *findings);
/* "2 failed, 1 inconclusive or skipped, 14 passed"; only what there is. */
void ab_findings_count(const struct ab_findings *findings, struct ab_text *out);

/* Adds text that may be anything, made printable. */
void ab_finding_text(struct ab_text *to, const char *s);

#endif
