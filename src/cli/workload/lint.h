/* SPDX-License-Identifier: MIT
 *
 * Finds what in a valid workload is probably not meant, or cannot be measured well, with its place.
 * It looks at the text, at the tape that was made of it, and at what the passes would sample.
 */
#ifndef AB_CLI_WORKLOAD_LINT_H
#define AB_CLI_WORKLOAD_LINT_H

#include "runner/tape/tape_image.h"
#include "workload/workload.h"

#include <stddef.h>
#include <stdint.h>

enum { AB_LINTS_MAX = 64 };

struct ab_lint {
    const char *id; /* "align", "reset", "few-samples", "few-ops", "small" */
    uint32_t line, col;
    char text[256];
};

struct ab_lints {
    struct ab_lint items[AB_LINTS_MAX];
    size_t n, n_left_out;
};

/* The workload has been compiled; `tape` is what came of it. `rounds`: of the run. By place. */
void ab_lint_workload(const struct ab_workload *w, const struct ab_tape_map *tape, uint32_t rounds,
                      struct ab_lints *out);
/* The file, as it was named. */
const char *ab_lint_file(const struct ab_workload *w);

#endif
