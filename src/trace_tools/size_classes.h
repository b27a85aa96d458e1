/* SPDX-License-Identifier: MIT
 *
 * Two summaries of a stream whose length is not known before its end, both of fixed size: counts in
 * power-of-two classes, and a curve that doubles the width of its steps whenever it is full.
 */
#ifndef AB_TRACE_TOOLS_SIZE_CLASSES_H
#define AB_TRACE_TOOLS_SIZE_CLASSES_H

#include "base/bits.h"

#include <stddef.h>
#include <stdint.h>

/* Class 0 holds 0, class 1 holds 1, class k holds (2^(k-2), 2^(k-1)]: what fits into a block of
 * 2^(k-1) bytes and not into the next smaller one. */
enum { AB_CLASS_COUNT = 66 };

struct ab_classes {
    uint64_t n[AB_CLASS_COUNT];
};

static inline unsigned ab_class_of(uint64_t v)
{
    return v == 0 ? 0 : ab_log2_up(v) + 1;
}

static inline void ab_classes_add(struct ab_classes *c, uint64_t v)
{
    c->n[ab_class_of(v)]++;
}

/* First and last value of a class; the last of the topmost is 2^64 - 1. */
uint64_t ab_class_from(unsigned k);
uint64_t ab_class_to(unsigned k);
uint64_t ab_classes_total(const struct ab_classes *c);

enum { AB_CURVE_STEPS = 960 };

struct ab_curve_step { /* the highest values within the step; they need not be of one moment */
    uint64_t bytes, blocks;
};

struct ab_curve {
    uint64_t n_events, width; /* events a step; a power of two */
    struct ab_curve_step steps[AB_CURVE_STEPS];
};

void ab_curve_add(struct ab_curve *c, uint64_t bytes, uint64_t blocks);
size_t ab_curve_count(const struct ab_curve *c);
/* The curve in n columns or, when it has fewer steps, in as many; returns how many. */
size_t ab_curve_columns(const struct ab_curve *c, struct ab_curve_step *out, size_t n);

#endif
