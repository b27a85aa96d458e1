/* SPDX-License-Identifier: MIT
 *
 * Finds out what on this machine disturbs measurements, and how to mend it. Only reads, and changes
 * nothing. The files of /proc and /sys are read below a root folder, so that tests can bring their
 * own. Each known malloc library is one more check.
 */
#ifndef AB_APP_DOCTOR_H
#define AB_APP_DOCTOR_H

#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

enum ab_doctor_state { /* the names of the states must not change: results/keys.csv lists them */
                       AB_DOCTOR_OK,
                       /* worth knowing, but harmless or beyond the user's control */
                       AB_DOCTOR_NOTE,
                       AB_DOCTOR_WARNING, /* disturbs measurements, and can be helped */
                       AB_DOCTOR_UNKNOWN, /* the system does not say */
                       AB_DOCTOR_STATE_COUNT
};
extern const char *const ab_doctor_state_names[AB_DOCTOR_STATE_COUNT]; /* "ok", "note" … */

struct ab_doctor_finding {
    const char *id, *why;
    enum ab_doctor_state state;
    char found[256];  /* text that says what is there */
    char remedy[256]; /* a command to type, or an option to give; "" = none is needed or known */
};

struct ab_doctor_view { /* parts of the system that the checks read */
    const char *root;   /* folder that has proc and sys; "" = the system's */
    const char *path;   /* search path of tools, like $PATH, below the root */
    struct ab_host host;
};

/* Fills the view; host.virt and host.cpus_allowed come from the real machine. */
void ab_doctor_look(const char *root, const char *path, struct ab_doctor_view *out);

enum { AB_DOCTOR_MAX = 64 };
/* Runs all checks. Returns the number of findings, at most AB_DOCTOR_MAX. */
size_t ab_doctor_run(const struct ab_doctor_view *view, struct ab_doctor_finding *out);

struct ab_diagnosis {
    struct ab_doctor_view view;
    struct ab_doctor_finding findings[AB_DOCTOR_MAX];
    size_t n, counts[AB_DOCTOR_STATE_COUNT];
};
/* Examines the machine; tests supply another root folder and PATH. */
void ab_diagnosis_make(struct ab_diagnosis *d);

#endif
