/* SPDX-License-Identifier: MIT
 *
 * A file that grows as it is written and that nobody can write to afterwards, for workers to map: a
 * memfd, or a file without a name, where the system may take its pages back.
 */
#ifndef AB_RUNNER_TAPE_SHARED_FILE_H
#define AB_RUNNER_TAPE_SHARED_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
