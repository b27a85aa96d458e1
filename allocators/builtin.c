/* SPDX-License-Identifier: MIT
 *
 * The list of the built-in back ends: one line with the name of its table for each. The skeleton is
 * listed under the name that a shared object exports.
 */
#include "allocators/builtin.h"

#include "allocators/arena/arena_shared.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"

#include <string.h>

#define BUILTINS(X) \
    X(ab_arena_backend) \
    X(ab_pool_backend) \
    X(ab_slab_backend) \
    X(ab_paged_backend) \
    X(ab_handle_backend) \
    X(ab_system_backend) \
    X(ab_null_backend) \
    X(ab_backend_v1)

#define X(table) extern const struct ab_backend table;
BUILTINS(X)
#undef X

static const struct ab_backend *const builtins[] = {
#define X(table) &table,
    BUILTINS(X)
#undef X
};

enum { N_BUILTINS = sizeof builtins / sizeof builtins[0] };

const struct ab_backend *ab_builtin_find(const char *name)
{
    for (size_t i = 0; i < N_BUILTINS; i++)
        if (strcmp(builtins[i]->name, name) == 0)
            return builtins[i];
    return NULL;
}

bool ab_builtin_has_inline(const char *name)
{
    static const char *const names[] = {"arena", "pool", "slab", "null"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool ab_builtin_has_cursor(const char *name)
{
    return strcmp(name, "slab") != 0 && ab_builtin_has_inline(name);
}

/* The casts are valid, because a heap of these back ends is only a struct of the group. */

void *ab_arena_of_heap(struct ab_heap *heap)
{
    struct ab_arena_shared *own = (struct ab_arena_shared *)heap;
    return own->shard.is_plain ? &own->arena : NULL;
}

void *ab_pool_of_heap(struct ab_heap *heap)
{
    struct ab_pool_shared *own = (struct ab_pool_shared *)heap;
    return own->shard.is_plain ? &own->pool : NULL;
}

void *ab_slabs_of_heap(struct ab_heap *heap)
{
    struct ab_slab_shared *own = (struct ab_slab_shared *)heap;
    return own->shard.is_plain ? &own->slabs : NULL;
}

size_t ab_builtin_count(void)
{
    return N_BUILTINS;
}

const struct ab_backend *ab_builtin_at(size_t index)
{
    return builtins[index];
}
