/* SPDX-License-Identifier: MIT
 *
 * The code of one heap in what src/advise/code.h writes.
 */
#ifndef AB_ADVISE_CODE_HEAPS_H
#define AB_ADVISE_CODE_HEAPS_H

#include "advise/advise.h"
#include "core/text.h"

/* All three append text; `name` is what ab_code_name gives. The inline functions and what they
 * need; the functions that open and close it; its statements of advised_scope_end, if any. */
void ab_code_heaps_interface(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out);
void ab_code_heaps_implementation(const struct ab_advice_heap *heap, const char *name,
                                  struct ab_text *out);
void ab_code_heaps_scope_end(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out);

/* "arena", "pool", "slab": the header it needs. */
const char *ab_code_heaps_header(const struct ab_advice_heap *heap);

#endif
