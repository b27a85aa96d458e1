/* SPDX-License-Identifier: MIT
 *
 * Makes the rows "@map …" of a measurement from --map, else from the `via` of a workload's sets.
 */
#ifndef AB_APP_PLACEMENT_ROWS_H
#define AB_APP_PLACEMENT_ROWS_H

#include "app/measure_tape.h"
#include "placement/rules.h"
#include "runner/run.h"

struct ab_placement_rows {
    struct ab_placement_rules *items; /* n */
    struct ab_placement *placements;  /* n placements; set by ab_placement_rows_make() */
    /* n placements with null heaps, which measure the harness overhead. Empty if an earlier row has
     * the same */
    struct ab_placement *nulls;
    size_t n;
    uint32_t n_phases; /* number of phases in the tape */
    size_t first;      /* index of the first mapped row in the measurement */
};

/* Reads the mappings and appends a row for each to `list`. Release *out with
 * ab_placement_rows_fini() in any case. */
enum ab_status ab_placement_rows_read(const struct ab_measure_request *asked,
                                      const struct ab_subject *subject,
                                      struct ab_selection_list *list, struct ab_placement_rows *out,
                                      struct ab_err *err);
/* Creates the placements: decides for each row which heap serves each request of the tape. */
enum ab_status ab_placement_rows_make(const struct ab_measure_request *asked,
                                      struct ab_placement_rows *rows,
                                      const struct ab_subject *subject, struct ab_err *err);
/* Completes row `row` of the measurement; does nothing if it is not a mapped row. */
void ab_placement_rows_fill(const struct ab_placement_rows *rows, size_t row, struct ab_case *c,
                            struct ab_backend_info *info);
void ab_placement_rows_fini(struct ab_placement_rows *rows);

#endif
