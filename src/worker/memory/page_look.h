/* SPDX-License-Identifier: MIT
 *
 * The part of the ledger of pages that finds out which are resident; for page_ledger.c alone.
 */
#ifndef AB_WORKER_MEMORY_PAGE_LOOK_H
#define AB_WORKER_MEMORY_PAGE_LOOK_H

#include "worker/memory/page_ledger.h"

/* Before the baseline is taken. */
void ab_page_look_open(void);
/* At a new stretch: all pages that are not resident, so that the faults they take are known; it is
 * no error where that cannot be read. */
void ab_page_look_first(struct ab_page_ledger *l, struct ab_ledger_stretch *s);
/* A pending page is resident. */
void ab_page_look_settle(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i);
/* Looks at what is pending of all listed stretches. False: not all is known, because the credit is
 * used up (never with `must`), or page tables cannot be read; then the ledger is lost. */
bool ab_page_look(struct ab_page_ledger *l, uint64_t resident_bytes, bool must);

#endif
