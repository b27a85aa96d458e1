/* SPDX-License-Identifier: MIT
 *
 * An advice with its measurements, and its outputs: short texts, text for the screen, and JSON.
 */
#ifndef AB_CLI_ADVISE_ADVISE_H
#define AB_CLI_ADVISE_ADVISE_H

#include "app/advise/advising.h"
#include "core/text.h"
#include "report/table/style.h"

#include <stdio.h>

struct ab_advise_view {
    const struct ab_advice *advice;
    const struct ab_advised *measured;
    const char *trace, *base;
    double budget_ns;                       /* time limit of one scope; 0 = none */
    const struct ab_advised_budget *budget; /* NULL = none */
    const struct ab_advised_nested *nested; /* NULL or is_asked false = no nested scopes */
    const struct ab_scopes *scopes;         /* NULL = unknown */
    const struct ab_advised_pins *pins;     /* NULL or pins NULL = unknown */
    /* variant of the advice with nested scopes, if `advice` has none */
    const struct ab_advice *other;
};

/* Converts the time of a whole replay to the time per unit of the advice: per scope, or per million
 * calls. */
double ab_advise_unit_time(const struct ab_advice *a, double ns);
const char *ab_advise_unit(const struct ab_advice *a); /* Returns "scope", "call" or "M calls". */
/* Writes the proposed heap, "arena, 512 KiB x 2", to buf. Returns buf. */
const char *ab_advise_proposal(const struct ab_advice_heap *h, char *buf, size_t cap);

/* Writes a description of the heap's blocks, "96 B, 2000 at a time", to buf. Returns buf. */
const char *ab_advise_what(const struct ab_advice_heap *h, char *buf, size_t cap);
/* Returns why a heap is not advised, such as "no clear gain". */
const char *ab_advise_refusal(const struct ab_advised *m, size_t heap);
/* True if the blocks of a call site are nearly always, but not always, freed in their scope.
 * Authors of the program want to know such call sites. */
bool ab_advise_is_nearly_scoped(const struct ab_advice_group *g);
/* Writes an amount of memory to buf, "n/a" for NaN. Returns buf. */
const char *ab_advise_memory(double bytes, char *buf, size_t cap);
/* Appends the advice and its gain, or why nothing is advised. */
void ab_advise_answer(const struct ab_advise_view *v, struct ab_text *line);

/* Writes the advice as JSON (results/keys.csv, "allocbench-advice/1"). */

void ab_advise_write_json(FILE *to, const struct ab_advise_view *view);

/* Prints the advice for the screen. */

void ab_advise_print(FILE *to, const struct ab_advise_view *view, struct ab_table_style style);

#endif
