/* SPDX-License-Identifier: MIT
 *
 * From the verdict to what would settle it; what helps against noise is with its warning.
 */
#include "report/view/next_step.h"

#include <math.h>
#include <string.h>

static void add(struct ab_view_steps *out, const char *command, const char *why)
{
    for (unsigned i = 0; i < out->n; i++)
        if (strcmp(out->items[i].command, command) == 0)
            return;
    if (out->n < AB_VIEW_STEPS_MAX && command[0] != 0)
        out->items[out->n++] = (struct ab_view_step){command, why};
}

/* What the effect says about how many rounds would do. */
static void add_rounds(const struct ab_session *s, const struct ab_view_headline *headline,
                       struct ab_view_texts *texts, struct ab_view_steps *out)
{
    uint32_t n = ab_effect_rounds_needed(&headline->speed, NAN);
    bool is_over = n > 10 * (s->n_rounds > 10 ? s->n_rounds : 10);
    if (headline->verdict == AB_VIEW_TOO_FEW)
        add(out, ab_session_is_exec(s) ? "--rounds 20" : "--rounds 10",
            "there is no interval below 6");
    else if (n == 0 || is_over)
        return;
    else
        add(out, ab_view_texts_addf(texts, "--rounds %u", n),
            "as many would settle whether they differ");
}

void ab_view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                        struct ab_view_texts *texts, struct ab_view_steps *out)
{
    *out = (struct ab_view_steps){0};
    if (!s->is_complete) /* to go on comes first, and says so itself */
        return;
    if (headline->verdict == AB_VIEW_TOO_NOISY || headline->verdict == AB_VIEW_NO_CLEAR ||
        headline->verdict == AB_VIEW_TOO_FEW)
        add_rounds(s, headline, texts, out);
}
