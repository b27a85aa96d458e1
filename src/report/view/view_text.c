/* SPDX-License-Identifier: MIT
 *
 * A list of strings, freed together.
 */
#include "report/view/view_text.h"

#include "core/grow.h"
#include "core/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
{
    va_list args;
    AB_GROW(t->items, t->cap, t->n);
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    return t->items[t->n++] = text;
}

void ab_view_texts_fini(struct ab_view_texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->items[i]);
    free(t->items);
    *t = (struct ab_view_texts){0};
}
