/* SPDX-License-Identifier: MIT
 *
 * Chooses among few sizes: each is a replay of its own, and between them predictions change slowly.
 */
#include "cli/exec/cache_fit.h"

#include <math.h>

/* About the first-level cache of today's processors, a few times it, and about the second level. */
const uint64_t ab_cache_fit_sizes[AB_CACHE_FIT_SIZES] = {0, 32 << 10, 128 << 10, 512 << 10};

bool ab_cache_fit_is_measurable(const struct ab_effect *measured)
{
    return measured->low > 0 || measured->high < 0;
}

/* NaN where one of the allocators was not replayed with it: sums over different ones say nothing. */
static double misfit(const struct ab_cache_fit *fits, size_t n, size_t skip, size_t size)
{
    double sum = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_effect *m = &fits[i].measured;
        if (i == skip || !ab_cache_fit_is_measurable(m))
            continue;
        double width = fmax(m->high - m->low,
                            1e-3); /* of an exact one: a clock has no finer step */
        sum += pow((fits[i].predicted[size] - m->ratio) / width, 2);
        used++;
    }
    return used > 0 ? sum : (double)NAN;
}

size_t ab_cache_fit_choose(const struct ab_cache_fit *fits, size_t n, size_t skip)
{
    size_t best = AB_CACHE_FIT_SIZES;
    double least = INFINITY;
    for (size_t v = 0; v < AB_CACHE_FIT_SIZES; v++) {
        double sum = misfit(fits, n, skip, v);
        if (sum < least) {
            least = sum;
            best = v;
        }
    }
    return best;
}
