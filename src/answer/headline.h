/* SPDX-License-Identifier: MIT
 *
 * The first sentence of an answer, and the next command (docs/measuring.md, "The first sentence").
 */
#ifndef AB_ANSWER_HEADLINE_H
#define AB_ANSWER_HEADLINE_H

#include "answer/answer.h"

void ab_view_headline_make(const struct ab_session *s, const struct ab_view_ranking *ranking,
                           const struct ab_view_warnings *warnings, struct ab_view_texts *texts,
                           struct ab_view_headline *out);
void ab_view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                        const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                        struct ab_view_steps *out);

#endif
