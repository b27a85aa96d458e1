/* SPDX-License-Identifier: MIT
 *
 * @churn, @sqlite-index: the workloads and traces that come with allocbench, by name. They are in
 * configs/ and traces/ of the source tree that the program was built in, else in these folders of
 * share/allocbench of where it is installed.
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

/* AB_INPUT where there is no such folder. */
enum ab_status ab_workload_names(struct ab_workload_names *out, struct ab_err *err);
void ab_workload_names_fini(struct ab_workload_names *list);
/* FOLDER/NAME.yaml, malloc'ed. */
char *ab_workload_names_path(const struct ab_workload_names *list, const char *name);

/* Is there one of this name, or (not *is_exact) of nearly this, with its extension or without and with
 * the folder of the sources before it or without ("churn", "churn.yaml", "configs/churn.yaml")? Then
 * the name is written to `name`. */
bool ab_is_named(enum ab_named kind, const char *text, char *name, size_t cap, bool *is_exact);

/* "@FOLDER", a group: the paths of all that are in it, by name; the list and each path malloc'ed. *n 0
 * and *paths NULL: there is no such group. */
enum ab_status ab_named_group(enum ab_named kind, const char *text, char ***paths, size_t *n,
                              struct ab_err *err);

/* "@NAME": the path, malloc'ed. AB_USAGE for a name that is not there, with the nearest. */
enum ab_status ab_named_find(enum ab_named kind, const char *text, char **out, struct ab_err *err);

#endif
