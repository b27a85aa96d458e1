/* SPDX-License-Identifier: MIT
 *
 * The tape as workers see it: a sealed memfd, read-only for everybody, made once for all runs.
 */
#ifndef AB_RUNNER_TAPE_MAP_H
#define AB_RUNNER_TAPE_MAP_H

#include "core/status.h"
#include "measure/run.h"

struct ab_tape_map {
    int fd;
    void *map;
    size_t bytes;
    const struct ab_tape_image *image;
    const uint64_t *ops;
    const struct ab_wide *wide;
    const struct ab_phase *phases;
};

/* Copies the tape and frees its arrays (facts and digest stay readable). */
enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err);
void ab_tape_map_close(struct ab_tape_map *m);

/* Kind of the op at `position`, -1 for touches; its requested size through *size if not NULL. */
int ab_tape_map_kind(const struct ab_tape_map *m, uint32_t position, uint64_t *size);

/* An anonymous file of `bytes` zeroes, CLOEXEC, that cannot shrink or grow any more. */
int ab_memfd(const char *name, size_t bytes);

#endif
