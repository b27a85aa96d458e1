/* SPDX-License-Identifier: MIT
 *
 * Findings: their texts, printable and cut to their room.
 */
#include "doctor/finding.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

const char *const ab_doctor_state_names[AB_DOCTOR_STATE_COUNT] = {"ok", "note", "warning",
                                                                  "unknown"};

void ab_doctor_finding_set(struct ab_doctor_finding *f, enum ab_doctor_state state,
                           const char *remedy, const char *found, ...)
{
    char text[sizeof f->found];
    va_list args;
    va_start(args, found);
    vsnprintf(text, sizeof text, found, args);
    va_end(args);
    f->state = state;
    ab_text_printable(f->found, sizeof f->found, text);
    ab_text_printable(f->remedy, sizeof f->remedy, remedy);
}
