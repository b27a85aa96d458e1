/* SPDX-License-Identifier: MIT
 *
 * A comparison in sentences, the most severe verdict first, and the noise of the compared results.
 */
#ifndef AB_ANSWER_VERDICTS_H
#define AB_ANSWER_VERDICTS_H

#include "answer/grid.h"
#include "stats/compare.h"

enum { AB_VIEW_VERDICTS_MAX = 16 };

struct ab_view_verdicts {
    /* whole sentences: one for each back end with a limit, or one for many of the same kind */
    const char *sentences[AB_VIEW_VERDICTS_MAX];
    unsigned n_sentences;
    const char *counts; /* "1 regressed, 2 ok"; "no verdict" */
    /* about noise: half the range of the rounds, and whether the machine was busy; "" = not
     * known */
    const char *noise;
};

/* Writes the verdicts of a comparison. Texts belong to `texts`; names in them are printable. */
void ab_view_verdicts_make(const struct ab_comparison *c, struct ab_view_texts *texts,
                           struct ab_view_verdicts *out);

#endif
