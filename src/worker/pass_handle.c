/* SPDX-License-Identifier: MIT
 *
 * The loops at the heap boundary for back ends whose refs are handles: every touch resolves first.
 */
#define AB_PASS_HANDLES
#include "worker/pass_heap.c"
