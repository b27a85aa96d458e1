/* SPDX-License-Identifier: MIT
 *
 * Speed is the geometric mean over phases of ns_per_op ratios, block by block, never a mean of
 * fenced latencies. Prices told: memory that is never given back, and the tail.
 */
#include "report/summary.h"

#include "core/units.h"
#include "stats/aggregate.h"
#include "report/format.h"

#include <math.h>
#include <string.h>

/* A p99.9 is told when it is worse by so much in the median of the blocks, and in all of them. */
static const double tail_worth_telling = 1.25;

static const char *name_of(const struct ab_session *s, uint32_t backend)
{
    return s->backends[backend].name;
}

/* What is compiled into the loop has no call to pay for: no like for like. */
static bool is_called(const struct ab_session *s, uint32_t backend)
{
    const char *boundary = s->backends[backend].boundary;
    return boundary == NULL || strcmp(boundary, "inline") != 0;
}

/* Has ns_per_op in every measured phase of at least one block. */
static bool takes_part(const struct ab_session *s, uint32_t backend)
{
    return is_called(s, backend) && ab_backend_is_comparable(&s->backends[backend]) &&
           ab_session_speed(s, backend, backend, NULL).n > 0;
}

/* The fastest that takes part, with or without those that never free; UINT32_MAX = none. */
static uint32_t find_fastest(const struct ab_session *s, bool must_free, uint32_t except)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (i == except || !takes_part(s, i) || (must_free && s->backends[i].never_frees))
            continue;
        if (best == UINT32_MAX || ab_session_speed(s, i, best, NULL).median > 1)
            best = i;
    }
    return best;
}

static uint32_t count_participants(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += takes_part(s, i);
    return n;
}

static void add_phases(struct ab_text *out, const struct ab_session *s)
{
    if (s->n_phases == 1)
        ab_text_addf(out, "ns/op in %s", s->phases[0]);
    else
        ab_text_addf(out, "ns/op over %u phases", s->n_phases);
    if (s->n_blocks < AB_SPREAD_KNOWN_BLOCKS)
        ab_text_addf(out, ", %u block%s: the spread is unknown", s->n_blocks,
                     s->n_blocks == 1 ? "" : "s");
}

static void add_speed(struct ab_text *out, const struct ab_session *s,
                      const struct ab_spread *speed, uint32_t than)
{
    char ratio[AB_CELL_BYTES];
    ab_text_addf(out, "%sx as fast as %s", ab_format_ratio(ratio, speed->median),
                 name_of(s, than));
}

static void add_never_frees(struct ab_text *out, const struct ab_session *s)
{
    char taken[32], live[32];
    ab_text_addf(out, "never frees: %s taken for a live peak of %s",
                 ab_units_bytes(taken, sizeof taken, (double)s->facts.total_bytes),
                 ab_units_bytes(live, sizeof live, (double)s->facts.live_peak_bytes));
}

/* The worst p99.9 of `a` beside that of `b`, if any is clearly worse. */
static void add_tail(struct ab_text *out, const struct ab_session *s, uint32_t a, uint32_t b)
{
    double worst = tail_worth_telling;
    const char *phase = NULL;
    unsigned op = 0;
    for (uint32_t p = 0; p < s->n_phases; p++)
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
            struct ab_spread ratio = ab_session_p999_ratio(s, a, b, s->phases[p], k);
            if (ratio.n > 0 && ratio.low > 1 && ratio.median >= worst) {
                worst = ratio.median;
                phase = s->phases[p];
                op = k;
            }
        }
    char text[AB_CELL_BYTES];
    if (phase != NULL)
        ab_text_addf(out, ", p99.9 of %s in %s %sx %s's", ab_result_op_name(op), phase,
                     ab_format_ratio(text, worst), name_of(s, b));
}

