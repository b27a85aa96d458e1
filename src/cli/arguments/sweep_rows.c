/* SPDX-License-Identifier: MIT
 *
 * Turns the names of --sweep into entries of -b. These are constant texts, so that the options own
 * nothing more than before.
 */
#include "cli/arguments/sweep_rows.h"

#include "backend/settings.h"
#include "backend/sweep.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* Is it an entry of -b? 1, 0; -1 when out of memory. */
static int is_there(const struct ab_options *o, const char *entry)
{
    int found = 0;
    for (size_t i = 0; i < o->n_backends && found == 0; i++) {
        char *copy = ab_strdup(o->backends[i]);
        for (char *at = copy, *next; at != NULL && found == 0; at = next) {
            next = ab_settings_comma(at);
            if (next != NULL)
                *next++ = 0;
            found = strcmp(at, entry) == 0;
        }
        free(copy);
    }
    return found;
}

static enum ab_status add_row(struct ab_options *o, const char *entry, struct ab_err *err)
{
    int found = is_there(o, entry);
    const char **grown = found == 0 ? realloc(o->backends, (o->n_backends + 2) * sizeof grown[0])
                                    : NULL;
    if (found > 0)
        return AB_OK;
    if (grown == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    o->backends = grown;
    grown[o->n_backends++] = entry;
    grown[o->n_backends] = NULL;
    return AB_OK;
}

static enum ab_status add_rows_of(struct ab_options *o, const char *name, struct ab_err *err)
{
    const struct ab_sweep_row *rows;
    size_t n;
    AB_TRY(ab_sweep_find(name, &rows, &n, err));
    for (size_t i = 0; i < n; i++)
        AB_TRY(add_row(o, rows[i].spelling, err));
    return AB_OK;
}

/* Adds what advise measures where -b names one back end, or none. */
static enum ab_status add_defaults(struct ab_options *o, struct ab_err *err)
{
    char *copy = o->n_backends == 1 ? ab_strdup(o->backends[0]) : NULL;
    bool is_list = o->n_backends > 1 || (copy != NULL && ab_settings_comma(copy) != NULL);
    free(copy);
    if (is_list)
        return AB_OK;
    if (o->n_backends == 0)
        AB_TRY(add_row(o, "glibc", err));
    return add_row(o, "libraries", err);
}

enum ab_status ab_sweep_rows_expand(struct ab_options *o, bool is_beside_defaults,
                                    struct ab_err *err)
{
    char name[128];
    if (is_beside_defaults && o->n_sweeps > 0)
        AB_TRY(add_defaults(o, err));
    for (size_t i = 0; i < o->n_sweeps; i++)
        for (const char *p = o->sweeps[i]; p != NULL; p = strchr(p, ',')) {
            p += p > o->sweeps[i];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
            AB_TRY(add_rows_of(o, name, err));
        }
    return AB_OK;
}
