/* SPDX-License-Identifier: MIT
 *
 * The loops at the heap boundary for back ends whose references are handles. Every access to a
 * block resolves its handle first.
 */
#define AB_PASS_HANDLES
#include "worker/pass_heap.c"
