/* SPDX-License-Identifier: MIT
 *
 * Recognizes the kind of a file by its first bytes, so that a command that was given a file of
 * another one can say which command is right.
 */
#ifndef AB_APP_FILE_KIND_H
#define AB_APP_FILE_KIND_H

enum ab_file_kind {
    AB_FILE_UNKNOWN, /* absent, unreadable, no regular file, or none of those below */
    AB_FILE_WORKLOAD,
    AB_FILE_TRACE,
    AB_FILE_RESULT,
    AB_FILE_REPORT, /* HTML */
    AB_FILE_BINARY, /* ELF: a program or a library */
    AB_FILE_SUITE,  /* results of several workloads */
    AB_FILE_SPOOL,  /* the folder of a raw recording */
    AB_FILE_KINDS
};

/* Reads at most the first 64 KiB; never waits, as it opens nothing but regular files. */
enum ab_file_kind ab_file_kind_of(const char *path);

/* "a workload", "a trace", …; "" for what is not known. */
extern const char *const ab_file_kind_names[AB_FILE_KINDS];

#endif
