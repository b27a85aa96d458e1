/* SPDX-License-Identifier: MIT
 *
 * An advice on the screen.
 */
#ifndef AB_CLI_ADVISE_ADVISE_TEXT_H
#define AB_CLI_ADVISE_ADVISE_TEXT_H

#include "cli/advise/advise_budget.h"
#include "cli/advise/advise_forms.h"
#include "cli/advise/advise_measure.h"
#include "report/table/style.h"

#include <stdio.h>

struct ab_advise_view {
    const struct ab_advice *advice;
    const struct ab_advised *measured;
    const char *trace, *base;
    double budget_ns;                       /* of a scope; 0 = none */
    const struct ab_advised_budget *budget; /* NULL = none */
    const struct ab_advised_nested *nested; /* NULL, or not asked: there are no nested scopes */
    const struct ab_advised_forms *forms;   /* of heaps of several threads; NULL = not measured */
    const struct ab_advice *other;          /* with them, where they are not in `advice` */
};

void ab_advise_print(FILE *to, const struct ab_advise_view *view, struct ab_table_style style);

/* Time of a whole replay in the unit of the advice: of a scope, or of a million calls. */
double ab_advise_unit_time(const struct ab_advice *a, double ns);
const char *ab_advise_unit(const struct ab_advice *a); /* "scope", "M calls" */
/* "arena, 512 KiB x 2": what to build. Returns buf. */
const char *ab_advise_proposal(const struct ab_advice_heap *h, char *buf, size_t cap);

#endif
