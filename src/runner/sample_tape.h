/* SPDX-License-Identifier: MIT
 *
 * Makes a tape of the beginning of another, for tools that are too slow for the whole tape.
 */
#ifndef AB_RUNNER_SAMPLE_TAPE_H
#define AB_RUNNER_SAMPLE_TAPE_H

#include "core/status.h"
#include "tape/tape_file.h"

#include <stdint.h>

/* Creates a tape of the first n ops; at least one, and none of a second burst. The first phase that
 * does not fit is cut after op n, later phases exist but are empty. A reset stays together with its
 * frees. The facts are those of the whole tape, so that a back end is opened in the same way.
 * Returns AB_USAGE for a tape with several lanes. Free *out with ab_tape_map_close. */
enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err);

#endif
