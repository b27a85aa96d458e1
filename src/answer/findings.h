/* SPDX-License-Identifier: MIT
 *
 * The verdicts of a session for CI services. There is one finding per gate and back end, per number
 * of session->comparison, and per back end, each with a full sentence. Findings that fail the
 * command come first.
 */
#ifndef AB_ANSWER_FINDINGS_H
#define AB_ANSWER_FINDINGS_H

#include "core/text.h"
#include "result/result.h"

enum ab_finding_outcome { /* the worst first */
                          AB_OUTCOME_FAILED,
                          AB_OUTCOME_ERROR,   /* not measured or not evaluated; fails the command
                                                 too */
                          AB_OUTCOME_WARNED,  /* bad, but does not fail the command */
                          AB_OUTCOME_SKIPPED, /* skipped, or inconclusive */
                          AB_OUTCOME_PASSED,
                          AB_OUTCOME_COUNT
};

struct ab_finding {
    enum ab_finding_outcome outcome;
    const char *kind;    /* "gate", "comparison", "back end" or "session" */
    const char *verdict; /* "pass", "not_evaluated", "regressed", "crashed" … */
    /* printable: no control characters, valid UTF-8 */
    struct ab_text title, sentence;
    struct ab_text file; /* file in which the gate is defined; file.s NULL = none */
    uint32_t line, column;
    double seconds;     /* duration of a run of the back end; NaN = not known */
    bool is_shown_only; /* True for a compared number without a limit */
    size_t index;       /* position before sorting */
};

struct ab_findings {
    struct ab_finding *items;
    size_t n, cap;
    /* number of findings by outcome, without findings that are only shown */
    size_t counts[AB_OUTCOME_COUNT];
};

/* Creates all findings of a session. Call it between ab_format_begin and ab_format_end. */
void ab_findings_make(const struct ab_session *session, struct ab_findings *out);
/* Creates the findings of gates alone. */
void ab_findings_of_gates(const struct ab_checked *gates, uint32_t n, struct ab_findings *out);
void ab_findings_fini(struct ab_findings *findings);
/* Adds the number of findings by outcome, without zeros: "2 failed, 1 skipped or inconclusive, 14
 * passed". */
void ab_findings_count(const struct ab_findings *findings, struct ab_text *out);

/* Adds `s` to a text, made printable. */
void ab_finding_text(struct ab_text *to, const char *s);

#endif
