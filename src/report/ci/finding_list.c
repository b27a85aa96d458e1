/* SPDX-License-Identifier: MIT
 *
 * The growing list of findings, their texts and places.
 */
#include "report/ci/finding_list.h"

#include "core/grow.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ab_finding *ab_finding_list_add(struct ab_findings *findings, const char *kind,
                                       enum ab_finding_outcome outcome, const char *verdict)
{
    AB_GROW_ZEROED(findings->items, findings->cap, findings->n);
    struct ab_finding *f = &findings->items[findings->n];
    *f = (struct ab_finding){.outcome = outcome,
                             .kind = kind,
                             .verdict = verdict,
                             .seconds = NAN,
                             .index = findings->n++};
    return f;
}

void ab_finding_list_text(struct ab_text *to, const char *s)
{
    size_t cap = 4 * strlen(s) + 1;
    char *printable = ab_alloc(cap);
    ab_text_add(to, ab_text_printable(printable, cap, s));
    free(printable);
}

bool ab_finding_list_place(const char *place, size_t *n, uint32_t *line, uint32_t *column)
{
    const char *last = strrchr(place, ':'), *middle = last;
    unsigned at_line, at_column;
    char rest;
    while (middle != NULL && middle > place && *--middle != ':') {
    }
    if (middle == NULL || middle == place ||
        sscanf(middle, ":%u:%u%c", &at_line, &at_column, &rest) != 2 || at_line == 0)
        return false;
    *n = (size_t)(middle - place);
    *line = at_line;
    *column = at_column;
    return true;
}

void ab_finding_list_fini(struct ab_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        ab_text_fini(&findings->items[i].title);
        ab_text_fini(&findings->items[i].sentence);
        ab_text_fini(&findings->items[i].file);
    }
    free(findings->items);
    *findings = (struct ab_findings){0};
}
