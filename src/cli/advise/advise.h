/* SPDX-License-Identifier: MIT
 *
 * An advice with its measurements, as all outputs are given it; what they call things; and the outputs.
 */
#ifndef AB_CLI_ADVISE_ADVISE_H
#define AB_CLI_ADVISE_ADVISE_H

#include "cli/advise/advise_measure.h"
#include "core/text.h"
#include "report/table/style.h"

#include <stdio.h>

/* An advice with its measurements, as all outputs are given it, and what they call things. */

struct ab_advise_view {
    const struct ab_advice *advice;
    const struct ab_advised *measured;
    const char *trace, *base;
    double budget_ns;                       /* of a scope; 0 = none */
    const struct ab_advised_budget *budget; /* NULL = none */
    const struct ab_advised_nested *nested; /* NULL, or not asked: there are no nested scopes */
    const struct ab_scopes *scopes;         /* NULL = not known */
    const struct ab_advised_pins *pins;     /* NULL, or without pins: not known */
    const struct ab_advice *other;          /* with them, where they are not in `advice` */
};

/* Time of a whole replay in the unit of the advice: of a scope, or of a million calls. */
double ab_advise_unit_time(const struct ab_advice *a, double ns);
const char *ab_advise_unit(const struct ab_advice *a); /* "scope", "call", "M calls" */
/* "arena, 512 KiB x 2": what to build. Returns buf. */
const char *ab_advise_proposal(const struct ab_advice_heap *h, char *buf, size_t cap);

/* "96 B, 2000 at a time": whose blocks these are. Returns buf. */
const char *ab_advise_what(const struct ab_advice_heap *h, char *buf, size_t cap);
/* Why a heap that is not advised is not: "no clear gain". */
const char *ab_advise_refusal(const struct ab_advised *m, size_t heap);
/* A place that nearly always frees in its scope, and not always: who reads the code wants to know. */
bool ab_advise_is_nearly_scoped(const struct ab_advice_group *g);
/* "n/a" of NaN. Returns buf. */
const char *ab_advise_memory(double bytes, char *buf, size_t cap);
/* Appends what is advised, and by how much it gains; or why nothing is. */
void ab_advise_answer(const struct ab_advise_view *v, struct ab_text *line);

/* An advice as JSON (results/README.md, "allocbench-advice/1"). */

void ab_advise_write_json(FILE *to, const struct ab_advise_view *view);

/* An advice on the screen. */

void ab_advise_print(FILE *to, const struct ab_advise_view *view, struct ab_table_style style);

#endif
