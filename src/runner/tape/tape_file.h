/* SPDX-License-Identifier: MIT
 *
 * Writes the tape file that runs map (wire/run.h): burst by burst, each as soon as it is laid
 * down, so that of a long tape no more than one burst lies in our memory. What is to be held whole
 * goes into a memfd, the rest into a file without a name, where the system may take its pages back.
 */
#ifndef AB_RUNNER_TAPE_TAPE_FILE_H
#define AB_RUNNER_TAPE_TAPE_FILE_H

#include "runner/tape/shared_file.h"
#include "runner/tape/tape_image.h"

struct ab_tape_file {
    struct ab_shared_file file;
    struct ab_burst *bursts;
    size_t n_bursts, cap_bursts;
    uint64_t n_ops, n_turns, n_iterations, most_bytes;
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
