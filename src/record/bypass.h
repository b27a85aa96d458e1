/* SPDX-License-Identifier: MIT
 *
 * What of a process was not recorded, as far as it can be known: modules that called another malloc
 * (bindings.h), blocks of theirs that came to light, and memory at the end that no recorded block
 * explains.
 */
#ifndef AB_RECORD_BYPASS_H
#define AB_RECORD_BYPASS_H

#include "record/spool_reader.h"
#include "trace/event.h"

#include <limits.h>

enum ab_bypass_kind {
    AB_BYPASS_LIBRARY,   /* loaded with RTLD_DEEPBIND: it calls the C library's */
    AB_BYPASS_NAMESPACE, /* loaded with dlmopen: it calls that of a second C library */
    AB_BYPASS_OWN,       /* it calls one that the program contains */
};
struct ab_bypass_report {
    enum ab_bypass_kind kind; /* of the first module with calls of its own */
    bool is_looked_into;      /* else the process ended before it could be: by _exit or a signal */
    uint64_t anonymous_bytes;
    char path[PATH_MAX]; /* of that module; "" = none */
};

/* What `record` noted when the process was about to exit. */
void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out);

/* Puts what the events say beside it; n_odd: calls of blocks that no recorded call explains. */
void ab_bypass_estimate(const struct ab_bypass_report *report, uint64_t n_odd,
                        const struct ab_trace_info *events, struct ab_trace_bypass *bypass);

#endif
