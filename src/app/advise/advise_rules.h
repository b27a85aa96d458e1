/* SPDX-License-Identifier: MIT
 *
 * Writes an advice as rules of --map, for a measurement and for the file of -o.
 */
#ifndef AB_APP_ADVISE_ADVISE_RULES_H
#define AB_APP_ADVISE_ADVISE_RULES_H

#include "advise/advise.h"
#include "core/text.h"

#include <stdio.h>

/* Returns the rules of the heaps with their bits set, such as
 * "site:a.c:8=arena,size:96=pool:slot=96,*=BASE"; "" = out of memory. The caller frees the text
 * with ab_text_fini(). */
struct ab_text ab_advise_rules(const struct ab_advice *a, uint32_t heaps, const char *base);

/* Returns the rules of ab_advise_rules(), with heaps compiled in where possible. */
struct ab_text ab_advise_compiled_rules(const struct ab_advice *a, uint32_t heaps,
                                        const char *base);

/* Writes the rules of ab_advise_rules(), one per line, with the function of each. */
void ab_advise_write_rules(FILE *to, const struct ab_advice *a, uint32_t heaps, const char *base,
                           const char *trace);

#endif
