/* SPDX-License-Identifier: MIT
 *
 * The beginning of a tape as a tape of its own, for what takes too long to be done with all of it.
 */
#ifndef AB_RUNNER_COUNTS_SAMPLE_TAPE_H
#define AB_RUNNER_COUNTS_SAMPLE_TAPE_H

#include "runner/tape/tape_image.h"

/* Its first ops, at most n and at least one: whole phases, and of the phase that does not fit what
 * comes before op n; a reset stays together with the frees that it stands for. Phases behind that are
 * there and empty. Facts are those of the whole tape, so that a back end is opened as for that. Of a
 * tape in bursts no more than its first. Of one lane only: AB_USAGE else. Ended by
 * ab_tape_map_close. */
enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err);

#endif
