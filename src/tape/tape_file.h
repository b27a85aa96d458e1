/* SPDX-License-Identifier: MIT
 *
 * Writes the tape file that runs map (tape/tape_image.h): burst by burst, each as soon as it is laid
 * down, so that of a long tape no more than one burst lies in our memory. What is to be held whole
 * goes into a memfd, the rest into a file without a name, where the system may take its pages back.
 */
#ifndef AB_TAPE_TAPE_FILE_H
#define AB_TAPE_TAPE_FILE_H

#include "core/status.h"
#include "tape/tape_image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tape as workers see it: a file that nobody can write to any more, made once for all runs. */

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

/* Gives the memory of a burst back where it can be read again: of a tape no more than one burst is
 * kept in ours. */
void ab_tape_burst_forget(const struct ab_tape_image *image, uint32_t burst);

/* The burst that holds the op at `position` of the tape. */
uint32_t ab_tape_map_find(const struct ab_tape_map *m, uint32_t position);

/* Returns the place of the op at `position` on the op clock of its phase. With one lane that is its
 * position. A burst has the lanes of a phase one after the other; they run side by side, so each
 * counts as spread evenly over the burst's whole phase. */
uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position);

/* Users count operations (ab_op_is_counted), not positions. Returns how many are done before a position of
 * the common order, which is that of the memory pass … */
uint32_t ab_tape_ops_before(const struct ab_tape_image *image, uint32_t position);
/* … or before one of the tape as it lies, lane after lane. */
uint32_t ab_tape_ops_before_as_it_lies(const struct ab_tape_image *image, uint32_t position);
/* The first position of the common order at which so many operations are done, their touches included. */
uint32_t ab_tape_position_of(const struct ab_tape_image *image, uint32_t n_ops);

/* An anonymous file of `bytes` zeroes, CLOEXEC, that cannot shrink or grow any more. */
int ab_memfd(const char *name, size_t bytes);

/* A file that grows as it is written and that nobody can write to afterwards, for workers to map: a
 * memfd, or a file without a name, where the system may take its pages back. */

struct ab_shared_file { /* {0} = none */
    int fd;
    bool is_open;
    bool is_held;       /* a memfd */
    const char *what;   /* is in it, as messages say it; borrowed */
    const char *folder; /* of a file; borrowed */
    uint64_t end;       /* bytes so far */
};

/* `begin` bytes are left for what is written in the end. */
enum ab_status ab_shared_file_begin(bool is_held, const char *what, uint64_t begin,
                                    struct ab_shared_file *out, struct ab_err *err);
enum ab_status ab_shared_file_write(const struct ab_shared_file *f, uint64_t at, const void *from,
                                    size_t n, struct ab_err *err);
/* Behind what there is, at the next multiple of `align`; *offset says where. */
enum ab_status ab_shared_file_append(struct ab_shared_file *f, const void *from, size_t n,
                                     uint64_t align, uint64_t *offset, struct ab_err *err);
/* To disk while the next of it is made, not while something is measured. */
void ab_shared_file_push(const struct ab_shared_file *f, uint64_t at);
/* Makes it so many bytes long, and from then on it can only be read. */
enum ab_status ab_shared_file_protect(struct ab_shared_file *f, uint64_t bytes, struct ab_err *err);
/* Maps what is protected, *fd is its descriptor; the file is the caller's then, and `f` none. */
enum ab_status ab_shared_file_map(struct ab_shared_file *f, uint64_t bytes, int *fd,
                                  const void **out, struct ab_err *err);
void ab_shared_file_abandon(struct ab_shared_file *f);

/* A new file in $TMPDIR, /var/tmp or /tmp that no folder lists, CLOEXEC; *folder: which of them, NULL
 * where none would have it. */
int ab_unnamed_file(const char **folder);

struct ab_tape_file {
    struct ab_shared_file file;
    struct ab_burst *bursts;
    size_t n_bursts, cap_bursts;
    struct ab_time_step *steps; /* of all bursts */
    size_t n_steps, cap_steps;
    uint64_t n_ops, n_counted, n_turns, n_iterations, n_thread_ends, most_bytes;
    bool has_first_ended; /* struct ab_tape_image */
};

enum ab_status ab_tape_file_begin(bool is_held, struct ab_tape_file *out, struct ab_err *err);
/* The burst is copied. */
enum ab_status ab_tape_file_add(struct ab_tape_file *f, const struct ab_tape *burst,
                                struct ab_err *err);
/* `total` is as one tape of all bursts, its ops not looked at. The map takes over what is written. */
enum ab_status ab_tape_file_end(struct ab_tape_file *f, const struct ab_tape *total,
                                struct ab_tape_map *out, struct ab_err *err);
/* Nothing to do where the map has it. */
void ab_tape_file_abandon(struct ab_tape_file *f);

#endif
