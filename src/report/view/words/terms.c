/* SPDX-License-Identifier: MIT
 *
 * Takes sentences out of the table of explain.
 */
#include "report/view/words/terms.h"

#include "explain/explain.h"

#include <string.h>

bool ab_view_term_add(struct ab_text *to, const char *word)
{
    struct ab_explanation e;
    if (!ab_explain_find(word, &e))
        return false;
    ab_text_addf(to, "%s", e.what);
    if (e.formula[0] != 0)
        ab_text_addf(to, " Formula: %s.", e.formula);
    return true;
}

/* Up to the full stop before a blank. */
static int first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    return (int)(end != NULL ? (size_t)(end - text) + 1 : strlen(text));
}

void ab_view_terms_legend(struct ab_text *to, const char *const *words)
{
    for (; *words != NULL; words++) {
        struct ab_explanation e;
        if (ab_explain_find(*words, &e))
            ab_text_addf(to, "%s%s: %.*s", to->n > 0 ? " " : "", *words, first_sentence(e.what),
                         e.what);
    }
}
