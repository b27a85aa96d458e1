/* SPDX-License-Identifier: MIT
 *
 * Determines the litter (aged heap) for a real program: the sizes of its allocations and its peak
 * of live bytes. Both come from its trace, or from a temporary recording.
 */
#ifndef AB_APP_EXEC_AGING_H
#define AB_APP_EXEC_AGING_H

#include "app/request.h"
#include "base/aging.h"

struct ab_program_command;

struct ab_exec_aging { /* begins as {0} */
    uint64_t *sizes;
    uint32_t n_sizes;
    uint64_t live_peak_bytes;
    char library[4096]; /* path of the library that creates the litter */
};

/* Reads asked->trace, or records the command. Fails with AB_USAGE if the program allocates
 * nothing. */
enum ab_status ab_exec_aging_find(const struct ab_exec_request *asked,
                                  const struct ab_program_command *command,
                                  struct ab_exec_aging *out, struct ab_err *err);
void ab_exec_aging_fini(struct ab_exec_aging *l);

#endif
