/* SPDX-License-Identifier: MIT
 *
 * Finds the workloads and traces that come with allocbench by name: @churn, @sqlite-index. They are
 * in configs/ and traces/ of the source tree that the program was built in. Without a source tree,
 * they are in configs/ and traces/ of the installation's share/allocbench.
 */
#ifndef AB_APP_NAMED_WORKLOAD_H
#define AB_APP_NAMED_WORKLOAD_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

enum ab_named { AB_NAMED_WORKLOAD, AB_NAMED_TRACE };

struct ab_workload_names {
    char *folder; /* absolute */
    char **names; /* sorted: "churn", "seeds/random-free" */
    size_t n, cap;
};

/* Lists the names of all workloads. Fails with AB_INPUT if there is no folder of workloads. */
enum ab_status ab_workload_names(struct ab_workload_names *out, struct ab_err *err);
void ab_workload_names_fini(struct ab_workload_names *list);
/* Returns FOLDER/NAME.yaml, malloc'ed. */
char *ab_workload_names_path(const struct ab_workload_names *list, const char *name);

/* Finds a workload or trace by name and writes its name to `name`. The extension and the folder of
 * the sources are optional: "churn", "churn.yaml", "configs/churn.yaml". Sets *is_exact to false if
 * only a similar name exists. Returns false if there is none. */
bool ab_is_named(enum ab_named kind, const char *text, char *name, size_t cap, bool *is_exact);

/* Lists the paths of all files in the group "@FOLDER", sorted by name; list and paths are
 * malloc'ed. Sets *n to 0 and *paths to NULL if there is no such group. */
enum ab_status ab_named_group(enum ab_named kind, const char *text, char ***paths, size_t *n,
                              struct ab_err *err);

/* Sets *out to the path of "@NAME", malloc'ed. Fails with AB_USAGE and the nearest name if there is
 * none. */
enum ab_status ab_named_find(enum ab_named kind, const char *text, char **out, struct ab_err *err);

#endif
