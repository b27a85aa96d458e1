/* SPDX-License-Identifier: MIT
 *
 * Counts by powers of two, and a curve of fixed length for any number of events.
 */
#include "trace_tools/size_classes.h"

uint64_t ab_class_from(unsigned k)
{
    return k < 2 ? k : (UINT64_C(1) << (k - 2)) + 1;
}

uint64_t ab_class_to(unsigned k)
{
    return k == 0 ? 0 : k == AB_CLASS_COUNT - 1 ? UINT64_MAX : UINT64_C(1) << (k - 1);
}

uint64_t ab_classes_total(const struct ab_classes *c)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++)
        sum += c->n[k];
    return sum;
}

static void raise_to(struct ab_curve_step *step, uint64_t bytes, uint64_t blocks)
{
    if (bytes > step->bytes)
        step->bytes = bytes;
    if (blocks > step->blocks)
        step->blocks = blocks;
}

static void halve(struct ab_curve *c)
{
    for (size_t i = 0; i < AB_CURVE_STEPS / 2; i++) {
        struct ab_curve_step second = c->steps[2 * i + 1];
        c->steps[i] = c->steps[2 * i];
        raise_to(&c->steps[i], second.bytes, second.blocks);
    }
    for (size_t i = AB_CURVE_STEPS / 2; i < AB_CURVE_STEPS; i++)
        c->steps[i] = (struct ab_curve_step){0};
    c->width *= 2;
}

void ab_curve_add(struct ab_curve *c, uint64_t bytes, uint64_t blocks)
{
    if (c->width == 0)
        c->width = 1;
    if (c->n_events == c->width * AB_CURVE_STEPS)
        halve(c);
    raise_to(&c->steps[c->n_events >> ab_log2(c->width)], bytes, blocks);
    c->n_events++;
}

size_t ab_curve_count(const struct ab_curve *c)
{
    return c->width == 0 ? 0 : (size_t)((c->n_events + c->width - 1) / c->width);
}

size_t ab_curve_columns(const struct ab_curve *c, struct ab_curve_step *out, size_t n)
{
    size_t count = ab_curve_count(c);
    if (count < n)
        n = count;
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct ab_curve_step){0};
        for (size_t k = count * i / n; k < count * (i + 1) / n; k++)
            raise_to(&out[i], c->steps[k].bytes, c->steps[k].blocks);
    }
    return n;
}
