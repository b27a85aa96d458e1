/* SPDX-License-Identifier: MIT
 *
 * Which of the stretches are scopes, and whether the trace has them by more than accident.
 */
#include "trace_tools/scope/judge.h"

#include "base/bits.h"
#include "trace_tools/scope/search.h"

#include <math.h>

enum {
    GIANT = 8,     /* a stretch of this part of all allocations is a phase of the program */
    PART = 4,      /* what is not has at least this part of all allocations, */
    GONE = 2,      /* and this part of them is gone at the ends */
    ACCIDENTS = 4, /* so many times as many scopes as accident would make, */
};
static const double VARIATION = 0.4; /* or no more than that */

static unsigned bin_of(uint64_t allocs)
{
    unsigned log = allocs == 0 ? 0 : ab_log2(allocs);
    unsigned quarter = log >= 2 ? (unsigned)(allocs >> (log - 2)) & 3 : 0;
    return allocs < 4 ? (unsigned)allocs : log * 4 + quarter;
}

void ab_scope_tally_add(struct ab_scope_tally *t, const struct ab_scope_seen *seen)
{
    struct ab_scope_bin *b = &t->bins[bin_of(seen->allocs)];
    b->n++;
    b->sum.allocs += seen->allocs;
    b->sum.shorts += seen->shorts;
    b->sum.survivors += seen->survivors;
    b->sum.most += seen->most;
    b->sum.calls += seen->calls;
    b->sum.area += seen->area;
}

static double size_of(const struct ab_scope_bin *b)
{
    return (double)b->sum.allocs / (double)b->n;
}

/* Above it, stretches are phases of the program. */
static double phase_size(uint64_t allocs)
{
    return (double)allocs / GIANT;
}

static double find_typical(const struct ab_scope_tally *t, uint64_t allocs)
{
    double all = 0, passed = 0;
    unsigned end = 0;
    while (end < AB_SCOPE_BINS &&
           (t->bins[end].n == 0 || size_of(&t->bins[end]) <= phase_size(allocs)))
        all += (double)t->bins[end++].sum.allocs;
    for (unsigned i = 0; i < end; i++) {
        passed += (double)t->bins[i].sum.allocs;
        if (t->bins[i].n > 0 && passed * 2 >= all)
            return size_of(&t->bins[i]);
    }
    return 0;
}

struct sums {
    double n, allocs, squares, most;        /* of scopes */
    double part, shorts, gone, calls, area; /* of fragments too */
};

/* Fragments count where blocks die, but are no scopes. */
static struct sums sum_up(const struct ab_scope_tally *t, uint64_t allocs, double typical)
{
    struct sums s = {0};
    for (unsigned i = 0; i < AB_SCOPE_BINS; i++) {
        const struct ab_scope_bin *b = &t->bins[i];
        if (b->n == 0 || size_of(b) > phase_size(allocs))
            continue;
        s.part += (double)b->sum.allocs;
        s.shorts += (double)b->sum.shorts;
        s.gone += (double)b->sum.shorts - (double)b->sum.survivors;
        s.calls += (double)b->sum.calls;
        s.area += (double)b->sum.area;
        if (size_of(b) < typical / AB_SCOPE_FRAGMENT)
            continue;
        s.n += (double)b->n;
        s.allocs += (double)b->sum.allocs;
        s.squares += (double)b->n * size_of(b) * size_of(b);
        s.most += (double)b->sum.most;
    }
    return s;
}

/* How often the number of live blocks would fall as low, if they came and went by themselves: in
 * balance as often as one is allocated while so many live. */
static double by_accident(const struct sums *s)
{
    double mean = s->area / s->calls, low = floor(s->most / s->n / AB_SCOPE_LOW);
    return mean > 0 ? s->shorts * exp(low * log(mean) - mean - lgamma(low + 1)) : s->shorts;
}

bool ab_scope_is_regular(double count, double variation, double expected)
{
    return variation <= VARIATION || count >= ACCIDENTS * expected;
}

struct ab_scope_verdict ab_scope_judge(const struct ab_scope_tally *t, uint64_t allocs)
{
    struct ab_scope_verdict v = {.typical = find_typical(t, allocs)};
    struct sums s = sum_up(t, allocs, v.typical);
    if (v.typical < AB_SCOPE_ALLOCS_LEAST || s.n < AB_SCOPE_COUNT_LEAST)
        return v;
    double mean = s.allocs / s.n, variance = s.squares / s.n - mean * mean;
    v.count = s.n;
    v.share = s.gone / (double)allocs;
    v.purity = s.gone / s.part;
    v.variation = variance > 0 ? sqrt(variance) / mean : 0;
    v.expected = by_accident(&s);
    v.has_scopes = s.part * PART >= (double)allocs && s.gone * GONE >= s.part &&
                   ab_scope_is_regular(v.count, v.variation, v.expected);
    return v;
}
