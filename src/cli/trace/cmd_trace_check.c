/* SPDX-License-Identifier: MIT
 *
 * `trace check`: proves each file, and prints one line for it.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "trace_tools/check_trace.h"

enum ab_status ab_trace_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_trace_info info;
    for (size_t i = 1; i < o->n_args; i++) {
        ab_trace_watch_begin(&watch, o, o->args[i], &walk);
        enum ab_status status = ab_trace_check(&walk, &info, err);
        ab_trace_watch_end(&watch);
        if (status == AB_INPUT) { /* the others are checked all the same */
            fflush(stdout);
            fprintf(stderr, "allocbench: %s\n", err->text);
            *exit_code = ab_status_exit_code(AB_INPUT);
        } else if (status != AB_OK) {
            return status;
        } else {
            printf("%s: ok, %llu events%s\n", AB_SHOWN(600, o->args[i]),
                   (unsigned long long)info.events,
                   info.is_partial ? " (partial: its end is missing)" : "");
        }
    }
    return AB_OK;
}
