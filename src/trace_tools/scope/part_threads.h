/* SPDX-License-Identifier: MIT
 *
 * Decides whether the scopes of a trace are global or each thread's own, for back ends with a heap
 * for each thread.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_PART_THREADS_H
#define AB_TRACE_TOOLS_SCOPE_PART_THREADS_H

#include "trace_tools/scope/of_threads.h"
#include "trace_tools/scopes.h"

/* Where scopes of all threads together were found although they are those of each by itself, *scopes
 * becomes that of the thread which allocates most. That is so where they are more than any thread has,
 * and no more than all of them have, for they take turns; or where blocks outlive them that no scope of
 * their thread ends before. *out: the other threads' scopes, where those of the trace are of a thread.
 * Nothing is done to marks. *out begins as {0}; end it with ab_scopes_of_threads_fini in any case. */
enum ab_status ab_scopes_part_threads(const char *trace_path, bool is_partial,
                                      struct ab_scopes *scopes, struct ab_scopes_of_threads *out,
                                      struct ab_err *err);

#endif
