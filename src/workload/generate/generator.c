/* SPDX-License-Identifier: MIT
 *
 * What the steps of a generator need of it: how it fails, and how far it is.
 */
#include "workload/generate/generator.h"

#include "core/units_show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { IDLE_FREE = 10000000, IDLE_PER_OP = 64 };

enum ab_status ab_generate_fail(struct ab_generator *g, struct ab_place at, const char *fmt, ...)
{
    const struct ab_source_text source = {g->w->file, g->w->text, g->w->n_text};
    struct ab_text out = {0};
    char message[400], lane[40] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (g->lane != NULL && g->phase->n_lanes > 1)
        snprintf(lane, sizeof lane, " (in lane %u)", g->lane->index);
    ab_text_addf(&out, "%s:%u:%u: %s%s\n", AB_SHOWN(300, g->w->file), at.line, at.col, message,
                 lane);
    ab_diag_excerpt(&out, &source, at);
    size_t n = out.s == NULL ? 0 : strlen(out.s);
    if (n > 0)
        out.s[n - 1] = 0; /* no newline at the end of an error */
    ab_fail(g->err, AB_CONFIG, "%s", out.s != NULL ? out.s : message);
    ab_text_fini(&out);
    return AB_CONFIG;
}

enum ab_status ab_generate_too_many(struct ab_generator *g, struct ab_place at, double n_ops)
{
    char count[32], max[32];
    ab_units_count(count, sizeof count, n_ops);
    ab_units_count(max, sizeof max, (double)g->max_ops);
    return ab_generate_fail(g, at, "about %s ops; a tape here has room for %s%s", count, max,
                            g->max_ops < AB_TAPE_MAX_OPS ? " (half of the available memory)" : "");
}

enum ab_status ab_generate_idle(struct ab_generator *g, struct ab_place at, uint64_t n)
{
    uint64_t n_ops = ab_tape_count(g->tape);
    struct ab_generator_lane *lane = g->lane != NULL ? g->lane : &g->lanes[0];
    g->idle += n;
    bool is_endless = __builtin_add_overflow(lane->idle, n, &lane->idle) ||
                      lane->idle > IDLE_FREE / g->phase->n_lanes + n_ops * IDLE_PER_OP;
    if (is_endless)
        return ab_generate_fail(g, at,
                                "makes almost no ops: %llu steps had no effect, after %llu ops",
                                (unsigned long long)lane->idle, (unsigned long long)n_ops);
    return AB_OK;
}

uint64_t ab_generate_counter(const struct ab_generator *g)
{
    switch (g->phase->until) {
    case AB_UNTIL_OPS:
        return ab_tape_count(g->tape);
    case AB_UNTIL_ALLOCATED:
        return ab_tape_allocated_bytes(g->tape);
    case AB_UNTIL_LIVE:
        return ab_tape_live_bytes(g->tape);
    default:
        return 0;
    }
}
