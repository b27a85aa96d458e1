/* SPDX-License-Identifier: MIT
 *
 * A library with neither malloc nor ab_backend_v1. Both names occur in it, hidden or undefined.
 */
#include <stdlib.h>

__attribute__((visibility("hidden"))) int ab_backend_v1 = 1;

void *plug_symbol_use(size_t size)
{
    return ab_backend_v1 != 0 ? malloc(size) : NULL;
}
