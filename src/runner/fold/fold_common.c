/* SPDX-License-Identifier: MIT
 *
 * What all that fold share: room for records, empty histograms.
 */
#include "runner/fold/fold_common.h"

#include <stdlib.h>

bool ab_fold_grow(void **items, uint32_t *cap, uint32_t n, size_t item_bytes)
{
    if (n < *cap)
        return true;
    uint32_t wanted = *cap == 0 ? 64 : *cap * 2;
    void *grown = realloc(*items, wanted * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *cap = wanted;
    return true;
}

struct ab_hdr *ab_fold_new_hdr(void)
{
    struct ab_hdr *hdr = calloc(1, sizeof *hdr);
    if (hdr != NULL)
        hdr->min = UINT64_MAX; /* all that ab_hdr_init does to fresh zeroes, without touching them:
                                  of 220 KiB a histogram only a few pages are ever used */
    return hdr;
}
