/* SPDX-License-Identifier: MIT
 *
 * Recognizes the kind of a file by its first bytes, so that a command can name the right command
 * for a file of another kind.
 */
#ifndef AB_APP_FILE_KIND_H
#define AB_APP_FILE_KIND_H

enum ab_file_kind {
    AB_FILE_UNKNOWN, /* missing, unreadable, not a regular file, or none of the kinds below */
    AB_FILE_WORKLOAD,
    AB_FILE_TRACE,
    AB_FILE_RESULT,
    AB_FILE_REPORT, /* HTML */
    AB_FILE_BINARY, /* ELF: a program or a library */
    AB_FILE_SUITE,  /* results of several workloads */
    AB_FILE_SPOOL,  /* the folder of a raw recording */
    AB_FILE_KINDS
};

/* Returns the kind of the file. Reads at most its first 64 KiB. Never blocks, because it opens only
 * regular files. */
enum ab_file_kind ab_file_kind_of(const char *path);

/* "a workload", "a trace", …; "" for AB_FILE_UNKNOWN. */
extern const char *const ab_file_kind_names[AB_FILE_KINDS];

/* Returns the name of the format of a file of another tool; NULL = none. */
const char *ab_foreign_format_of(const char *path);

#endif
