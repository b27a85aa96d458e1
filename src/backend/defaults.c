/* SPDX-License-Identifier: MIT
 *
 * The tests of defaults.def. Each needs sums only, no look at the single requests: Markov's
 * inequality bounds how many of them can exceed a multiple of their mean.
 */
#include "backend/defaults.h"

#include "base/bits.h"

#include <string.h>

static double mean_bytes(const struct ab_work *w)
{
    return (double)w->requested_bytes / (double)w->n_requests;
}

static bool is_freed_in_bulk(const struct ab_work *w)
{
    return (double)w->stretch_bytes <= 1.25 * (double)w->live_peak_bytes;
}

static bool is_of_one_size(const struct ab_work *w)
{
    return mean_bytes(w) >= 0.8 * (double)w->largest_bytes;
}

static bool is_small_and_mixed(const struct ab_work *w)
{
    return mean_bytes(w) <= 512 && !is_of_one_size(w);
}

static const struct ab_default defaults[] = {
#define AB_DEFAULT(name, test, why, rule) {#name, test, why, rule},
#include "backend/defaults.def"
#undef AB_DEFAULT
};

size_t ab_default_count(void)
{
    return AB_ARRAY_LEN(defaults);
}

const struct ab_default *ab_default_at(size_t index)
{
    return &defaults[index];
}

bool ab_default_suits(size_t index, const struct ab_work *work)
{
    return work->requested_bytes > 0 && defaults[index].is_suited != NULL &&
           defaults[index].is_suited(work);
}

bool ab_default_has_library(const struct ab_preset *preset)
{
    const struct ab_preset *other;
    if (ab_preset_is_own(preset))
        return false;
    for (size_t i = 0; preset->files[0] != NULL && (other = ab_preset_at(i)) != preset; i++)
        for (const char *const *file = other->files; *file != NULL; file++)
            if (strcmp(*file, preset->files[0]) == 0)
                return false;
    return true;
}
