/* SPDX-License-Identifier: MIT
 *
 * The back ends that are linked in. Part of the worker: no malloc, no stdio, no locale.
 */
#ifndef AB_BACKEND_BUILTIN_H
#define AB_BACKEND_BUILTIN_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL when there is none of this name. */
const struct ab_backend *ab_builtin_find(const char *name);
/* Is there a loop that has it compiled in (`inline+NAME`)? */
bool ab_builtin_has_inline(const char *name);
/* … and one that allocates through its cursor (`cursor+NAME`)? */
bool ab_builtin_has_cursor(const char *name);
size_t ab_builtin_count(void);
const struct ab_backend *ab_builtin_at(size_t index);

#endif
