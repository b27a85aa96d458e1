/* SPDX-License-Identifier: MIT
 *
 * Determines the owner of each block of a tape, for the memory pass by owner. In a trace, the owner
 * is the call site that requested the memory. Functions that only pass memory on are skipped. In a
 * workload, the owner is the set, otherwise the size class. Also determines the moments at which
 * owners are measured: marks, half of the work's time, and the moments of --at.
 */
#ifndef AB_APP_OWNERS_H
#define AB_APP_OWNERS_H

#include "app/request.h"
#include "core/status.h"
#include "runner/run.h"
#include "tape/tape_file.h"
#include "trace_tools/to_tape.h"

struct ab_tape;
struct ab_workload;

struct ab_flame;
struct ab_owner_sites; /* call sites of a trace, with names */

struct ab_owner_list { /* begins as {0} */
    struct ab_owners owners;
    struct ab_owner_name *names;
    size_t n, cap;
    struct ab_owner_sites *sites; /* call sites of a trace; NULL = none */
    /* receives the bytes that each stack pins; borrowed; NULL = none */
    struct ab_flame *flame;
    struct ab_trace_moments marks; /* n_marks calls at which owners are measured */
    char (*mark_names)[sizeof((struct ab_owner_moment *)0)->name]; /* names of `marks` */
};

/* True if an option or the workload requests owners. `workload` may be NULL. */
bool ab_owners_are_wanted(const struct ab_measure_request *asked,
                          const struct ab_workload *workload);
/* True if the sets of blocks are needed, for a mapping or for the owners of pages. */
bool ab_groups_are_wanted(const struct ab_measure_request *asked);
/* Finds the owners for a trace by reading its file once more. Without call sites, owners are size
 * classes. Sets the calls of `marks`. Their positions are set when the tape is made. */
enum ab_status ab_owners_of_trace(const struct ab_measure_request *asked, const char *path,
                                  struct ab_owner_list *out, struct ab_err *err);
/* Uses the sets of a workload as owners. If the tape does not say to which set a request belongs,
 * uses the size classes. */
enum ab_status ab_owners_of_sets(const struct ab_tape *tape, const struct ab_workload *workload,
                                 struct ab_owner_list *out, struct ab_err *err);
/* Finds the positions in the tape at which owners are measured. Fails with AB_USAGE if --at names a
 * moment that the work does not have. */
enum ab_status ab_owners_find_moments(const struct ab_passes_wanted *passes,
                                      const struct ab_tape_image *tape, struct ab_owner_list *list,
                                      struct ab_err *err);
void ab_owners_fini(struct ab_owner_list *list);

#endif
