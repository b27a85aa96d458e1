/* SPDX-License-Identifier: MIT
 *
 * The topics of `list`.
 */
#ifndef AB_CLI_CMD_LIST_H
#define AB_CLI_CMD_LIST_H

#include "cli/options.h"

#include <stddef.h>

struct ab_list_topic {
    const char *name, *what;
    /* Prints the topic on standard output, and writes the document of --json. */
    enum ab_status (*list)(const struct ab_options *o, struct ab_err *err);
};

extern const struct ab_list_topic ab_list_topics[];
extern const size_t ab_list_topic_count;

#endif
