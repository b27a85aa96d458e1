/* SPDX-License-Identifier: MIT
 *
 * Output files. They are opened before anything is measured, so that a bad path fails at once, and
 * get their name only when they are complete.
 */
#ifndef AB_CORE_OUTPUT_H
#define AB_CORE_OUTPUT_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* An output file that has no name yet, or stdout for "-". `commit` flushes, syncs and names it;
 * `abandon` removes it. An existing regular file is replaced only by commit, and keeps its
 * permission bits. Open refuses anything else at `path`: directories, symbolic links (their target
 * belongs to somebody else), FIFOs, sockets, devices, and files without write permission. Commit
 * and abandon both end the output; they do nothing if it is zero or ended. */
struct ab_output {
    FILE *to;
    char *path, *temporary; /* NULL for stdout. `temporary` is relative to `directory`; NULL for a
                               file without a name */
    int directory;          /* directory of `path`; kept open, so that it stays the right one even
                               if it is moved */
    bool *has_old; /* NULL: commit replaces an existing file. Otherwise commit renames that file to
                      FILE.old, replacing an older one, and sets this */
    bool is_draft; /* True if commit does not sync: the file survives this process, but not a crash
                      of the machine */
};
enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err);
/* True if both are open and one would replace the other: the same name in the same folder, however
 * spelled, two names of one file, or both stdout. */
bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b);
/* Fails with AB_USAGE if the open output `path` would replace one of the n files that are read; an
 * input may be NULL or "-". */
enum ab_status ab_output_spare(const struct ab_output *out, const char *path,
                               const char *const *inputs, size_t n, struct ab_err *err);
void ab_output_abandon(struct ab_output *out);

/* Opens a file that replaces nothing. It has no name until commit_new gives it the first free one
 * of STEM.json, STEM-2.json, … and copies that to `name`. A process that is killed leaves nothing
 * behind. Some file systems need a temporary name. ab_output_abandon works as above. */
enum ab_status ab_output_open_new(const char *folder, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit_new(struct ab_output *out, const char *stem, char *name, size_t cap,
                                    struct ab_err *err);

/* Commits under exactly this name, which must not exist. */
enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err);
/* Commits in place of the file of this name, which exists until the new file does. */
enum ab_status ab_output_commit_over(struct ab_output *out, const char *name, struct ab_err *err);

/* Standard output that remembers why a write failed. stdio only remembers that a write failed, and
 * drops the rest. */

/* Replaces stdout by another stream to the same descriptor. Call it once, before the first output.
 * Without memory, stdout stays as it was. */
void ab_standard_output_begin(void);

/* Flushes stdout. Returns AB_SYSTEM with the reason if anything was lost since the beginning. */
enum ab_status ab_standard_output_flush(struct ab_err *err);

#endif
