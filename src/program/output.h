/* SPDX-License-Identifier: MIT
 *
 * What a program writes: its standard output as a digest, made while it streams, so that its size
 * does not matter; of standard error the end, for messages.
 */
#ifndef AB_PROGRAM_OUTPUT_H
#define AB_PROGRAM_OUTPUT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_output_digest {
    uint64_t high, low; /* XXH3, 128 bits */
    uint64_t bytes;
};

enum { AB_OUTPUT_TAIL = 400 };

struct ab_program_output {
    int read_fd, write_fd; /* the program gets write_fd; −1 = closed */
    void *hash;            /* NULL: the tail is kept instead */
    uint64_t bytes;
    char tail[AB_OUTPUT_TAIL + 1];
    size_t n_tail;
};

enum ab_status ab_program_output_open(struct ab_program_output *o, bool is_hashed,
                                      struct ab_err *err);
/* In the parent once the program has its own. */
void ab_program_output_started(struct ab_program_output *o);
/* Takes what is there; closes read_fd at the end. Not more at once than keeps other work waiting for
 * about a millisecond. */
void ab_program_output_take(struct ab_program_output *o);
/* All that is left, once no process writes any more. */
struct ab_output_digest ab_program_output_finish(struct ab_program_output *o);
/* The last line of the tail, printable; "" = there is none. */
const char *ab_program_output_says(const struct ab_program_output *o, char *buf, size_t cap);
void ab_program_output_fini(struct ab_program_output *o);

#endif
