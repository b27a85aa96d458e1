/* SPDX-License-Identifier: MIT
 *
 * Who the blocks of a tape belong to, for the memory pass by owner: the call site of a trace that wants
 * the memory (functions that only hand it on are passed over), else the set of a workload, else the class
 * of the size.
 */
#ifndef AB_APP_OWNERS_H
#define AB_APP_OWNERS_H

#include "app/options.h"
#include "core/status.h"
#include "runner/run.h"
#include "tape/tape_file.h"

struct ab_tape;
struct ab_workload;

struct ab_owner_list { /* begins as {0} */
    struct ab_owners owners;
    struct ab_owner_name *names;
    size_t n, cap;
};

/* Does anything ask for them? `workload` may be NULL. */
bool ab_owners_are_wanted(const struct ab_options *o, const struct ab_workload *workload);
/* Of a trace that can be read again, in a pass of its own. */
enum ab_status ab_owners_of_sites(const struct ab_options *o, const char *path,
                                  struct ab_owner_list *out, struct ab_err *err);
/* Of the sets of a workload; of sizes where its tape does not say which set a request is for. */
enum ab_status ab_owners_of_sets(const struct ab_tape *tape, const struct ab_workload *workload,
                                 struct ab_owner_list *out, struct ab_err *err);
void ab_owners_of_sizes(struct ab_owner_list *out);
void ab_owners_fini(struct ab_owner_list *list);

#endif
