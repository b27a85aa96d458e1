/* SPDX-License-Identifier: MIT
 *
 * One mistake with a heap of several threads: misuse_shared MISTAKE pool|slab. Exit code 0 where
 * nothing notices it, 2 for a mistake that it does not know.
 */
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"

#include <stdio.h>
#include <string.h>

enum { SLOT = 200 };

static int free_by_size(struct ab_allocator allocator, size_t wrong_by)
{
    void *small = allocator.alloc(8, allocator.context);
    void *block = allocator.alloc(64, allocator.context);
    if (small == NULL || block == NULL)
        return 3;
    allocator.free(8, small, allocator.context);
    allocator.free(0, NULL, allocator.context);
    allocator.free(64 + wrong_by, block, allocator.context);
    return 0;
}

/* Freed by another heap than its own, so it waits there to be sent. */
static int read_waiting(char *block, bool is_read)
{
    return is_read ? ((volatile char *)block)[40] & 0 : 0;
}

static int use_pool(const char *mistake)
{
    struct ab_pool_shared_options options = {.pool = {.slot_bytes = SLOT, .grows = true},
                                             .threads = {.mode = AB_SHARDS_LOCAL, .n = 4}};
    struct ab_pool_shared *group = ab_pool_shared_open(&options);
    struct ab_pool_shared *first = ab_pool_shared_enter(group, 0);
    struct ab_pool_shared *second = ab_pool_shared_enter(group, 1);
    int code = free_by_size(ab_pool_shared_allocator(group), strcmp(mistake, "size") == 0);
    char *block = (char *)ab_pool_shared_alloc(first, SLOT);
    ab_pool_shared_free(second, block);
    code += read_waiting(block, strcmp(mistake, "waiting") == 0);
    if (ab_pool_shared_sum(group).live != 0)
        code = 3;
    code += read_waiting(block, strcmp(mistake, "counted") == 0);
    ab_pool_shared_close(group);
    return code;
}

static int use_slab(const char *mistake)
{
    struct ab_slab_shared_options options = {.threads = {.mode = AB_SHARDS_LOCAL, .n = 4}};
    struct ab_slab_shared *group = ab_slab_shared_open(&options);
    struct ab_slab_shared *first = ab_slab_shared_enter(group, 0);
    struct ab_slab_shared *second = ab_slab_shared_enter(group, 1);
    int code = free_by_size(ab_slab_shared_allocator(group), strcmp(mistake, "size") == 0);
    char *block = (char *)ab_slab_shared_alloc(first, SLOT);
    ab_slab_shared_free(second, block);
    code += read_waiting(block, strcmp(mistake, "waiting") == 0);
    if (ab_slab_shared_sum(group).live != 0)
        code = 3;
    code += read_waiting(block, strcmp(mistake, "counted") == 0);
    ab_slab_shared_close(group);
    return code;
}

int main(int argc, char **argv)
{
    static const char *const mistakes[] = {"none", "size", "waiting", "counted"};
    for (size_t i = 0; argc == 3 && i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (strcmp(argv[1], mistakes[i]) == 0)
            return strcmp(argv[2], "pool") == 0 ? use_pool(argv[1]) : use_slab(argv[1]);
    return 2;
}
