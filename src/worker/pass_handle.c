/* SPDX-License-Identifier: MIT
 *
 * The loops at the heap boundary for back ends whose refs are handles: every access to a block
 * resolves its handle first.
 */
#define AB_PASS_HANDLES
#include "worker/pass_heap.c"
