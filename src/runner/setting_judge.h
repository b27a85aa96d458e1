/* SPDX-License-Identifier: MIT
 *
 * Whether a library took the settings of its environment, by what was found out about a process
 * that had them. No process is started here, so that all of it can be tested by texts.
 */
#ifndef AB_RUNNER_SETTING_JUDGE_H
#define AB_RUNNER_SETTING_JUDGE_H

#include "result/result.h"
#include "wire/kinds.h"

enum ab_serves { /* the blocks of the row */
                 AB_SERVES_LIBC,
                 AB_SERVES_ANOTHER,
                 AB_SERVES_UNKNOWN, /* several heaps, or a library that may call malloc */
};

struct ab_setting_evidence { /* texts are never NULL, "" = there is none */
    enum ab_serves serves;
    bool is_builtin; /* an allocator of the worker's own */
    enum ab_introspect_kind
        kind;               /* of the malloc of the process; NONE also where it is not known */
    bool is_libc;           /* … which is the C library's */
    const char *said;       /* AB_PASS_SETTINGS on standard output */
    const char *complaints; /* … on standard error, where libraries complain */
    const char *tunables;   /* what the loader lists */
    const char *words;      /* in the files of the library, a line each */
    const char *thp;     /* /sys/kernel/mm/transparent_hugepage/enabled: "always [madvise] never" */
    unsigned libc_minor; /* version of the C library: 36 of 2.36; 0 = not known */
};

/* Adds the settings in "VARIABLE=VALUE" to b->proofs, each judged, as far as there is room; of the
 * first that was ignored b->reason says it, where that is "". */
void ab_setting_judge(const struct ab_setting_evidence *e, const char *setting,
                      struct ab_backend_info *b);

#endif
