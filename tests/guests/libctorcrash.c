/* SPDX-License-Identifier: MIT
 *
 * Dies as it is loaded, before main.
 */
#include "toy.h"

static volatile int *volatile nowhere = (int *)8;

__attribute__((constructor)) static void crash(void)
{
    *nowhere = 1;
}
