/* SPDX-License-Identifier: MIT
 *
 * One candidate after the other, as far as it begins like the word at the cursor.
 */
#ifndef AB_CLI_HELP_COMPLETE_OFFER_H
#define AB_CLI_HELP_COMPLETE_OFFER_H

#include <stdio.h>

struct ab_offer {
    FILE *to;
    const char *word;  /* at the cursor */
    const char *begin; /* of the part in it that is completed; what is before stays */
};

/* What is completed begins here, within the word. */
void ab_offer_lead(struct ab_offer *o, const char *begin);
/* The candidate followed by `end`, in place of the part; nothing for a hostile name, with line breaks
 * or other control characters. */
void ab_offer(const struct ab_offer *o, const char *candidate, const char *end);

#endif
