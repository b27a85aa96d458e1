/* SPDX-License-Identifier: MIT
 *
 * The usual settings of an allocator, as rows to be measured side by side. The table is sweeps.def.
 */
#ifndef AB_BACKEND_SWEEP_H
#define AB_BACKEND_SWEEP_H

#include "core/status.h"

#include <stddef.h>

struct ab_sweep_row {
    const char *backend;  /* "jemalloc" */
    const char *spelling; /* as -b takes it: "jemalloc{MALLOC_CONF=narenas:1}" */
    const char *settings; /* the end of it; "" = none */
    const char *says;     /* what it does */
};

/* The rows of a back end, the first without settings. NULL where there are none. */
const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n);
/* The names that have rows, one after the other; NULL past the end. */
const char *ab_sweep_name(size_t index);
/* AB_USAGE where there are none, with the nearest name and the list. */
enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **rows, size_t *n,
                             struct ab_err *err);

#endif
