/* SPDX-License-Identifier: MIT
 *
 * `list`: chooses the topic, or says which there are.
 */
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/list/list.h"
#include "cli/list/list_backends.h"
#include "cli/list/list_metrics.h"
#include "cli/list/list_workloads.h"
#include "core/text.h"

#include <string.h>

static const struct {
    const char *name, *what;
    enum ab_status (*list)(const struct ab_options *o, struct ab_err *err);
} topics[] = {
    {"backends", "allocators that can be measured here", ab_list_backends},
    {"workloads", "those that come with allocbench", ab_list_workloads},
    {"metrics", "units, and how gates name them", ab_list_metrics},
};

const char *ab_list_topic(size_t i)
{
    return i < AB_ARRAY_LEN(topics) ? topics[i].name : NULL;
}

enum ab_status ab_cmd_list(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(topics)];
    (void)exit_code;
    if (o->n_args == 0 && o->json == NULL) {
        for (size_t i = 0; i < AB_ARRAY_LEN(topics); i++)
            printf("allocbench list %-11s %s\n", topics[i].name, topics[i].what);
        return AB_OK;
    }
    if (o->n_args != 1)
        return ab_fail(err, AB_USAGE,
                       "list takes one topic: allocbench list backends|workloads|metrics");
    for (size_t i = 0; i < AB_ARRAY_LEN(topics); i++)
        if (strcmp(o->args[0], names[i] = topics[i].name) == 0)
            return topics[i].list(o, err);
    const char *nearest = ab_text_nearest(o->args[0], names, AB_ARRAY_LEN(topics));
    const char *shown = AB_SHOWN(128, o->args[0]);
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "list: \"%s\" is not a topic of list; did you mean \"%s\"?",
                       shown, nearest);
    return ab_fail(err, AB_USAGE,
                   "list: \"%s\" is not a topic of list; allowed: backends, workloads, metrics",
                   shown);
}
