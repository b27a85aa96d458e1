/* SPDX-License-Identifier: MIT
 *
 * The rows `@map …` of a measurement: from --map, else from the sets' `via`, to cases.
 */
#ifndef AB_APP_PLACEMENT_ROWS_H
#define AB_APP_PLACEMENT_ROWS_H

#include "app/measure_tape.h"
#include "placement/rules.h"
#include "runner/run.h"

struct ab_placement_rows {
    struct ab_placement_rules *items; /* n */
    struct ab_placement *placements;  /* n: of each, once made */
    struct ab_placement *nulls; /* n: the harness's price; empty where that of an earlier one is the
                                   same */
    size_t n;
    uint32_t n_phases; /* of the tape */
    size_t first;      /* which row of the measurement is the first of them */
};

/* Reads them, and adds a row for each to `list`, behind those that are there. End it with
 * ab_placement_rows_fini in any case. */
enum ab_status ab_placement_rows_read(const struct ab_options *o, const struct ab_subject *subject,
                                      struct ab_selection_list *list, struct ab_placement_rows *out,
                                      struct ab_err *err);
/* Decides for each request of the tape which heap serves it. */
enum ab_status ab_placement_rows_make(const struct ab_options *o, struct ab_placement_rows *rows,
                                      const struct ab_subject *subject, struct ab_err *err);
/* Fills in row `row` of the measurement; does nothing where that is not a mapped one. */
void ab_placement_rows_fill(const struct ab_placement_rows *rows, size_t row, struct ab_case *c,
                            struct ab_backend_info *info);
void ab_placement_rows_fini(struct ab_placement_rows *rows);

#endif
