/* SPDX-License-Identifier: MIT
 *
 * Text that belongs to a view: it lives as long as the view does.
 */
#ifndef AB_REPORT_VIEW_VIEW_TEXT_H
#define AB_REPORT_VIEW_VIEW_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise. */
struct ab_view_texts {
    char **items;
    size_t n, cap;
};

/* Never NULL. */
const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void ab_view_texts_fini(struct ab_view_texts *t);

#endif
