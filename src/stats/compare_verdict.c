/* SPDX-License-Identifier: MIT
 *
 * The rule of all verdicts, and their words.
 */
#include "stats/compare.h"

#include <math.h>
#include <string.h>

const char *ab_verdict_name(enum ab_verdict verdict)
{
    static const char *const names[AB_VERDICT_COUNT] = {
        [AB_VERDICT_OK] = "ok",
        [AB_VERDICT_IMPROVED] = "improved",
        [AB_VERDICT_REGRESSED] = "regressed",
        [AB_VERDICT_INCONCLUSIVE] = "inconclusive",
        [AB_VERDICT_FAILED] = "failed",
    };
    return (unsigned)verdict < AB_VERDICT_COUNT ? names[verdict] : "unknown";
}

enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit)
{
    if (isnan(effect->low) || isnan(effect->high))
        return AB_VERDICT_INCONCLUSIVE;
    if (effect->low > 1 && effect->ratio > 1 + limit)
        return AB_VERDICT_REGRESSED;
    if (effect->high < 1 && effect->ratio < 1 / (1 + limit))
        return AB_VERDICT_IMPROVED;
    return effect->high <= 1 + limit ? AB_VERDICT_OK : AB_VERDICT_INCONCLUSIVE;
}

bool ab_cell_is_judged(const struct ab_cell *cell)
{
    return !isnan(cell->limit) || cell->verdict == AB_VERDICT_FAILED;
}

const char *ab_cell_word(const struct ab_cell *cell)
{
    if (ab_cell_is_judged(cell))
        return ab_verdict_name(cell->verdict);
    if (isnan(cell->effect.low) || isnan(cell->effect.high))
        return "n/a";
    if (cell->reason[0] != 0)
        return "~";
    return cell->effect.low > 1 ? "worse" : cell->effect.high < 1 ? "better" : "~";
}
