/* SPDX-License-Identifier: MIT
 *
 * A malloc under other names, and not whole: nothing aligned. Under a third name its malloc has no
 * block of 0 bytes.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) void *few_malloc(size_t n)
{
    return malloc(n);
}

__attribute__((visibility("default"))) void few_free(void *p)
{
    free(p);
}

__attribute__((visibility("default"))) void *few_calloc(size_t n, size_t size)
{
    return calloc(n, size);
}

__attribute__((visibility("default"))) void *few_realloc(void *p, size_t n)
{
    return realloc(p, n);
}

__attribute__((visibility("default"))) void *none_malloc(size_t n)
{
    return n == 0 ? NULL : malloc(n);
}

__attribute__((visibility("default"))) void none_free(void *p)
{
    free(p);
}

__attribute__((visibility("default"))) void *none_realloc(void *p, size_t n)
{
    return realloc(p, n);
}