/* "; jemalloc is the fastest that frees, 1.40x as fast as glibc, p99.9 of free …" */
static void add_fastest_that_frees(struct ab_text *out, const struct ab_session *s, uint32_t base)
{
    uint32_t best = find_fastest(s, true, UINT32_MAX);
    if (best == UINT32_MAX)
        return;
    uint32_t second = find_fastest(s, true, best);
    if (second != UINT32_MAX) {
        struct ab_spread lead = ab_session_speed(s, best, second, NULL);
        if (!ab_spread_is_clear(&lead)) {
            ab_text_addf(out, "; no clear difference between %s and %s, the fastest that free",
                         name_of(s, best), name_of(s, second));
            return;
        }
    }
    struct ab_spread speed = ab_session_speed(s, best, base, NULL);
    ab_text_addf(out, "; %s is the %s", name_of(s, best),
                 second == UINT32_MAX ? "only one that frees" : "fastest that frees");
    if (best == base)
        return;
    ab_text_add(out, ", ");
    if (ab_spread_is_clear(&speed))
        add_speed(out, s, &speed, base);
    else
        ab_text_addf(out, "no clear difference from %s", name_of(s, base));
    add_tail(out, s, best, base);
}

static void add_alone(struct ab_text *out, const struct ab_session *s, uint32_t only)
{
    double log_sum = 0;
    for (uint32_t p = 0; p < s->n_phases; p++)
        log_sum += log(ab_session_ns_per_op(s, only, s->phases[p]).median);
    double ns = exp(log_sum / s->n_phases);
    char time[32], rate[AB_CELL_BYTES];
    ab_text_addf(out, "%s: %s per op, %s M ops/s (", name_of(s, only),
                 ab_units_time(time, sizeof time, ns), ab_format_ratio(rate, 1e3 / ns));
    add_phases(out, s);
    ab_text_add(out, ")");
    if (s->backends[only].never_frees) {
        ab_text_add(out, "; it ");
        add_never_frees(out, s);
    }
}

/* The winner is beaten by nobody; it leads by what the blocks say about the second. */
static void add_comparison(struct ab_text *out, const struct ab_session *s)
{
    uint32_t first = find_fastest(s, false, UINT32_MAX);
    uint32_t second = find_fastest(s, false, first);
    uint32_t base = ab_session_base(s);
    if (!takes_part(s, base) || first == base)
        base = second;
    struct ab_spread lead = ab_session_speed(s, first, second, NULL);
    struct ab_spread speed = ab_session_speed(s, first, base, NULL);
    bool leads = ab_spread_is_clear(&lead);
    if (!leads) {
        ab_text_addf(out, "no clear difference between %s and %s%s (", name_of(s, first),
                     name_of(s, second), count_participants(s) > 2 ? ", the fastest two" : "");
        add_phases(out, s);
        ab_text_add(out, ")");
    }
    if (!leads && (base == second || !ab_spread_is_clear(&speed)))
        goto price;
    if (!leads)
        ab_text_add(out, "; ");
    ab_text_addf(out, "%s is ", name_of(s, first));
    add_speed(out, s, &speed, base);
    if (leads) {
        ab_text_add(out, " (");
        add_phases(out, s);
        ab_text_add(out, ")");
    }
price:
    if (!s->backends[first].never_frees) {
        add_tail(out, s, first, base);
        return;
    }
    ab_text_addf(out, "%s%s ", leads ? ", but" : "; ", leads ? "" : name_of(s, first));
    add_never_frees(out, s);
    add_fastest_that_frees(out, s, base);
}

void ab_summary_add(struct ab_text *out, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    uint32_t n = count_participants(session);
    if (n == 0)
        ab_text_add(out, "No back end has numbers that can be compared");
    else if (n == 1)
        add_alone(out, session, find_fastest(session, false, UINT32_MAX));
    else
        add_comparison(out, session);
    if (!session->is_complete)
        ab_text_add(out, "; the run was not completed");
    ab_text_add(out, ".");
    ab_format_end(&guard);
}
