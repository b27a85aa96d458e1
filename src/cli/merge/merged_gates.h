/* SPDX-License-Identifier: MIT
 *
 * Gates and claims of a merged result. Its parts have not judged them: a part is not what they speak
 * of.
 */
#ifndef AB_CLI_MERGE_MERGED_GATES_H
#define AB_CLI_MERGE_MERGED_GATES_H

#include "cli/benchmark/gate_set.h"
#include "result/result.h"

struct ab_merged_gates {
    struct ab_workload *workload; /* NULL: it has neither gates nor claims, or is a trace */
    struct ab_gate_set set;
    struct ab_phase *phases;
};

/* Those of the workload whose text the session has, and of --gate, judged: session->gates and claims,
 * malloc'ed. What cannot be read is an error, AB_CONFIG or AB_USAGE: a gate that is not judged must
 * not look like one that passed. */
enum ab_status ab_merged_gates_judge(const struct ab_options *o, struct ab_session *session,
                                     struct ab_merged_gates *out, struct ab_err *err);
/* Not before the session is written: its gates borrow from here. */
void ab_merged_gates_fini(struct ab_merged_gates *gates);

#endif
