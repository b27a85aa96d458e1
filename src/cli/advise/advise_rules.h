/* SPDX-License-Identifier: MIT
 *
 * An advice as rules of --map: for a measurement, and as the file of -o.
 */
#ifndef AB_CLI_ADVISE_ADVISE_RULES_H
#define AB_CLI_ADVISE_ADVISE_RULES_H

#include "advise/advise.h"
#include "core/text.h"

#include <stdio.h>

/* "site:a.c:8=arena,size:96=pool:slot=96,*=BASE" of the heaps whose bit is set; "" = out of memory.
 * The caller frees it (ab_text_fini). */
struct ab_text ab_advise_rules(const struct ab_advice *a, uint32_t heaps, const char *base);

/* The same, of heaps that are compiled in where they can be. */
struct ab_text ab_advise_compiled_rules(const struct ab_advice *a, uint32_t heaps,
                                        const char *base);

/* The same, a rule a line, with the function of each. */
void ab_advise_write_rules(FILE *to, const struct ab_advice *a, uint32_t heaps, const char *base,
                           const char *trace);

#endif
