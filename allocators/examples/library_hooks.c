/* SPDX-License-Identifier: MIT
 *
 * Libraries that take their memory from hooks, each with a heap of its own. The first is a user
 * interface whose free has no size, like that of ImGui::SetAllocatorFunctions. The second is a
 * script language with one hook like lua_Alloc. Both are imitated here. Their memory is limited,
 * counted, and given back at the end.
 *     cc -pthread -I. -o library_hooks allocators/examples/library_hooks.c \
 *        allocators/paged/paged_pool.c allocators/slab/slab.c allocators/common/checked.c \
 *        allocators/common/pages.c
 */
#include "allocators/ab_allocator_hooks.h"
#include "allocators/ab_allocator_text.h"
#include "allocators/paged/paged_pool.h"
#include "allocators/slab/slab.h"

/* ---- a library with malloc and free ---- */

static void *(*ui_alloc)(size_t size, void *user);
static void (*ui_free)(void *block, void *user);
static void *ui_user;

static void ui_set_allocator_functions(void *(*alloc)(size_t size, void *user),
                                       void (*free)(void *block, void *user), void *user)
{
    ui_alloc = alloc;
    ui_free = free;
    ui_user = user;
}

static bool ui_draw(size_t n_vertices)
{
    float *vertices = (float *)ui_alloc(n_vertices * sizeof *vertices, ui_user);
    if (vertices == NULL)
        return false;
    for (size_t i = 0; i < n_vertices; i++)
        vertices[i] = (float)i;
    ui_free(vertices, ui_user);
    return true;
}

/* ---- a library with one hook, which knows sizes ---- */

typedef void *script_alloc(void *user, void *block, size_t old_size, size_t new_size);

/* Fills a table, which doubles its size when it is full. Returns the sum of its values. */
static size_t script_run(script_alloc *alloc, void *user, size_t n_values)
{
    size_t *values = NULL, capacity = 0, sum = 0;
    for (size_t i = 0; i < n_values; i++) {
        if (i == capacity) {
            size_t more = capacity == 0 ? 4 : 2 * capacity;
            void *grown = alloc(user, values, capacity * sizeof *values, more * sizeof *values);
            if (grown == NULL)
                break;
            values = (size_t *)grown;
            capacity = more;
        }
        values[i] = i;
        sum += values[i];
    }
    alloc(user, values, capacity * sizeof *values, 0);
    return sum;
}

int main(void)
{
    struct ab_paged_pool budget;
    struct ab_slabs slabs;
    struct ab_slabs_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)16 << 20;
    if (ab_paged_pool_init(&budget, "user interface", 64 << 10) != 0 ||
        ab_slabs_init(&slabs, &options) != 0)
        return 1;
    struct ab_allocator ui = ab_paged_pool_allocator(&budget), script = ab_slab_allocator(&slabs);
    ui_set_allocator_functions(ab_hook_malloc, ab_hook_free, &ui);
    printf("1,000 vertices: %s\n", ui_draw(1000) ? "drawn" : "no memory");
    printf("1,000,000 vertices: %s\n", ui_draw(1000000) ? "drawn" : "no memory");
    printf("blocks of the user interface: %zu\n", budget.live_blocks);
    printf("sum of the script: %zu\n", script_run(ab_hook_lua, &script, 1000));
    char *line = ab_asprintf(&script, "bytes of the script: %zu", ab_slabs_live(&slabs));
    printf("%s\n", line == NULL ? "no memory" : line);
    ab_strfree(&script, line);
    ab_slabs_fini(&slabs);
    ab_paged_pool_fini(&budget);
    return 0;
}
