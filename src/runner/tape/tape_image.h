/* SPDX-License-Identifier: MIT
 *
 * The tape as workers see it: a file that nobody can write to any more, made once for all runs.
 */
#ifndef AB_RUNNER_TAPE_TAPE_IMAGE_H
#define AB_RUNNER_TAPE_TAPE_IMAGE_H

#include "wire/run.h"

struct ab_tape_map {
    int fd;
    const struct ab_tape_image *image; /* what is mapped begins with it */
    const struct ab_phase *phases;     /* of the whole tape */
    /* of the first burst: of a tape that is held whole, all there is */
    const uint64_t *ops;
    const struct ab_wide *wide;
    const uint32_t *lane_begin;
};

/* Copies the tape and frees its arrays (facts and digest stay readable). */
enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err);
void ab_tape_map_close(struct ab_tape_map *m);

/* The burst that holds the op at `position` of the tape. */
uint32_t ab_tape_map_find(const struct ab_tape_map *m, uint32_t position);

/* Returns the place of the op at `position` on the op clock of its phase. With one lane that is its
 * position. A burst has the lanes of a phase one after the other; they run side by side, so each
 * counts as spread evenly over the burst's whole phase. */
uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position);

/* An anonymous file of `bytes` zeroes, CLOEXEC, that cannot shrink or grow any more. */
int ab_memfd(const char *name, size_t bytes);

#endif
