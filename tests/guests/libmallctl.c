/* SPDX-License-Identifier: MIT
 *
 * A library with mallctl and without a malloc: what programs that look for mallctl find.
 */
#include <stddef.h>

int mallctl(const char *name, void *old, size_t *n_old, void *new, size_t n_new);

int mallctl(const char *name, void *old, size_t *n_old, void *new, size_t n_new)
{
    (void)name, (void)old, (void)n_old, (void)new, (void)n_new;
    return 0;
}
