/* SPDX-License-Identifier: MIT
 *
 * Arrays of what there is, and hash tables of numbers for what must be found again.
 */
#include "trace/site_table.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void fini_index(struct ab_site_index *x)
{
    free(x->hashes);
    free(x->numbers);
}

void ab_site_table_fini(struct ab_site_table *t)
{
    for (size_t i = 0; i < t->n_modules; i++)
        free(t->modules[i].path);
    free(t->modules);
    free(t->frames);
    free(t->lists);
    free(t->stacks);
    fini_index(&t->known_modules);
    fini_index(&t->known_frames);
    fini_index(&t->known_stacks);
    *t = (struct ab_site_table){0};
}

/* ---- appending ---- */

bool ab_site_append_module(struct ab_site_table *t, const char *path, size_t n_path,
                           const uint8_t *build_id, size_t n_build_id)
{
    struct ab_site_module module = {.n_build_id = (uint8_t)n_build_id};
    AB_GROW(t->modules, t->cap_modules, t->n_modules);
    module.path = strndup(path, n_path);
    if (module.path == NULL)
        return false;
    if (n_build_id > 0)
        memcpy(module.build_id, build_id, n_build_id);
    t->modules[t->n_modules++] = module;
    return true;
}

bool ab_site_append_frame(struct ab_site_table *t, struct ab_site_frame frame)
{
    AB_GROW(t->frames, t->cap_frames, t->n_frames);
    t->frames[t->n_frames++] = frame;
    return true;
}

bool ab_site_append_stack(struct ab_site_table *t, const uint32_t *frames, size_t depth,
                          enum ab_site_end end)
{
    AB_GROW(t->stacks, t->cap_stacks, t->n_stacks);
    AB_GROW(t->lists, t->cap_lists, t->n_lists + depth);
    struct ab_site_stack stack = {(uint32_t)t->n_lists, (uint8_t)depth, (uint8_t)end};
    memcpy(t->lists + t->n_lists, frames, depth * sizeof frames[0]);
    t->n_lists += depth;
    t->stacks[t->n_stacks++] = stack;
    return true;
}

/* ---- finding ---- */

static bool grow_index(struct ab_site_index *x)
{
    enum { LEAST = 1024 };
    size_t n_places = x->hashes == NULL ? LEAST : 2 * (x->mask + 1);
    struct ab_site_index larger = {.hashes = calloc(n_places, sizeof x->hashes[0]),
                                   .numbers = calloc(n_places, sizeof x->numbers[0]),
                                   .mask = n_places - 1,
                                   .n = x->n};
    if (larger.hashes == NULL || larger.numbers == NULL) {
        fini_index(&larger);
        return false;
    }
    for (size_t i = 0; x->hashes != NULL && i <= x->mask; i++) {
        size_t at = x->hashes[i] & larger.mask;
        while (x->numbers[i] != 0 && larger.numbers[at] != 0)
            at = (at + 1) & larger.mask;
        if (x->numbers[i] != 0) {
            larger.hashes[at] = x->hashes[i];
            larger.numbers[at] = x->numbers[i];
        }
    }
    fini_index(x);
    *x = larger;
    return true;
}

/* The place of what has this hash and is the same, or an empty one; NULL = out of memory. */
static uint32_t *seek(struct ab_site_index *x, uint64_t hash, const void *what,
                      bool (*is_same)(const struct ab_site_table *, uint32_t, const void *),
                      const struct ab_site_table *t)
{
    if ((x->hashes == NULL || 2 * x->n >= x->mask) && !grow_index(x))
        return NULL;
    size_t at = hash & x->mask;
    while (x->numbers[at] != 0 && (x->hashes[at] != hash || !is_same(t, x->numbers[at], what)))
        at = (at + 1) & x->mask;
    x->hashes[at] = hash;
    return &x->numbers[at];
}

struct module_key {
    const char *path;
    const uint8_t *build_id;
    size_t n_path, n_build_id;
};

