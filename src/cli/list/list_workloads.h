/* SPDX-License-Identifier: MIT */
#ifndef AB_CLI_LIST_LIST_WORKLOADS_H
#define AB_CLI_LIST_LIST_WORKLOADS_H

#include "cli/options/options.h"

/* A topic of `list`: prints on standard output, and writes --json. */
enum ab_status ab_list_workloads(const struct ab_options *o, struct ab_err *err);

#endif
