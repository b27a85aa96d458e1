/* SPDX-License-Identifier: MIT
 *
 * Finds what of a process was not recorded, as far as it can be known: modules that called another malloc,
 * blocks of theirs that came to light, and the memory that the process had in the end.
 */
#ifndef AB_RECORD_BYPASS_H
#define AB_RECORD_BYPASS_H

#include "record/spool_reader.h"
#include "trace/event.h"

#include <limits.h>
#include <sys/types.h>

enum ab_bypass_kind {
    AB_BYPASS_LIBRARY,   /* loaded with RTLD_DEEPBIND: it calls the C library's */
    AB_BYPASS_NAMESPACE, /* loaded with dlmopen: it calls that of a second C library */
    AB_BYPASS_OWN,       /* it calls one that the program contains */
};
struct ab_bypass_report {
    bool is_looked_into;      /* the process, when it was about to exit */
    enum ab_bypass_kind kind; /* of the first module with calls of its own */
    char path[PATH_MAX];      /* of that module; "" = none */
};

/* While the process waits, at its end or before it closes a library: which of its modules call another malloc than the recorder's, as seen from
 * outside in what the dynamic linker has bound; the process itself would need the linker's locks. They
 * were loaded with RTLD_DEEPBIND or into a namespace of their own, or the program has a malloc of its
 * own. What was found goes into a file of the folder: nothing where the process may not be looked
 * into. What earlier looks have found stays. */
#define AB_BYPASS_FILE "bypass" /* of a spool: bypass.PID.K */
void ab_bypass_look(pid_t pid, bool is_end, int folder, const char *name);

/* Reads what `record` found when the process was about to exit; most_bytes is not known where it could
 * not: the process ended by _exit or a signal. */
void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out);

#endif
