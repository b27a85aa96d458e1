/* SPDX-License-Identifier: MIT
 *
 * Files that are written. They are opened before anything is measured, so that a bad path fails at
 * once, and appear by rename only when they are whole.
 */
#ifndef AB_REPORT_OUTPUT_H
#define AB_REPORT_OUTPUT_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* A file being written before it has its name, or stdout for "-". `output_commit` flushes, syncs and
 * names it; `output_abandon` removes what there is. An existing regular
 * file is replaced by the commit only, and keeps its permission bits; anything else at `path` is
 * refused at open: directories, symbolic links (what they lead to is somebody else's), FIFOs,
 * sockets, devices, files without write permission. Commit and abandon both end the output, and
 * do nothing to one that is zero or ended. */
struct ab_output {
    FILE *to;
    char *path, *temporary; /* NULL for stdout; `temporary` is relative to `directory`, and NULL for
                               a file without a name */
    int directory;          /* of path; kept open, so that a moved folder is still the right one */
    bool *has_old; /* NULL: a file that is there is replaced. Else commit renames it to FILE.old, in
                      place of an older one, and sets this */
    bool is_draft; /* not synced by commit: outlives this process, not the machine */
};
enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err);
/* Both are open, and one would replace the other: one name in one folder, however it is spelled, or
 * two names of one file; or both are stdout. */
bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b);
/* It is open and would replace the file at `path`, which is read: false for stdout and "-". */
bool ab_output_replaces(const struct ab_output *out, const char *path);
void ab_output_abandon(struct ab_output *out);

/* A file that replaces nothing: it has no name (or a temporary one, where the file system knows no
 * other way) until `commit_new` gives it the first free one of STEM.json, STEM-2.json, …; a process
 * that is killed leaves nothing behind. The name goes to `name`. Abandon as above. */
enum ab_status ab_output_open_new(const char *folder, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit_new(struct ab_output *out, const char *stem, char *name, size_t cap,
                                    struct ab_err *err);

/* The same under just this name, which must not be taken. */
enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err);
/* The same in place of the file of this name, which is there until the new one is. */
enum ab_status ab_output_commit_over(struct ab_output *out, const char *name, struct ab_err *err);

/* Standard output that keeps why it failed: stdio remembers only that a write failed, and drops
 * what it could not write. */

/* Once, before the first output: stdout becomes another stream to the same descriptor. Without the
 * memory for it stdout stays what it was. */
void ab_standard_output_begin(void);

/* Writes what is buffered; AB_SYSTEM with the reason where anything since the begin was lost. */
enum ab_status ab_standard_output_flush(struct ab_err *err);

#endif
