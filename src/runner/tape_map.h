/* SPDX-License-Identifier: MIT
 *
 * The tape as workers see it: a sealed memfd, read-only for them, made once for all runs. A tape
 * in bursts has room for the longest of them; each run begins with the first.
 */
#ifndef AB_RUNNER_TAPE_MAP_H
#define AB_RUNNER_TAPE_MAP_H

#include "core/status.h"
#include "measure/run.h"
#include "trace/feed.h"

struct ab_tape_map {
    int fd;
    void *map;
    struct ab_trace_feed *feed; /* of a tape in bursts, borrowed; else NULL */
    size_t bytes;
    const struct ab_tape_image *image;
    const uint64_t *ops;
    const struct ab_wide *wide;
    const struct ab_phase *phases;
    const uint32_t *lane_begin;
};

/* Copies the tape and frees its arrays (facts and digest stay readable). */
enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err);
/* Holds nothing yet: ab_tape_map_rewind comes first. The feed must outlive the map. */
enum ab_status ab_tape_map_open_feed(struct ab_trace_feed *feed, struct ab_tape_map *out,
                                     struct ab_err *err);
void ab_tape_map_close(struct ab_tape_map *m);

/* The first burst, or the one behind that which lies there. The worker must be waiting. Nothing to
 * do for a tape that is there as a whole. */
enum ab_status ab_tape_map_rewind(const struct ab_tape_map *m, struct ab_err *err);
enum ab_status ab_tape_map_next(const struct ab_tape_map *m, struct ab_err *err);

/* Where the op at `position` stands on the op clock of its phase. With one lane that is its
 * position. A tape has the lanes of a phase one behind the other; they run side by side, so each
 * counts as spread evenly over the whole phase. Of a tape in bursts: within the burst that lies
 * there. */
uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position);

/* Kind of the op at `position` of what lies there now, -1 for touches; its requested size through
 * *size if not NULL. */
int ab_tape_map_kind(const struct ab_tape_map *m, uint32_t position, uint64_t *size);

/* An anonymous file of `bytes` zeroes, CLOEXEC, that cannot shrink or grow any more. */
int ab_memfd(const char *name, size_t bytes);

#endif
