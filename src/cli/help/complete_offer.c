/* SPDX-License-Identifier: MIT
 *
 * Prints the candidates that fit.
 */
#include "cli/help/complete_offer.h"

#include <string.h>

void ab_offer_lead(struct ab_offer *o, const char *begin)
{
    o->begin = begin;
}

void ab_offer(const struct ab_offer *o, const char *candidate, const char *end)
{
    for (const char *s = candidate; *s != 0; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return;
    if (strncmp(candidate, o->begin, strlen(o->begin)) == 0)
        fprintf(o->to, "%.*s%s%s\n", (int)(o->begin - o->word), o->word, candidate, end);
}
