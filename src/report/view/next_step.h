/* SPDX-License-Identifier: MIT
 *
 * What to type next.
 */
#ifndef AB_REPORT_VIEW_NEXT_STEP_H
#define AB_REPORT_VIEW_NEXT_STEP_H

#include "report/view/headline.h"

enum { AB_VIEW_STEPS_MAX = 4 };

struct ab_view_step {
    const char *command; /* an option to add, "--rounds 20", or what a program is started with:
                            "LD_PRELOAD=/usr/lib/libjemalloc.so.2" */
    const char *why;     /* "about 18 rounds would settle it" */
};

struct ab_view_steps {
    struct ab_view_step items[AB_VIEW_STEPS_MAX];
    unsigned n;
};

void ab_view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                        const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                        struct ab_view_steps *out);

#endif
