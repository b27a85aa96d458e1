/* SPDX-License-Identifier: MIT
 *
 * What of this machine disturbs measurements, and what helps: reads, changes nothing. /proc and /sys
 * are those below a root, so that tests can bring their own. checks.def lists what is looked at;
 * each malloc library that is known by name is one more check.
 */
#ifndef AB_DOCTOR_DOCTOR_H
#define AB_DOCTOR_DOCTOR_H

#include "doctor/finding.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_doctor_view { /* what the checks look at */
    const char *root;   /* of /proc and /sys; "" = the system's */
    const char *path;   /* of tools, like $PATH, below the root */
    struct ab_host host;
};

/* Fills the view; host.virt and host.cpus_allowed come from the real machine. */
void ab_doctor_look(const char *root, const char *path, struct ab_doctor_view *out);

enum { AB_DOCTOR_MAX = 64 };
/* All checks; returns how many findings, AB_DOCTOR_MAX at most. */
size_t ab_doctor_run(const struct ab_doctor_view *view, struct ab_doctor_finding *out);

/* The checks of checks.def; each sets state, found and remedy. */
#define AB_DOCTOR_CHECK(id, function, why) \
    void function(const struct ab_doctor_view *view, struct ab_doctor_finding *out);
#include "doctor/checks.def"
#undef AB_DOCTOR_CHECK

/* The i-th malloc library that is known by name; false = there is none. */
bool ab_doctor_library(size_t i, struct ab_doctor_finding *out);

#endif
