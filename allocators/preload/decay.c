/* SPDX-License-Identifier: MIT
 *
 * When memory goes back without a thread that sees to it: whoever moves a span or a mapping looks
 * at the clock, and one of them a period gives back what was not taken meanwhile.
 */
#include "allocators/preload/preload.h"

static uint32_t last_ms; /* atomic */

void ab_decay_tick(void)
{
    uint32_t now = ab_clock_ms(), last = __atomic_load_n(&last_ms, __ATOMIC_RELAXED);
    if (!ab_clock_is_due(last, now) ||
        !__atomic_compare_exchange_n(&last_ms, &last, now, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    ab_page_heap_purge(now, false);
    ab_large_purge(now, false);
}
