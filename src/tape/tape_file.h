/* SPDX-License-Identifier: MIT
 *
 * Writes the tape file that workers map (tape/tape_image.h). Each burst is written as soon as it is
 * laid out, so that at most one burst of a long tape is in our memory. A tape that must stay in
 * memory goes into a memfd. Any other goes into an unnamed file, whose pages the system may
 * reclaim.
 */
#ifndef AB_TAPE_TAPE_FILE_H
#define AB_TAPE_TAPE_FILE_H

#include "core/status.h"
#include "tape/tape_image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tape as workers see it: a file made once for all runs, which nobody can write to any more. */

struct ab_tape_map {
    int fd;
    const struct ab_tape_image *image; /* start of the mapping */
    const struct ab_phase *phases;     /* phases of the whole tape */
    /* arrays of the first burst; in a tape that is held whole, of everything */
    const uint64_t *ops;
    const struct ab_wide *wide;
    const uint32_t *lane_begin;
};

/* Copies the tape and frees its arrays (facts and digest stay readable). */
enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err);
void ab_tape_map_close(struct ab_tape_map *m);

/* Releases the memory of a burst if it can be read again, so that at most one burst of a tape stays
 * in memory. */
void ab_tape_burst_forget(const struct ab_tape_image *image, uint32_t burst);

/* Returns the burst that contains the op at `position` of the tape. */
uint32_t ab_tape_map_find(const struct ab_tape_map *m, uint32_t position);

/* Returns the time of the op at `position` on the op clock of its phase. With one lane this is its
 * position. A burst stores the lanes of a phase one after the other although they run in parallel.
 * Each lane therefore counts as spread evenly over the burst's part of the phase. */
uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position);

/* Return the number of operations (ab_op_is_counted) before a position. The first takes a position
 * of the common order, which the memory pass uses, … */
uint32_t ab_tape_ops_before(const struct ab_tape_image *image, uint32_t position);
/* … the second one of the tape as it is stored, lane after lane. */
uint32_t ab_tape_ops_before_as_it_lies(const struct ab_tape_image *image, uint32_t position);
/* Returns the first position of the common order at which n_ops operations are done, including
 * their touches. */
uint32_t ab_tape_position_of(const struct ab_tape_image *image, uint32_t n_ops);

/* Creates an anonymous file of `bytes` zeroes, CLOEXEC, whose size is sealed. */
int ab_memfd(const char *name, size_t bytes);

/* A file that is written once and then read-only, for workers to map. It is a memfd, or an unnamed
 * file, whose pages the system may reclaim. */

struct ab_shared_file { /* {0} = no file */
    int fd;
    bool is_open;
    bool is_held;       /* a memfd */
    const char *what;   /* content, for messages; borrowed */
    const char *folder; /* folder of an unnamed file; borrowed */
    uint64_t end;       /* bytes written so far */
};

/* Creates the file. Reserves `begin` bytes for data that are written last. */
enum ab_status ab_shared_file_begin(bool is_held, const char *what, uint64_t begin,
                                    struct ab_shared_file *out, struct ab_err *err);
enum ab_status ab_shared_file_write(const struct ab_shared_file *f, uint64_t at, const void *from,
                                    size_t n, struct ab_err *err);
/* Appends at the next multiple of `align`; *offset receives the position. */
enum ab_status ab_shared_file_append(struct ab_shared_file *f, const void *from, size_t n,
                                     uint64_t align, uint64_t *offset, struct ab_err *err);
/* Starts writing to disk while the next part is made, and not during a measurement. */
void ab_shared_file_push(const struct ab_shared_file *f, uint64_t at);
/* Sets the file's size to `bytes` and makes it read-only. */
enum ab_status ab_shared_file_protect(struct ab_shared_file *f, uint64_t bytes, struct ab_err *err);
/* Maps a protected file; *fd receives its descriptor. The caller then owns the file, and `f` has
 * none. */
enum ab_status ab_shared_file_map(struct ab_shared_file *f, uint64_t bytes, int *fd,
                                  const void **out, struct ab_err *err);
void ab_shared_file_abandon(struct ab_shared_file *f);

/* Creates an unnamed CLOEXEC file in $TMPDIR, /var/tmp or /tmp. *folder receives the folder; NULL =
 * no folder allowed it. */
int ab_unnamed_file(const char **folder);

struct ab_tape_file {
    struct ab_shared_file file;
    struct ab_burst *bursts;
    size_t n_bursts, cap_bursts;
    struct ab_time_step *steps; /* of all bursts */
    size_t n_steps, cap_steps;
    uint64_t n_ops, n_counted, n_turns, n_iterations, n_thread_ends, most_bytes;
    bool has_first_ended; /* see struct ab_tape_image */
};

enum ab_status ab_tape_file_begin(bool is_held, struct ab_tape_file *out, struct ab_err *err);
/* Copies the burst to the file. */
enum ab_status ab_tape_file_add(struct ab_tape_file *f, const struct ab_tape *burst,
                                struct ab_err *err);
/* Finishes the file. `total` describes all bursts as one tape; its ops are not used. The map takes
 * over the file. */
enum ab_status ab_tape_file_end(struct ab_tape_file *f, const struct ab_tape *total,
                                struct ab_tape_map *out, struct ab_err *err);
/* Discards the file, unless the map has it. */
void ab_tape_file_abandon(struct ab_tape_file *f);

#endif
