/* SPDX-License-Identifier: MIT
 *
 * Output files. They are opened before anything is measured, so that a bad path fails at once. They
 * get their names only when they are complete.
 */
#ifndef AB_CORE_OUTPUT_H
#define AB_CORE_OUTPUT_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* An output file that has no name yet, or stdout for "-". `commit` flushes, syncs and names the
 * file; `abandon` removes it. An existing regular file is replaced only by commit, and its
 * permission bits are kept. Open refuses anything else at `path`: directories, symbolic links
 * (their target belongs to somebody else), FIFOs, sockets, devices, and files without write
 * permission. Commit and abandon both end the output. They do nothing if the output is
 * zero-initialized or has ended. */
struct ab_output {
    FILE *to;
    /* both NULL for stdout; temporary: name relative to `directory`, NULL for a file without a
     * name */
    char *path, *temporary;
    /* descriptor of the directory of `path`, kept open, so that a moved directory still gets the
     * file */
    int directory;
    /* NULL: commit replaces an existing file. If not NULL, commit renames an existing file to
     * FILE.old, replacing an older FILE.old, and sets *has_old */
    bool *has_old;
    /* True if commit does not sync, so that the file survives this process, but perhaps not a crash
     * of the machine */
    bool is_draft;
};
enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err);
/* True if both outputs are open and one would replace the other. This is so for the same name in
 * the same folder, however spelled, for two names of one file, and if both are stdout. */
bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b);
/* Fails with AB_USAGE if the open output `path` would replace one of the n files that are read. An
 * input may be NULL or "-". */
enum ab_status ab_output_spare(const struct ab_output *out, const char *path,
                               const char *const *inputs, size_t n, struct ab_err *err);
void ab_output_abandon(struct ab_output *out);

/* Opens a file that replaces nothing. The file has no name until ab_output_commit_new() gives it
 * the first unused one of STEM.json, STEM-2.json, … and copies that to `name`. A process that is
 * killed leaves no file behind, except on file systems that need a temporary name.
 * ab_output_abandon() removes the file. */
enum ab_status ab_output_open_new(const char *folder, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit_new(struct ab_output *out, const char *stem, char *name, size_t cap,
                                    struct ab_err *err);

/* Commits the output under exactly this name, which must not exist. */
enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err);
/* Commits the output in place of the file of this name. That file exists until the new file takes
 * its place. */
enum ab_status ab_output_commit_over(struct ab_output *out, const char *name, struct ab_err *err);

/* Standard output that remembers why a write failed. stdio only remembers that a write failed, but
 * not the errno. */

/* Replaces stdout by another stream to the same descriptor. Call it once, before the first output.
 * If there is no memory, stdout stays as it was. */
void ab_standard_output_begin(void);

/* Flushes stdout. Returns AB_SYSTEM with the reason if any output was lost since
 * ab_standard_output_begin(). */
enum ab_status ab_standard_output_flush(struct ab_err *err);

#endif
