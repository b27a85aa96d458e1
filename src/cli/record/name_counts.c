/* SPDX-License-Identifier: MIT
 *
 * Counts names, and prints them as a list with the most frequent first.
 */
#include "cli/record/name_counts.h"

#include "base/bits.h"
#include "core/grow.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static struct ab_name_count *find(struct ab_name_counts *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->names[i].name, name) == 0)
            return &c->names[i];
    return NULL;
}

static struct ab_name_count *append(struct ab_name_counts *c, const char *name)
{
    if (!AB_GROW(c->names, c->cap, c->n))
        return NULL;
    struct ab_name_count *added = &c->names[c->n++];
    *added = (struct ab_name_count){.n = 0};
    snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

void ab_name_counts_add(struct ab_name_counts *c, const char *name)
{
    char shown[sizeof c->names[0].name];
    ab_text_printable(shown, sizeof shown, name);
    struct ab_name_count *found = find(c, shown);
    if (found == NULL)
        found = append(c, shown);
    if (found != NULL)
        found->n++;
    c->total++;
}

static int by_count(const void *a, const void *b)
{
    const struct ab_name_count *x = a, *y = b;
    return x->n != y->n ? AB_COMPARE(y->n, x->n) : strcmp(x->name, y->name);
}

void ab_name_counts_print(FILE *to, struct ab_name_counts *c)
{
    enum { SHOWN_MOST = 10 };
    uint64_t shown = 0;
    if (c->n > 0)
        qsort(c->names, c->n, sizeof c->names[0], by_count);
    for (size_t i = 0; i < c->n && i < SHOWN_MOST; i++) {
        fprintf(to, "%s%s", i == 0 ? "" : ", ", c->names[i].name);
        if (c->names[i].n > 1)
            fprintf(to, " (%llu)", (unsigned long long)c->names[i].n);
        shown += c->names[i].n;
    }
    if (shown < c->total)
        fprintf(to, "%s%llu other%s", shown > 0 ? " and " : "",
                (unsigned long long)(c->total - shown), c->total - shown == 1 ? "" : "s");
}

void ab_name_counts_fini(struct ab_name_counts *c)
{
    free(c->names);
    *c = (struct ab_name_counts){.n = 0};
}
