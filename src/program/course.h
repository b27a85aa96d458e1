/* SPDX-License-Identifier: MIT
 *
 * Resident memory of a program over its time, in few points whatever the time: where there are too
 * many, two neighbours become the larger of them, so that the peak stays.
 */
#ifndef AB_PROGRAM_COURSE_H
#define AB_PROGRAM_COURSE_H

#include "result/result.h"

enum { AB_COURSE_POINTS = 100 };

struct ab_course { /* begins as zeroes */
    struct {
        uint64_t ns; /* since the start of the program */
        double bytes;
    } points[AB_COURSE_POINTS];
    uint32_t n;
    uint32_t n_looks, stride; /* looks in the last point, and in a full one; stride 0 = 1 */
};

/* A look at the program, later than those before it. */
void ab_course_add(struct ab_course *course, uint64_t ns, double bytes);

/* As a time line of the session: positions are ms. False when out of memory; nothing is added where
 * there are no points. */
void ab_course_note(const struct ab_course *course, struct ab_session *session, uint32_t backend,
                    uint32_t round);

#endif
