/* SPDX-License-Identifier: MIT
 *
 * @churn: the workloads that come with allocbench, by name. They are in configs/ of the source tree
 * that the program was built in, else in share/allocbench/configs of where it is installed.
 */
#ifndef AB_CLI_ARGUMENTS_NAMED_WORKLOAD_H
#define AB_CLI_ARGUMENTS_NAMED_WORKLOAD_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_workload_names {
    char *folder; /* absolute */
    char **names; /* sorted: "churn", "seeds/random-free" */
    size_t n;
};

/* AB_INPUT where there is no such folder. */
enum ab_status ab_workload_names(struct ab_workload_names *out, struct ab_err *err);
void ab_workload_names_fini(struct ab_workload_names *list);
/* FOLDER/NAME.yaml, malloc'ed; NULL when out of memory. */
char *ab_workload_names_path(const struct ab_workload_names *list, const char *name);

/* Is there a workload of this name, with .yaml behind it or without ("churn", "churn.yaml")? Then it is
 * written to `name` without. */
bool ab_workload_is_named(const char *text, char *name, size_t cap);

/* "@NAME": the path, malloc'ed. AB_USAGE for a name that is not there, with the nearest. */
enum ab_status ab_named_workload(const char *text, char **out, struct ab_err *err);

#endif
