/* SPDX-License-Identifier: MIT
 *
 * Who the blocks of a tape belong to, for the memory pass by owner: the call site of a trace that wants
 * the memory (functions that only hand it on are passed over), else the set of a workload, else the class
 * of the size. And at which moments of the work they are looked at: marks, half of its time, what --at
 * says.
 */
#ifndef AB_APP_OWNERS_H
#define AB_APP_OWNERS_H

#include "app/options.h"
#include "core/status.h"
#include "runner/run.h"
#include "tape/tape_file.h"
#include "trace_tools/to_tape.h"

struct ab_tape;
struct ab_workload;

struct ab_flame;
struct ab_owner_sites; /* the call sites of a trace and their names */

struct ab_owner_list { /* begins as {0} */
    struct ab_owners owners;
    struct ab_owner_name *names;
    size_t n, cap;
    struct ab_owner_sites *sites;  /* NULL = there are none */
    struct ab_flame *flame;        /* borrowed: gets what each stack pins; NULL = none does */
    struct ab_trace_moments marks; /* at which they are looked at, by call, … */
    char (*mark_names)[sizeof((struct ab_owner_moment *)0)->name]; /* … and how these are called */
};

/* Does anything ask for them? `workload` may be NULL. */
bool ab_owners_are_wanted(const struct ab_options *o, const struct ab_workload *workload);
/* Of a trace that can be read again, in a pass of its own; by sizes where it has no call sites. Sets the
 * calls of `marks`, whose positions come of the tape that is made. */
enum ab_status ab_owners_of_trace(const struct ab_options *o, const char *path,
                                  struct ab_owner_list *out, struct ab_err *err);
/* Of the sets of a workload; of sizes where its tape does not say which set a request is for. */
enum ab_status ab_owners_of_sets(const struct ab_tape *tape, const struct ab_workload *workload,
                                 struct ab_owner_list *out, struct ab_err *err);
/* With the tape: the moments. AB_USAGE where --at says none of it. */
enum ab_status ab_owners_find_moments(const struct ab_options *o, const struct ab_tape_image *tape,
                                      struct ab_owner_list *list, struct ab_err *err);
void ab_owners_fini(struct ab_owner_list *list);

#endif
