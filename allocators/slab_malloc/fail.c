/* SPDX-License-Identifier: MIT
 *
 * Ends a process that frees an invalid pointer. Writes one line without stdio, which would
 * allocate.
 */
#include "allocators/slab_malloc/slab_malloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *add(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return to + n;
}

static char *add_address(char *to, uintptr_t value)
{
    int digit = 15;
    while (digit > 0 && value >> (4 * digit) == 0)
        digit--;
    for (; digit >= 0; digit--)
        *to++ = "0123456789abcdef"[value >> (4 * digit) & 15];
    return to;
}

void ab_fail_free(const void *p, const char *why)
{
    char line[160], *end = add(line, "slab_malloc: cannot free 0x");
    end = add_address(end, (uintptr_t)p);
    end = add(add(add(end, ": "), why), "\n");
    ssize_t written = write(STDERR_FILENO, line, (size_t)(end - line));
    (void)written; /* a failed write cannot be reported anywhere else */
    abort();
}
