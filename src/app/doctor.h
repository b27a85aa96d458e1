/* SPDX-License-Identifier: MIT
 *
 * Finds out what of this machine disturbs measurements, and what helps; reads, and changes nothing.
 * /proc and /sys are those below a root, so that tests can bring their own. Each malloc library
 * that is known by name is one more check.
 */
#ifndef AB_APP_DOCTOR_H
#define AB_APP_DOCTOR_H

#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

enum ab_doctor_state { /* names are frozen: results/keys.csv */
                       AB_DOCTOR_OK,
                       AB_DOCTOR_NOTE,    /* worth knowing; not in your hands, or harmless */
                       AB_DOCTOR_WARNING, /* disturbs measurements, and can be helped */
                       AB_DOCTOR_UNKNOWN, /* the system does not say */
                       AB_DOCTOR_STATE_COUNT
};
extern const char *const ab_doctor_state_names[AB_DOCTOR_STATE_COUNT]; /* "ok", "note" … */

struct ab_doctor_finding {
    const char *id, *why;
    enum ab_doctor_state state;
    char found[256];  /* what is there */
    char remedy[256]; /* a command to type, or an option to give; "" = none is needed or known */
};

struct ab_doctor_view { /* parts of the system that the checks read */
    const char *root;   /* root of /proc and /sys; "" = the system's */
    const char *path;   /* search path of tools, like $PATH, below the root */
    struct ab_host host;
};

/* Fills the view; host.virt and host.cpus_allowed come from the real machine. */
void ab_doctor_look(const char *root, const char *path, struct ab_doctor_view *out);

enum { AB_DOCTOR_MAX = 64 };
/* All checks; returns how many findings, AB_DOCTOR_MAX at most. */
size_t ab_doctor_run(const struct ab_doctor_view *view, struct ab_doctor_finding *out);

struct ab_diagnosis {
    struct ab_doctor_view view;
    struct ab_doctor_finding findings[AB_DOCTOR_MAX];
    size_t n, counts[AB_DOCTOR_STATE_COUNT];
};
/* Examines the machine; tests supply another root folder and PATH. */
void ab_diagnosis_make(struct ab_diagnosis *d);

#endif
