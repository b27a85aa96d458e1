/* SPDX-License-Identifier: MIT
 *
 * The beginning of a tape as a tape of its own, for work that is too slow for all of it.
 */
#ifndef AB_RUNNER_SAMPLE_TAPE_H
#define AB_RUNNER_SAMPLE_TAPE_H

#include "core/status.h"
#include "tape/tape_file.h"

#include <stdint.h>

/* Makes a tape of the first ops, at most n and at least one. It has whole phases, and of the first
 * phase that does not fit, the ops before op n. A reset stays together with its frees. Later phases
 * exist but are empty. The facts are those of the whole tape, so that a back end is opened in the
 * same way. Of a tape in bursts it takes at most the first burst. Returns AB_USAGE for a tape with
 * several lanes. Free with ab_tape_map_close. */
enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err);

#endif
