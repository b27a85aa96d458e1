/* SPDX-License-Identifier: MIT
 *
 * For tests that count pages: with a huge page more than what was written to is resident, and
 * whether one is to be had, now or later, depends on the machine.
 */
#ifndef AB_TESTS_SUPPORT_SMALL_PAGES_H
#define AB_TESTS_SUPPORT_SMALL_PAGES_H

#include <sys/prctl.h>

/* From here on this process gets none, whatever it asks for. */
static inline void test_with_small_pages(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

#endif
