/* SPDX-License-Identifier: MIT
 *
 * Lines of `gates:` and `claims:`. The workload only keeps them and knows where they are: what
 * they may speak of (back ends, numbers) is known to the command that runs it.
 */
#ifndef AB_WORKLOAD_PARSE_GATE_LINES_H
#define AB_WORKLOAD_PARSE_GATE_LINES_H

#include "workload/parse/yaml_index.h"

struct ab_remark {
    struct ab_node node; /* a copy; its text is the gate or the claim */
    char *says, *source; /* of a claim, never NULL there; NULL of a gate */
    bool is_warning;     /* of a gate: level: warn */
};

struct ab_remarks {
    struct ab_remark *items;
    size_t n;
};

struct ab_workload;
const struct ab_remarks *ab_workload_gates(const struct ab_workload *w);
const struct ab_remarks *ab_workload_claims(const struct ab_workload *w);
/* The file as named and as read, for messages about them. */
struct ab_source_text ab_workload_source(const struct ab_workload *w);

void ab_remarks_fini(struct ab_remarks *remarks);

struct ab_reader;
struct ab_raw_claim;
/* Texts, or maps {gate: TEXT, level: warn}. */
void ab_read_gates(const struct ab_reader *r, const struct ab_node *list);
void ab_read_claims(const struct ab_reader *r, const struct ab_node *list,
                    const struct ab_raw_claim *raw, unsigned n);

#endif
