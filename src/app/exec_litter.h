/* SPDX-License-Identifier: MIT
 *
 * What the litter of a real program is made of: the sizes of its allocations and the most that it has
 * live, from its trace, or from a recording of it that is made first and not kept.
 */
#ifndef AB_APP_EXEC_LITTER_H
#define AB_APP_EXEC_LITTER_H

#include "app/options.h"
#include "base/litter.h"

struct ab_exec_litter { /* begins as zeroes */
    uint64_t *sizes;
    uint32_t n_sizes;
    uint64_t live_peak_bytes;
    char library[4096]; /* that makes it */
};

/* Reads o->trace, or records o->args. AB_USAGE where the program allocates nothing. */
enum ab_status ab_exec_litter_find(const struct ab_options *o, struct ab_exec_litter *out,
                                   struct ab_err *err);
void ab_exec_litter_fini(struct ab_exec_litter *l);

#endif