static bool is_module(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_module *m = &t->modules[number - 1];
    const struct module_key *k = what;
    return strlen(m->path) == k->n_path && memcmp(m->path, k->path, k->n_path) == 0 &&
           m->n_build_id == k->n_build_id &&
           (k->n_build_id == 0 || memcmp(m->build_id, k->build_id, k->n_build_id) == 0);
}

bool ab_site_know_module(struct ab_site_table *t, const char *path, size_t n_path,
                         const uint8_t *build_id, size_t n_build_id, uint32_t *number)
{
    struct module_key key = {path, build_id, strnlen(path, n_path), n_build_id};
    uint64_t hash = XXH64(build_id, n_build_id, XXH64(path, key.n_path, 0));
    uint32_t *place = seek(&t->known_modules, hash, &key, is_module, t);
    if (place == NULL)
        return false;
    if (*place == 0 && t->n_modules < AB_SITE_MODULES_MAX) {
        if (!ab_site_append_module(t, path, key.n_path, build_id, n_build_id))
            return false;
        *place = (uint32_t)t->n_modules;
        t->known_modules.n++;
    }
    *number = *place;
    return true;
}

static bool is_frame(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_frame *a = &t->frames[number - 1], *b = what;
    return a->address == b->address && a->module == b->module;
}

/* *index is UINT32_MAX when there are too many. */
static bool know_frame(struct ab_site_table *t, struct ab_site_frame frame, uint32_t *index)
{
    uint64_t hash = XXH64(&frame.address, sizeof frame.address, frame.module);
    uint32_t *place = seek(&t->known_frames, hash, &frame, is_frame, t);
    if (place == NULL)
        return false;
    if (*place == 0 && t->n_frames < AB_SITE_FRAMES_MAX) {
        if (!ab_site_append_frame(t, frame))
            return false;
        *place = (uint32_t)t->n_frames;
        t->known_frames.n++;
    }
    *index = *place - 1;
    return true;
}

struct stack_key {
    const uint32_t *frames;
    size_t depth;
    enum ab_site_end end;
};

static bool is_stack(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_stack *s = &t->stacks[number - 1];
    const struct stack_key *k = what;
    return s->depth == k->depth && s->end == k->end &&
           memcmp(t->lists + s->first, k->frames, k->depth * sizeof k->frames[0]) == 0;
}

bool ab_site_know_stack(struct ab_site_table *t, const struct ab_site_frame *frames, size_t depth,
                        enum ab_site_end end, uint32_t *number)
{
    uint32_t indexes[AB_SITE_DEPTH_MAX];
    struct stack_key key = {indexes, depth, end};
    bool has_room = t->n_stacks < AB_SITE_STACKS_MAX;
    for (size_t i = 0; i < depth; i++) {
        if (!know_frame(t, frames[i], &indexes[i]))
            return false;
        has_room = has_room && indexes[i] != UINT32_MAX;
    }
    uint64_t hash = XXH64(indexes, depth * sizeof indexes[0], (uint64_t)end);
    uint32_t *place = seek(&t->known_stacks, hash, &key, is_stack, t);
    if (place == NULL)
        return false;
    if (*place == 0 && has_room) {
        if (!ab_site_append_stack(t, indexes, depth, end))
            return false;
        *place = (uint32_t)t->n_stacks;
        t->known_stacks.n++;
    }
    *number = *place;
    return true;
}

bool ab_site_know_stack_of(struct ab_site_table *t, const struct ab_site_table *other,
                           uint32_t stack, uint32_t *number)
{
    struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
    const struct ab_site_stack *s = &other->stacks[stack - 1];
    for (size_t i = 0; i < s->depth; i++) {
        frames[i] = *ab_site_frame(other, stack, i);
        if (frames[i].module == 0)
            continue;
        const struct ab_site_module *m = &other->modules[frames[i].module - 1];
        if (!ab_site_know_module(t, m->path, strlen(m->path), m->build_id, m->n_build_id,
                                 &frames[i].module))
            return false;
        if (frames[i].module == 0)
            frames[i].address = 0;
    }
    return ab_site_know_stack(t, frames, s->depth, s->end, number);
}
