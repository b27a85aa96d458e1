/* SPDX-License-Identifier: MIT
 *
 * Counts the instructions and system calls of every back end for --instr, in separate runs. One
 * round is enough, because the counts hardly depend on the state of the machine.
 */
#ifndef AB_RUNNER_COUNT_ROUND_H
#define AB_RUNNER_COUNT_ROUND_H

#include "core/status.h"
#include "core/unfinished.h"
#include "runner/run.h"
#include "tape/tape_file.h"
#include "wire/run_page.h"

#include <stdbool.h>

enum { AB_INSTR_OPS = 500000 };

struct ab_count_plan {
    const struct ab_run_context *context;
    const struct ab_case *cases; /* one for each back end of the session */
    /* session whose throughput results of the round are already stored */
    struct ab_session *session;
    uint32_t combination; /* combination whose back ends are counted */
    /* sample_ops: number of ops that callgrind counts; the counter of the processor takes the whole
     * tape */
    uint32_t round, sample_ops;
    /* callback before each run */
    void (*progress)(void *user, const char *backend, enum ab_pass pass);
    void *user;
};

/* Fills session->counting and the counts of results and null records. Where a back end has no
 * counts, records the reason. A failed count does not fail the session: returns AB_OK unless it was
 * interrupted or memory ran out. */
enum ab_status ab_count_round(const struct ab_count_plan *plan, struct ab_err *err);

#endif
