/* SPDX-License-Identifier: MIT
 *
 * From what libcyaml loaded to valid records: read.c the top, sets and what is simple,
 * read_phase.c, read_verb.c the bodies, gate_lines.c gates and claims.
 */
#ifndef AB_WORKLOAD_PARSE_READ_H
#define AB_WORKLOAD_PARSE_READ_H

#include "workload/parse/read_entries.h"
#include "workload/parse/schema.h"

/* Fills r->w; errors go to r->diag, and reading goes on after each. */
void ab_read_workload(struct ab_reader *r, const struct ab_raw_top *raw,
                      const struct ab_workload_options *options);

void ab_read_phases(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_phase *raw,
                    unsigned n);

/* `do:` of a phase or a repeat. The result belongs to the caller, also after an error. */
void ab_read_body(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                  unsigned n, struct ab_verb **body, size_t *n_body);
void ab_body_free(struct ab_verb *body, size_t n_body);

#endif
