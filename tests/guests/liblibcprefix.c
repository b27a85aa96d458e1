/* SPDX-License-Identifier: MIT
 *
 * Two functions of its own whose kin, __libc_calloc and the others, lie in the C library: blocks
 * of one would reach the other.
 */
#include <stddef.h>
#include <stdlib.h>

void *__libc_malloc(size_t n);
void __libc_free(void *p);

__attribute__((visibility("default"))) void *__libc_malloc(size_t n)
{
    return malloc(n);
}

__attribute__((visibility("default"))) void __libc_free(void *p)
{
    free(p);
}
