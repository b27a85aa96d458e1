/* SPDX-License-Identifier: MIT
 *
 * The answer in sentences: who is fastest by the time of the whole run, and at what price. Claims
 * only what the rounds carry: a difference that its interval does not show is called none.
 */
#ifndef AB_REPORT_VIEW_HEADLINE_H
#define AB_REPORT_VIEW_HEADLINE_H

#include "report/view/ranking.h"
#include "report/view/view_text.h"
#include "report/view/warnings.h"

enum ab_view_verdict {
    AB_VIEW_FASTER,     /* `winner` is clearly faster than `versus` */
    AB_VIEW_NO_CLEAR,   /* between `winner` and `versus`, the fastest two */
    AB_VIEW_TOO_NOISY,  /* the machine was too busy to tell */
    AB_VIEW_TOO_FEW,    /* rounds: there is no interval */
    AB_VIEW_TOO_LITTLE, /* work: it is over before it can be timed */
    AB_VIEW_ALONE,      /* one back end, nothing to compare with */
    AB_VIEW_NOTHING     /* no back end has comparable numbers */
};

enum { AB_VIEW_SENTENCES_MAX = 10 };

struct ab_view_headline {
    enum ab_view_verdict verdict;
    uint32_t winner, versus; /* of session->backends; UINT32_MAX = none */
    struct ab_effect speed;  /* of winner by versus; above 1: faster */
    /* The verdict first, then what else counts: tail, memory, who is left out and why, that it was
     * interrupted. Whole sentences; names in them are printable. */
    const char *sentences[AB_VIEW_SENTENCES_MAX];
    unsigned n_sentences;
};

void ab_view_headline_make(const struct ab_session *s, const struct ab_view_ranking *ranking,
                           const struct ab_view_warnings *warnings, struct ab_view_texts *texts,
                           struct ab_view_headline *out);

#endif
