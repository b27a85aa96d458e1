/* SPDX-License-Identifier: MIT
 *
 * The code of one heap in what src/advise/code.h writes.
 */
#ifndef AB_ADVISE_CODE_HEAPS_H
#define AB_ADVISE_CODE_HEAPS_H

#include "advise/advise.h"
#include "core/text.h"

/* All append text; `name` is what ab_code_name gives. The inline functions and what they
 * need; the functions that open and close it; its statements of advised_scope_end, if any. */
void ab_code_heaps_interface(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out);
void ab_code_heaps_implementation(const struct ab_advice_heap *heap, const char *name,
                                  struct ab_text *out);
void ab_code_heaps_scope_end(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out);

/* Its std::pmr resource, of the heap's own name in namespace advised; ab_code_heaps_functions is the
 * class that some of them need, for which `needs_functions` holds. */
extern const char ab_code_heaps_functions[];
bool ab_code_heaps_needs_functions(const struct ab_advice_heap *heap);
void ab_code_heaps_resource(const struct ab_advice_heap *heap, const char *name,
                            struct ab_text *out);

/* "arena", "pool", "slab": the header it needs. */
const char *ab_code_heaps_header(const struct ab_advice_heap *heap);

#endif
