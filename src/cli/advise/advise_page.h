/* SPDX-License-Identifier: MIT
 *
 * `advise --html FILE`: the document of an advice as a page, with what the document has not: stacks,
 * rules and code.
 */
#ifndef AB_CLI_ADVISE_ADVISE_PAGE_H
#define AB_CLI_ADVISE_ADVISE_PAGE_H

#include "advise/advise.h"
#include "cli/options/options.h"
#include "report/output.h"

#include <jansson.h>

struct ab_advise_page { /* borrowed */
    const json_t *document;
    const struct ab_advice *advice;
    uint32_t used;           /* heaps that are advised */
    const char *base, *path; /* general malloc; of the trace */
    const char *trace;       /* its name */
    const char *arguments;   /* the path and --scope, as the rules name them */
};

/* Reads the trace once more where it has call sites. Commits *out. */
enum ab_status ab_advise_page_write(const struct ab_advise_page *page, const struct ab_options *o,
                                    struct ab_output *out, struct ab_err *err);

#endif
