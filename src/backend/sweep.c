/* SPDX-License-Identifier: MIT
 *
 * Looks the rows of a name up; those of one name follow each other in the table.
 */
#include "backend/sweep.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/text.h"

#include <string.h>

enum { NAMES_MAX = 32 };

static const struct ab_sweep_row rows[] = {
#define AB_SWEEP(backend, settings, says) {#backend, #backend settings, settings, says},
#include "backend/sweeps.def"
#undef AB_SWEEP
};

const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n)
{
    const struct ab_sweep_row *first = NULL;
    *n = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].backend, backend) == 0) {
            first = first != NULL ? first : &rows[i];
            (*n)++;
        }
    return first;
}

const char *ab_sweep_name(size_t index)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
        if (rows[i].settings[0] == 0 && index-- == 0)
            return rows[i].backend;
    return NULL;
}

enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **out, size_t *n,
                             struct ab_err *err)
{
    const char *names[NAMES_MAX];
    char list[256] = "";
    size_t n_names = 0;
    if ((*out = ab_sweep_rows(backend, n)) != NULL)
        return AB_OK;
    for (; n_names < NAMES_MAX && ab_sweep_name(n_names) != NULL; n_names++) {
        names[n_names] = ab_sweep_name(n_names);
        ab_text_join(list, sizeof list, ", ", names[n_names]);
    }
    const char *nearest = ab_text_nearest(backend, names, n_names);
    return ab_fail(err, AB_USAGE,
                   "--sweep: there is no list of settings for \"%s\"%s%s%s Known: %s",
                   AB_SHOWN(128, backend), nearest != NULL ? "; did you mean \"" : ".",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", list);
}
