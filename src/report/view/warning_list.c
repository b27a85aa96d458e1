/* SPDX-License-Identifier: MIT
 *
 * The list of warnings, in the order in which they are found.
 */
#include "report/view/warning_list.h"

#include "core/grow.h"

void ab_warning_list_add(struct ab_view_warnings *w, const char *id, enum ab_view_severity severity,
                         const char *text, const char *remedy)
{
    AB_GROW(w->items, w->cap, w->n);
    w->items[w->n++] = (struct ab_view_warning){id, severity, UINT32_MAX, text, remedy};
}
