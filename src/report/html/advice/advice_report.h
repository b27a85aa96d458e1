/* SPDX-License-Identifier: MIT
 *
 * An advice as one HTML file, in the frame of the report: what is proposed and what it gains, the
 * budget, what stays in malloc and why, blocks that outlive their scope, flame graphs, and the rules
 * and the code to copy. All numbers are those of the document of `advise --json`. All texts may be
 * hostile.
 */
#ifndef AB_REPORT_HTML_ADVICE_ADVICE_REPORT_H
#define AB_REPORT_HTML_ADVICE_ADVICE_REPORT_H

#include "report/flame/flame.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct ab_advice_report { /* borrowed */
    const json_t *document;
    const char *rules; /* as `-o` writes them */
    const char *code;  /* as `--code` does; NULL = nothing is advised */
    const struct ab_stacks
        *stacks; /* of kind 0: malloc, n: heap number n of the document, from 1 */
};

/* False: out of memory. Errors of the stream are found by whoever commits the file. */
bool ab_advice_report_write(FILE *to, const struct ab_advice_report *report);

#endif
