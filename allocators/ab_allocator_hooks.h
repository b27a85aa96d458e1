/* SPDX-License-Identifier: MIT
 *
 * Uses any ab_allocator as the memory of a library with hooks of its own. If the library's free has
 * no size, 16 bytes in front of each block store the size of the block.
 *
 *     struct ab_allocator memory = ab_paged_pool_allocator(&pool);   (outlives the library's use)
 *     ImGui::SetAllocatorFunctions(ab_hook_malloc, ab_hook_free, &memory);
 *     lua_State *L = lua_newstate(ab_hook_lua, &memory);
 *     #define STBI_MALLOC(size) ab_hook_malloc((size), &memory)
 *     #define STBI_REALLOC(block, size) ab_hook_realloc((block), (size), &memory)
 *     #define STBI_FREE(block) ab_hook_free((block), &memory)
 *
 * Blocks are aligned to two pointers. The hooks are as thread-safe as the allocator. Example:
 * allocators/examples/library_hooks.c.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_HOOKS_H
#define AB_ALLOCATORS_ALLOCATOR_HOOKS_H

#include "ab_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Resizes a block like realloc: if `block` is NULL, allocates one. `allocator` points to a struct
 * ab_allocator, as in all hooks of this file. Returns NULL on failure and leaves the block as it
 * was. A size of 0 returns a unique block. */
static inline void *ab_hook_realloc(void *block, size_t size, void *allocator)
{
    const struct ab_allocator *from = (const struct ab_allocator *)allocator;
    char *begin = block == NULL ? NULL : (char *)block - AB_ALLOCATOR_ALIGN;
    size_t old_bytes = begin == NULL ? 0 : *(size_t *)(void *)begin, new_bytes;
    if (__builtin_add_overflow(size, AB_ALLOCATOR_ALIGN, &new_bytes))
        return NULL;
    begin = (char *)ab_allocator_resize(from, begin, old_bytes, new_bytes, AB_ALLOCATOR_ALIGN);
    if (begin == NULL)
        return NULL;
    *(size_t *)(void *)begin = new_bytes;
    return begin + AB_ALLOCATOR_ALIGN;
}

static inline void *ab_hook_malloc(size_t size, void *allocator)
{
    return ab_hook_realloc(NULL, size, allocator);
}

static inline void ab_hook_free(void *block, void *allocator)
{
    const struct ab_allocator *from = (const struct ab_allocator *)allocator;
    if (block == NULL)
        return;
    void *begin = (char *)block - AB_ALLOCATOR_ALIGN;
    from->free(*(size_t *)begin, begin, from->context);
}

/* Implements lua_Alloc, the allocation callback of Lua. Lua passes the old size of each block, so
 * that no header stores it. For a new block, old_size is the kind of object and is ignored. */
static inline void *ab_hook_lua(void *allocator, void *block, size_t old_size, size_t new_size)
{
    return ab_allocator_resize((const struct ab_allocator *)allocator, block,
                               block == NULL ? 0 : old_size, new_size, AB_ALLOCATOR_ALIGN);
}

#ifdef __cplusplus
}
#endif

#endif
