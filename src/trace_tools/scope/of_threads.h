/* SPDX-License-Identifier: MIT
 *
 * Scopes of several threads, each by itself: workers that serve requests of their own. Where the
 * scopes of a trace are those of one thread (struct ab_scopes.is_of_thread), the others are asked for
 * here, by the same rules.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_OF_THREADS_H
#define AB_TRACE_TOOLS_SCOPE_OF_THREADS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_SCOPES_OF_THREADS_MAX = 15,  /* that are looked at: those that allocate most */
    AB_SCOPES_OF_THREADS_PART = 16, /* at least this part of what the first one does */
};

struct ab_thread_scopes {
    uint32_t thread;
    uint64_t *ends; /* as in struct ab_scopes */
    size_t n, cap;
};

struct ab_scopes_of_threads {                                /* begins as {0} */
    struct ab_thread_scopes items[AB_SCOPES_OF_THREADS_MAX]; /* that have scopes */
    size_t n;
};

#define AB_SCOPES_OF_ALL UINT32_MAX
/* Of threads beside `first`, or AB_SCOPES_OF_ALL. Reads the file two times, and once more for each that has scopes. End it
 * with ab_scopes_of_threads_fini in any case. */
enum ab_status ab_scopes_of_threads_find(const char *trace_path, bool is_partial, uint32_t first,
                                         struct ab_scopes_of_threads *out, struct ab_err *err);
void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s);

#endif
