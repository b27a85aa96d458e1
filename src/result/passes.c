/* SPDX-License-Identifier: MIT
 *
 * Defines which number comes from which pass.
 */
#include "result/passes.h"

#include "result/numbers.h"

#include <stdio.h>

const char *const ab_pass_names[AB_PASS_COUNT + 1] = {[AB_PASS_VERIFY] = "pre-flight",
                                                      [AB_PASS_THROUGHPUT] = "throughput",
                                                      [AB_PASS_LATENCY] = "latency",
                                                      [AB_PASS_TAIL] = "tail",
                                                      [AB_PASS_MEMORY] = "memory",
                                                      [AB_PASS_CHECK] = "check",
                                                      [AB_PASS_INSTRUCTIONS] = "instructions",
                                                      [AB_PASS_SYSTEM_CALLS] = "system calls",
                                                      [AB_PASS_SETTINGS] = "settings",
                                                      [AB_PASS_COUNT] = ""};

bool ab_pass_is_in(const struct ab_pass_plan *plan, enum ab_pass pass, uint32_t round)
{
    return !plan->is_known || pass == AB_PASS_THROUGHPUT || round < plan->rounds[pass];
}

bool ab_pass_is_planned(const struct ab_pass_plan *plan, enum ab_pass pass)
{
    return ab_pass_is_in(plan, pass, 0);
}

uint32_t ab_pass_round_count(const struct ab_session *s, enum ab_pass pass)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++)
        n += ab_pass_is_in(&s->passes, pass, s->rounds[i].index);
    return n;
}

enum ab_pass ab_field_pass(const struct ab_field *field)
{
    switch (field->offset) {
    case offsetof(struct ab_result, n):
    case offsetof(struct ab_result, overflow):
    case offsetof(struct ab_result, min):
    case offsetof(struct ab_result, mean):
    case offsetof(struct ab_result, latency_pass_ns_per_op):
    case offsetof(struct ab_result, latency_quiet_percent):
    case offsetof(struct ab_result, n_left_out):
        return AB_PASS_LATENCY;
    case offsetof(struct ab_result, max):
    case offsetof(struct ab_result, live_peak_blocks):
    /* from both passes, but complete only with the tail pass */
    case offsetof(struct ab_result, n_scheduler):
    case offsetof(struct ab_result, scheduler_max_ns):
    case offsetof(struct ab_result, max_least_ns):
        return AB_PASS_TAIL;
    default:
        break;
    }
    return field->group == AB_FIELD_QUANTILE ? AB_PASS_LATENCY
           : field->group == AB_FIELD_TAIL   ? AB_PASS_TAIL
                                             : AB_PASS_THROUGHPUT;
}

void ab_pass_why_missing(const struct ab_session *s, enum ab_pass pass, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s", "");
    if (!ab_pass_is_planned(&s->passes, pass))
        snprintf(buf, cap,
                 s->is_strict && pass != AB_PASS_MEMORY
                     ? "the %s pass does not run with --order strict"
                     : "the %s pass did not run (--passes)",
                 ab_pass_names[pass]);
    else if (s->n_rounds > 0 && ab_pass_round_count(s, pass) == 0)
        snprintf(buf, cap, "the %s pass did not run in these rounds", ab_pass_names[pass]);
}
