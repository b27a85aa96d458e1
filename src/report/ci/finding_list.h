/* SPDX-License-Identifier: MIT
 *
 * What a finding is, and the list of them: findings.c fills it.
 */
#ifndef AB_REPORT_CI_FINDING_LIST_H
#define AB_REPORT_CI_FINDING_LIST_H

#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    bool is_short_of_memory;
    size_t counts[AB_OUTCOME_COUNT]; /* shown only: not counted */
};

/* A new one, in which texts may be added; NULL = out of memory. */
struct ab_finding *ab_finding_list_add(struct ab_findings *findings, const char *kind,
                                       enum ab_finding_outcome outcome, const char *verdict);
void ab_finding_list_fini(struct ab_findings *findings);
/* Adds text that may be anything, made printable. */
void ab_finding_list_text(struct ab_text *to, const char *s);

/* The name of a place, as the configuration reader wrote it ("web.yaml:31:5"), taken apart. False
 * where it is none ("--gate"). `n` is the length of the file's name in it. */
bool ab_finding_list_place(const char *place, size_t *n, uint32_t *line, uint32_t *column);

#endif
