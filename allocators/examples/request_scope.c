/* SPDX-License-Identifier: MIT
 *
 * A server that answers requests. Each request has an arena for everything that it needs. The
 * arena is stored in its own memory and grows without a limit given in advance. The files of a
 * request are closed when the request ends, in whichever way; the file opened last is closed first.
 *     cc -I. -o request_scope allocators/examples/request_scope.c allocators/arena/arena.c \
 *        allocators/common/checked.c allocators/common/pages.c
 */
#include "allocators/arena/arena_text.h"

#include <stdio.h>

struct file {
    const char *name;
};

static void close_file(void *context)
{
    const struct file *file = (const struct file *)context;
    printf("  close %s\n", file->name);
}

/* Opens a file that is closed when the request ends. Returns NULL if memory is exhausted. */
static struct file *open_file(struct ab_arena *request, const char *name)
{
    struct file *file = AB_ARENA_NEW(request, struct file);
    if (file == NULL)
        return NULL;
    file->name = ab_arena_strdup(request, name);
    if (file->name == NULL || !ab_arena_defer(request, close_file, file))
        return NULL;
    printf("  open %s\n", name);
    return file;
}

static const char *answer(struct ab_arena *request, const char *path)
{
    const struct file *page = open_file(request, path);
    if (page == NULL || strcmp(path, "/secret") == 0)
        return "403"; /* the page is closed when the request ends */
    const struct file *log = open_file(request, "log");
    size_t bytes = strlen(path) * 40000; /* so large that the arena needs further regions */
    char *body = (char *)ab_arena_alloc(request, bytes);
    if (log == NULL || body == NULL)
        return "500";
    memset(body, '.', bytes);
    const char *text = ab_arena_printf(request, "200, %zu bytes", bytes);
    return text != NULL ? text : "500";
}

int main(void)
{
    static const char *const paths[] = {"/", "/secret", "/index.html"};
    struct ab_arena_options options = {0};
    options.reserve_bytes = (size_t)64 << 10;
    options.chain_bytes = (size_t)64 << 10;
    options.keep_bytes = (size_t)1 << 20;
    struct ab_arena *request = ab_arena_open(&options);
    if (request == NULL)
        return 1;
    for (int i = 0; i < 3; i++) {
        printf("%s\n", paths[i]);
        printf("  %s\n", answer(request, paths[i]));
        ab_arena_reset(request);
    }
    ab_arena_close(request);
    return 0;
}
