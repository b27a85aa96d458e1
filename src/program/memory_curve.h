/* SPDX-License-Identifier: MIT
 *
 * Resident memory of a program over time, in at most AB_CURVE_POINTS points. When the points run
 * out, each pair of neighbours becomes the larger of the two, so that the peak stays.
 */
#ifndef AB_PROGRAM_MEMORY_CURVE_H
#define AB_PROGRAM_MEMORY_CURVE_H

#include "result/result.h"

#include <stdint.h>

enum { AB_CURVE_POINTS = 100 };

struct ab_memory_curve { /* zero-initialize it */
    struct {
        uint64_t ns; /* ns since the start of the program */
        double bytes;
    } points[AB_CURVE_POINTS];
    uint32_t n;
    /* n_looks: samples in the last point; stride: samples in a full point, 0 = 1 */
    uint32_t n_looks, stride;
};

/* Adds a sample. `ns` must be later than in the samples before it. */
void ab_memory_curve_add(struct ab_memory_curve *curve, uint64_t ns, double bytes);

/* Adds the curve to the session as a timeline with positions in ms. For a program of 10 s or
 * more, also adds memory over time. Adds nothing if there are no points. */
void ab_memory_curve_note(const struct ab_memory_curve *curve, struct ab_session *session,
                          uint32_t backend, uint32_t round);

#endif
