/* SPDX-License-Identifier: MIT
 *
 * Judges whether a library accepted its environment settings, from evidence about a process that
 * had them. It starts no process, so that tests can pass texts.
 */
#ifndef AB_RUNNER_SETTING_JUDGE_H
#define AB_RUNNER_SETTING_JUDGE_H

#include "result/result.h"
#include "wire/kinds.h"

enum ab_serves { /* allocator that serves the blocks of the row */
                 AB_SERVES_LIBC,
                 AB_SERVES_ANOTHER,
                 AB_SERVES_UNKNOWN, /* several heaps, or a library that may call malloc itself */
};

struct ab_setting_evidence { /* texts are never NULL; "" = none */
    enum ab_serves serves;
    bool is_builtin; /* an allocator that is built into the worker */
    enum ab_introspect_kind
        kind;               /* introspection of the process's malloc; NONE also if not known */
    bool is_libc;           /* … whether that malloc is the C library's */
    const char *said;       /* output of AB_PASS_SETTINGS */
    const char *complaints; /* its standard error, where libraries complain */
    const char *tunables;   /* tunables that the loader lists */
    const char *words;      /* words in the files of the library, one per line */
    const char *thp;     /* /sys/kernel/mm/transparent_hugepage/enabled: "always [madvise] never" */
    unsigned libc_minor; /* minor version of the C library: 36 for 2.36; 0 = not known */
};

/* Judges the settings in "VARIABLE=VALUE" and adds them to b->proofs as far as there is room. If
 * one was ignored and b->reason is "", puts the first such setting there. */
void ab_setting_judge(const struct ab_setting_evidence *e, const char *setting,
                      struct ab_backend_info *b);

#endif
