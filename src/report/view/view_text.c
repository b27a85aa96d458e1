/* SPDX-License-Identifier: MIT
 *
 * A list of strings, freed together.
 */
#include "report/view/view_text.h"

#include "core/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0 || !AB_GROW(t->items, t->cap, t->n)) {
        if (n >= 0)
            free(text);
        t->is_short_of_memory = true;
        return "";
    }
    t->items[t->n++] = text;
    return text;
}

void ab_view_texts_fini(struct ab_view_texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->items[i]);
    free(t->items);
    *t = (struct ab_view_texts){0};
}
