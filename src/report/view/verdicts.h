/* SPDX-License-Identifier: MIT
 *
 * A comparison in sentences, the gravest verdict first, and how noisy what was compared is.
 */
#ifndef AB_REPORT_VIEW_VERDICTS_H
#define AB_REPORT_VIEW_VERDICTS_H

#include "report/view/grid.h"
#include "stats/compare.h"

enum { AB_VIEW_VERDICTS_MAX = 16 };

struct ab_view_verdicts {
    /* Whole sentences: of each back end with a limit, or of many of one kind together. */
    const char *sentences[AB_VIEW_VERDICTS_MAX];
    unsigned n_sentences;
    const char *counts; /* "1 regressed, 2 ok"; "no verdict" */
    const char
        *noise; /* by how much the rounds differ, half of their range, and whether the machine
                           was busy; "" = not known */
};

/* Texts go to `texts`; names in them are printable. */
void ab_view_verdicts_make(const struct ab_comparison *c, struct ab_view_texts *texts,
                           struct ab_view_verdicts *out);

#endif
