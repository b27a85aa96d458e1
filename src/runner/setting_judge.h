/* SPDX-License-Identifier: MIT
 *
 * Judges whether a library accepted its environment settings, from evidence about a process that
 * had them. It starts no process, so that tests can pass texts.
 */
#ifndef AB_RUNNER_SETTING_JUDGE_H
#define AB_RUNNER_SETTING_JUDGE_H

#include "result/result.h"
#include "wire/kinds.h"

enum ab_serves { /* allocator that serves the blocks of the row (a back end with its settings) */
                 AB_SERVES_LIBC,
                 AB_SERVES_ANOTHER,
                 AB_SERVES_UNKNOWN, /* several heaps, or a library that may call malloc itself */
};

struct ab_setting_evidence { /* texts are never NULL; "" = none */
    enum ab_serves serves;
    bool is_builtin; /* the back end is an allocator that is built into the worker */
    /* way in which the process's malloc can be asked for its state; NONE also if not known */
    enum ab_introspect_kind kind;
    bool is_libc;           /* the process's malloc is that of the C library */
    const char *said;       /* standard output of a worker that ran AB_PASS_SETTINGS */
    const char *complaints; /* standard error of that worker, where libraries complain */
    const char *tunables;   /* glibc's tunables in force, as the loader lists them */
    const char *words;      /* words found in the files of the library, one on each line */
    const char *thp;     /* /sys/kernel/mm/transparent_hugepage/enabled: "always [madvise] never" */
    unsigned libc_minor; /* minor version of the C library: 36 for 2.36; 0 = not known */
};

/* Judges the settings in "VARIABLE=VALUE" and adds them to b->proofs as far as there is room. If
 * one was ignored and b->reason is "", puts the first such setting there. */
void ab_setting_judge(const struct ab_setting_evidence *e, const char *setting,
                      struct ab_backend_info *b);

#endif
