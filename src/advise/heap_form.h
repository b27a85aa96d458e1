/* SPDX-License-Identifier: MIT
 *
 * How a heap serves several threads: which forms of it there are, and its name as a back end.
 */
#ifndef AB_ADVISE_HEAP_FORM_H
#define AB_ADVISE_HEAP_FORM_H

#include "advise/advise.h"

/* Several threads ask it for blocks, or free them. */
bool ab_heap_form_is_shared(const struct ab_advice_heap *h);
/* Without measuring: a heap for each thread where several use it. */
enum ab_advice_threads ab_heap_form_usual(const struct ab_advice_heap *h);
/* Fills h->backend by its kind, capacity and form. */
void ab_heap_form_name(struct ab_advice_heap *h);

#endif
