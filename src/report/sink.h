/* SPDX-License-Identifier: MIT
 *
 * A sink turns a session into one kind of output. Outputs are opened before anything is measured,
 * so that a bad path fails at once; files appear by rename only when they are whole.
 */
#ifndef AB_REPORT_SINK_H
#define AB_REPORT_SINK_H

#include "core/status.h"
#include "report/sinks.h"
#include "result/result.h"

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
    bool is_draft;          /* not synced by commit: outlives this process, not the machine */
};
enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err);
enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err);
/* Both are open, and one would replace the other: one name in one folder, however it is spelled, or
 * two names of one file; or both are stdout. */
bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b);
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

struct ab_table_style { /* how the terminal table may look */
    unsigned width;     /* columns */
    bool color, utf8;
    bool is_verbose; /* latency by size, the worst ops, latency over time as well */
};

/* The same as sinks.h has, for terminals. */
void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style);
/* The list of gates with their verdicts; published figures beside what was measured. Nothing where
 * the session has none. */
void ab_sink_gates(FILE *to, const struct ab_session *session, struct ab_table_style style);
void ab_sink_claims(FILE *to, const struct ab_session *session, struct ab_table_style style);

/* BACKEND.PHASE.OP for logs and file names: characters that could mean something there are %XX, so
 * that no two histograms share a tag. */
enum { AB_TAG_BYTES = 1024 };
const char *ab_sink_tag(char buf[AB_TAG_BYTES], const char *backend, const char *phase,
                        unsigned op);

#endif
