/* SPDX-License-Identifier: MIT
 *
 * What a check of `doctor` found.
 */
#ifndef AB_DOCTOR_FINDING_H
#define AB_DOCTOR_FINDING_H

enum ab_doctor_state { /* names are frozen: results/README.md */
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

/* Sets all but id and why. */
void ab_doctor_finding_set(struct ab_doctor_finding *f, enum ab_doctor_state state,
                           const char *remedy, const char *found, ...)
    __attribute__((format(printf, 4, 5)));

#endif
