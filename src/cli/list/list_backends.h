/* SPDX-License-Identifier: MIT */
#ifndef AB_CLI_LIST_LIST_BACKENDS_H
#define AB_CLI_LIST_LIST_BACKENDS_H

#include "cli/options/options.h"

/* A topic of `list`: prints on standard output, and writes --json. */
enum ab_status ab_list_backends(const struct ab_options *o, struct ab_err *err);

#endif
