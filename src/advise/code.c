/* SPDX-License-Identifier: MIT
 *
 * Writes an advice as a C file. A comment says which calls use which heap; then come the parts of
 * the file in their order, the names, and the code of each heap, made from templates.
 */
#include "advise/code.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLACES_MOST = 40 }; /* largest number of places that are listed for one heap */

static bool is_built(const struct ab_advice_heap *heap)
{
    return heap->kind != AB_ADVICE_KEEP;
}

static bool has_scopes(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_FRAME || heap->kind == AB_ADVICE_DOUBLE;
}

/* Returns the index of the group's heap; AB_ADVICE_NO_HEAP if it has none or if the heap is not
 * built. */
static uint32_t heap_of(const struct ab_advice *a, const struct ab_advice_group *g)
{
    return g->heap < a->n_heaps && is_built(&a->heaps[g->heap]) ? g->heap : AB_ADVICE_NO_HEAP;
}

static void plain_name(const struct ab_advice_heap *heap, char *buf, size_t cap)
{
    static const char *const names[AB_ADVICE_KIND_COUNT] = {
        [AB_ADVICE_KEEP] = "malloc",   [AB_ADVICE_STACK] = "stack",   [AB_ADVICE_FRAME] = "frame",
        [AB_ADVICE_NESTED] = "nested", [AB_ADVICE_DOUBLE] = "frames", [AB_ADVICE_SLAB] = "slab"};
    if (heap->kind == AB_ADVICE_POOL)
        snprintf(buf, cap, "pool_%" PRIu64, heap->size_most);
    else
        snprintf(buf, cap, "%s", names[heap->kind]);
}

const char *ab_code_name(const struct ab_advice *a, size_t i, char *buf, size_t cap)
{
    char own[32], other[32];
    unsigned n = 1;
    plain_name(&a->heaps[i], own, sizeof own);
    for (size_t k = 0; k < i; k++) {
        plain_name(&a->heaps[k], other, sizeof other);
        n += strcmp(own, other) == 0;
    }
    if (n == 1)
        snprintf(buf, cap, "%s", own);
    else
        snprintf(buf, cap, "%s_%u", own, n);
    return buf;
}

/* Appends text of the recorded program to a comment, changed so that it cannot begin or end a
 * comment. */
static void add_foreign(struct ab_text *out, const char *s)
{
    const char *shown = AB_SHOWN(600, s);
    for (const char *p = shown; *p != '\0'; p++) {
        bool is_mark = p > shown && (*p == '/' || *p == '*') && *p + p[-1] == '/' + '*';
        ab_text_addf(out, is_mark ? " %c" : "%c", *p);
    }
}

static void add_place(struct ab_text *out, const struct ab_advice_group *g)
{
    if (g->function[0] != '\0')
        add_foreign(out, g->function);
    else if (g->key[0] != '\0')
        add_foreign(out, g->key);
    else
        ab_text_add(out, "a place without a name");
    if (g->file[0] != '\0') {
        ab_text_add(out, "  ");
        add_foreign(out, g->file);
        ab_text_addf(out, g->column > 0 ? ":%d:%d" : ":%d", g->line, g->column);
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static const char *what(const struct ab_advice_heap *heap)
{
    static const char *const texts[AB_ADVICE_KIND_COUNT] = {
        [AB_ADVICE_STACK] = "a stack, freed the youngest first",
        [AB_ADVICE_NESTED] =
            "an arena of a scope within the scope, at whose end all is dead: no free",
        [AB_ADVICE_FRAME] = "an arena that is reset when the scope ends: no free",
        [AB_ADVICE_DOUBLE] = "two arenas in turn, for blocks that live on in the next scope",
        [AB_ADVICE_POOL] = "a pool of equal slots",
        [AB_ADVICE_SLAB] = "slabs of size classes",
    };
    return texts[heap->kind];
}

static void add_instruction(struct ab_text *out, const struct ab_advice_heap *heap,
                            const char *name, const struct ab_advice_group *g)
{
    ab_text_addf(out, " *       malloc(size) -> %s_alloc(size)", name);
    if (heap->kind == AB_ADVICE_STACK)
        ab_text_addf(out, "\n *       m = %s_begin() before it, %s_end(m) instead of free(p)", name,
                     name);
    else if (heap->kind == AB_ADVICE_NESTED)
        ab_text_addf(out, "%s\n *       m = %s_begin() and %s_end(m) around the nested scope",
                     g->frees != 0 ? ", and delete the free()" : "", name, name);
    else if (has_scopes(heap))
        ab_text_add(out, g->frees != 0 ? ", and delete the free()" : "");
    else
        ab_text_addf(out, ", free(p) -> %s_free(p)", name);
    if (g->resizes != 0 && heap->kind == AB_ADVICE_POOL)
        ab_text_add(out, "\n *       realloc(p, size) -> p: a slot has room for it");
    else if (g->resizes != 0)
        ab_text_addf(out, "\n *       realloc(p, size) -> %s_resize(p, old_size, size)", name);
    ab_text_add(out, "\n");
}

/* Appends instructions how to declare each container in the mask `containers`. */
static void add_containers(struct ab_text *out, const char *name, uint32_t containers)
{
    if (containers == 0)
        ab_text_addf(out,
                     " *       the container of std:: -> that of std::pmr::, made with "
                     "&advised::%s\n",
                     name);
    for (uint32_t i = 0; i < AB_ADVICE_CONTAINERS; i++) {
        const char *type = ab_advice_containers[i].type;
        if (ab_advice_container_counts(containers, i))
            ab_text_addf(out, " *       std::%s x -> std::pmr::%s x(&advised::%s);\n", type, type,
                         name);
    }
}

static bool dies_alone(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_POOL || heap->kind == AB_ADVICE_SLAB;
}

static void add_cxx_instruction(struct ab_text *out, const struct ab_advice_heap *heap,
                                const char *name, const struct ab_advice_group *g)
{
    if (g->call == AB_ADVICE_CALL_STD) {
        add_containers(out, name, g->containers);
        return;
    }
    ab_text_addf(out,
                 " *       new T(...) -> new (advised::%s.allocate(sizeof(T), alignof(T))) T(...)\n"
                 " *       delete p -> p->~T()",
                 name);
    if (dies_alone(heap))
        ab_text_addf(out, ", advised::%s.deallocate(p, sizeof(T), alignof(T))", name);
    ab_text_add(out, "\n");
}

/* Appends the instructions that apply to all C++ places of heap `number`: for containers in
 * containers, for temporary strings, and for the release of memory. */
static void add_cxx_end(struct ab_text *out, const struct ab_advice *a, uint32_t number,
                        const char *name)
{
    const struct ab_advice_heap *heap = &a->heaps[number];
    bool has_marks = heap->kind == AB_ADVICE_STACK || heap->kind == AB_ADVICE_NESTED;
    unsigned n_types = 0;
    bool has_strings = false;
    uint32_t seen = 0;
    for (size_t i = 0; i < a->n_groups; i++)
        if (heap_of(a, &a->groups[i]) == number && a->groups[i].call == AB_ADVICE_CALL_STD)
            seen |= a->groups[i].containers;
    for (uint32_t i = 0; i < AB_ADVICE_CONTAINERS; i++) {
        n_types += ab_advice_container_counts(seen, i);
        has_strings |= (seen >> i & 1) != 0 && ab_advice_containers[i].family == 's';
    }
    if (n_types > 1)
        ab_text_add(
            out,
            " *   Where one container holds another, both types are of std::pmr; the inner one "
            "takes the\n *   resource of the outer one by itself.\n");
    if (has_strings)
        ab_text_add(out,
                    " *   A temporary string, such as the result of a + b, stays in malloc.\n");
    if (has_marks && ab_advice_is_shared(heap))
        ab_text_addf(
            out,
            " *   In C++: m = %s_begin() before they are made, %s_end(m) when they are gone.\n",
            name, name);
    else if (has_marks)
        ab_text_addf(out, " *   In C++: all within { ab::arena_scope scope(&advised_%s); ... }\n",
                     name);
    else if (!dies_alone(heap))
        ab_text_addf(
            out,
            " *   In C++: no delete is needed. The memory is released at %sadvised_scope_end(), "
            "so\n *   nothing may still point to it then.\n",
            heap->kind == AB_ADVICE_DOUBLE ? "the second " : "");
}

/* Returns true if two groups of one heap get the same instruction. */
static bool has_same_instruction(const struct ab_advice_group *g, const struct ab_advice_group *h)
{
    bool is_kept = g->heap == AB_ADVICE_NO_HEAP && h->heap == AB_ADVICE_NO_HEAP;
    const char *why = g->why != NULL ? g->why : "", *other = h->why != NULL ? h->why : "";
    if (is_kept || g->heap != h->heap)
        return is_kept && strcmp(why, other) == 0;
    return g->call == h->call && g->containers == h->containers &&
           (g->frees != 0) == (h->frees != 0) && (g->resizes != 0) == (h->resizes != 0);
}

static void add_what_to_do(struct ab_text *out, const struct ab_advice *a, const char *name,
                           const struct ab_advice_group *g)
{
    uint32_t heap = heap_of(a, g);
    if (heap != AB_ADVICE_NO_HEAP && g->call != AB_ADVICE_CALL_MALLOC)
        add_cxx_instruction(out, &a->heaps[heap], name, g);
    else if (heap != AB_ADVICE_NO_HEAP)
        add_instruction(out, &a->heaps[heap], name, g);
    else if (g->heap != AB_ADVICE_NO_HEAP)
        ab_text_add(out, " *       a heap was proposed, and is not advised\n");
    else if (g->why != NULL && *g->why != '\0') {
        ab_text_add(out, " *       ");
        add_foreign(out, g->why);
        ab_text_add(out, "\n");
    }
}

/* Appends the groups of heap `heap`, or the groups without a heap if it is AB_ADVICE_NO_HEAP. An
 * instruction is written once, below all places to which it applies. */
static void add_places(struct ab_text *out, const struct ab_advice *a, uint32_t heap,
                       const char *name)
{
    const struct ab_advice_group *listed[PLACES_MOST];
    size_t n = 0;
    for (size_t i = 0; i < a->n_groups; i++)
        if (heap_of(a, &a->groups[i]) == heap && n++ < PLACES_MOST)
            listed[n - 1] = &a->groups[i];
    for (size_t i = 0; i < n && i < PLACES_MOST; i++) {
        const struct ab_advice_group *first = listed[i];
        for (size_t k = i; first != NULL && k < n && k < PLACES_MOST; k++) {
            const struct ab_advice_group *g = listed[k];
            if (g == NULL || !has_same_instruction(first, g))
                continue;
            ab_text_add(out, " *   ");
            add_place(out, g);
            ab_text_addf(out, "  (%" PRIu64 " call%s)\n", g->calls, g->calls == 1 ? "" : "s");
            listed[k] = NULL;
        }
        if (first != NULL)
            add_what_to_do(out, a, name, first);
    }
    if (n > PLACES_MOST)
        ab_text_addf(out, " *   and %zu more\n", n - PLACES_MOST);
}

/* True if C++ code requests memory from heap `heap`. If `heap` is AB_ADVICE_NO_HEAP: true if C++
 * code requests memory from any built heap. */
static bool has_cxx(const struct ab_advice *a, uint32_t heap)
{
    for (size_t i = 0; i < a->n_groups; i++) {
        uint32_t own = heap_of(a, &a->groups[i]);
        if (own != AB_ADVICE_NO_HEAP && (own == heap || heap == AB_ADVICE_NO_HEAP) &&
            a->groups[i].call != AB_ADVICE_CALL_MALLOC)
            return true;
    }
    return false;
}

static void add_placement(struct ab_text *out, const struct ab_advice *a)
{
    char name[48];
    bool keeps = false;
    for (size_t i = 0; i < a->n_heaps; i++) {
        const struct ab_advice_heap *heap = &a->heaps[i];
        if (!is_built(heap))
            continue;
        ab_code_name(a, i, name, sizeof name);
        ab_text_addf(out, " *\n * %s: %s, %.1f %% of the calls\n", name, what(heap),
                     share(heap->calls, a->calls));
        if (a->n_threads > 1 && !ab_advice_is_shared(heap))
            ab_text_addf(out, " *   of thread %" PRIu32 " alone, as the trace numbers them\n",
                         heap->thread);
        if (heap->kind == AB_ADVICE_NESTED)
            ab_text_addf(out, " *   %" PRIu64 " nested scopes in the trace\n", heap->n_nested);
        add_places(out, a, (uint32_t)i, name);
        if (has_cxx(a, (uint32_t)i))
            add_cxx_end(out, a, (uint32_t)i, name);
    }
    for (size_t i = 0; i < a->n_groups; i++)
        keeps |= heap_of(a, &a->groups[i]) == AB_ADVICE_NO_HEAP;
    if (keeps) {
        ab_text_add(out, " *\n * What stays with malloc:\n");
        add_places(out, a, AB_ADVICE_NO_HEAP, "");
    }
}

static bool any(const struct ab_advice *a, bool (*holds)(const struct ab_advice_heap *))
{
    for (size_t i = 0; i < a->n_heaps; i++)
        if (is_built(&a->heaps[i]) && holds(&a->heaps[i]))
            return true;
    return false;
}

static bool ends_by_thread(const struct ab_advice_heap *heap)
{
    return has_scopes(heap) && heap->is_of_thread_scopes;
}

static void add_threads(struct ab_text *out, const struct ab_advice *a)
{
    if (!any(a, ab_advice_is_shared)) {
        ab_text_add(out, a->n_threads > 1
                             ? " * Each heap is for the one thread that it is named with below.\n"
                             : " * For one thread, as in the trace.\n");
        return;
    }
    ab_text_add(out, " * Threads have heaps of their own; the ");
    if (any(a, ends_by_thread))
        ab_text_add(out,
                    "first two calls above are for one thread,\n"
                    " * while no other one is in a call of these heaps. advised_scope_end() is "
                    "about the\n * thread that calls it: each calls it for itself, and before it "
                    "ends, for the next new\n * thread goes on with its arena. With pthread.\n");
    else
        ab_text_add(out, "three calls above are for one thread,\n"
                         " * while no other one is in a call of these heaps. With pthread.\n");
}

/* Templates of generated code. There is one set of templates for each kind of heap in a program
 * with one thread, and one for several threads. With several threads, each thread has a heap of its
 * own (allocators/common/shard.h). In a template, @ is the heap's name, $ the prefix of its
 * constants, and % the kind of allocator. */

struct pieces { /* templates for one kind of heap */
    const char *objects, *interface, *open, *close, *scope_end;
};

/* ---- one thread ---- */

static const char arena_interface[] =
    "static inline void *@_resize(void *block, size_t old_size, size_t new_size)\n{\n"
    "    return ab_arena_resize_aligned(&advised_@, $_ALIGN, block, old_size,\n"
    "                                   new_size);\n}\n\n";
static const char arena_open[] = "    struct ab_arena_options options;\n"
                                 "    memset(&options, 0, sizeof options);\n"
                                 "    options.reserve_bytes = options.chain_bytes = $_BYTES;\n"
                                 "    return ab_arena_init(&advised_@, &options);\n";
static const struct pieces arena_pieces = {"struct ab_arena advised_@;\n", arena_interface,
                                           arena_open, "    ab_arena_fini(&advised_@);\n",
                                           "    ab_arena_reset(&advised_@);\n"};

static const char stack_interface[] = "static inline struct ab_arena_mark @_begin(void)\n{\n"
                                      "    return ab_arena_save(&advised_@);\n}\n\n"
                                      "static inline void @_end(struct ab_arena_mark mark)\n{\n"
                                      "    ab_arena_restore(&advised_@, mark);\n}\n\n";

static const char double_open[] =
    "    struct ab_arena_options options;\n"
    "    memset(&options, 0, sizeof options);\n"
    "    options.reserve_bytes = options.chain_bytes = $_BYTES;\n"
    "    int error = ab_arena_init(&advised_@[0], &options);\n"
    "    if (error == 0 && (error = ab_arena_init(&advised_@[1], &options)) != 0)\n"
    "        ab_arena_fini(&advised_@[0]);\n"
    "    return error;\n";
static const struct pieces double_pieces = {
    "struct ab_arena advised_@[2]; /* of this scope and of the one before, in turn */\n"
    "extern unsigned advised_@_turn;\n",
    "", double_open, "    ab_arena_fini(&advised_@[0]);\n    ab_arena_fini(&advised_@[1]);\n",
    "    advised_@_turn ^= 1; /* what the scope before this one left is dead now */\n"
    "    ab_arena_reset(&advised_@[advised_@_turn]);\n"};

static const char pool_interface[] = "static inline void @_free(void *block)\n{\n"
                                     "    ab_pool_free(&advised_@, block);\n}\n\n";
static const char pool_open[] = "    struct ab_pool_options options;\n"
                                "    memset(&options, 0, sizeof options);\n"
                                "    options.slot_bytes = $_SLOT;\n"
                                "    options.align = $_ALIGN;\n"
                                "    options.n_slots = $_SLOTS;\n"
                                "    options.grows = true;\n"
                                "    return ab_pool_init(&advised_@, &options);\n";
static const struct pieces pool_pieces = {"struct ab_pool advised_@;\n", pool_interface, pool_open,
                                          "    ab_pool_fini(&advised_@);\n", ""};

static const char slab_interface[] = "static inline void @_free(void *block)\n{\n"
                                     "    ab_slabs_free(&advised_@, block);\n}\n\n";
static const char slab_resize[] =
    "static inline void *@_resize(void *block, size_t old_size, size_t new_size)\n{\n"
    "    if (block == NULL)\n        return @_alloc(new_size);\n"
    "    return ab_slabs_resize(&advised_@, block, old_size < 16 ? 16 : old_size,\n"
    "                           new_size < 16 ? 16 : new_size);\n}\n\n";
static const char slab_open[] =
    "    struct ab_slabs_options options;\n"
    "    memset(&options, 0, sizeof options);\n"
    "    options.reserve_bytes = (size_t)1 << 34; /* addresses; committed as they are used */\n"
    "    options.keep_max = 1024;                 /* empty slabs of 64 KiB that are kept */\n"
    "    options.spare_max_bytes = (size_t)4 << 20;\n"
    "    options.spacing = $_SPACING;\n"
    "    return ab_slabs_init(&advised_@, &options);\n";
static const struct pieces slab_pieces = {"struct ab_slabs advised_@;\n", slab_interface, slab_open,
                                          "    ab_slabs_fini(&advised_@);\n", ""};

/* ---- several threads ---- */

static const char shared_objects[] = "struct ab_%_shared *advised_@;\n"
                                     "extern unsigned advised_@_opened;\n"
                                     "extern __thread struct ab_%_shared *advised_@_own;\n"
                                     "extern __thread unsigned advised_@_known;\n";
static const char shared_interface[] = "static inline void @_free(void *block)\n{\n"
                                       "    ab_%_shared_free(@_own(), block);\n}\n\n";
static const char shared_own[] = "static inline struct ab_%_shared *@_own(void)\n{\n"
                                 "    if (advised_@_known != advised_@_opened) {\n"
                                 "        advised_@_own = ab_%_shared_own(advised_@);\n"
                                 "        advised_@_known = advised_@_opened;\n"
                                 "    }\n"
                                 "    return advised_@_own;\n}\n\n";
static const char shared_open_begin[] = "    struct ab_%_shared_options options;\n"
                                        "    memset(&options, 0, sizeof options);\n"
                                        "    options.threads.mode = AB_SHARDS_LOCAL;\n";
static const char shared_open_end[] = "    advised_@_opened++;\n"
                                      "    advised_@ = ab_%_shared_open(&options);\n"
                                      "    return advised_@ == NULL ? errno : 0;\n";
static const char shared_stack[] = "static inline struct ab_arena_mark @_begin(void)\n{\n"
                                   "    return ab_arena_shared_save(@_own());\n}\n\n"
                                   "static inline void @_end(struct ab_arena_mark mark)\n{\n"
                                   "    ab_arena_shared_restore(@_own(), mark);\n}\n\n";

static const char shared_double_objects[] =
    "struct ab_arena_shared *advised_@[2]; /* of this scope and of the one before, in turn */\n"
    "extern unsigned advised_@_turn, advised_@_opened;\n"
    "extern __thread struct ab_arena_shared *advised_@_own[2];\n"
    "extern __thread unsigned advised_@_known;\n";
static const char shared_double_own[] =
    "static inline struct ab_arena_shared *@_own(void)\n{\n"
    "    struct ab_arena_shared **own = &advised_@_own[advised_@_turn];\n"
    "    if (advised_@_known != advised_@_opened) {\n"
    "        advised_@_own[0] = advised_@_own[1] = NULL;\n"
    "        advised_@_known = advised_@_opened;\n"
    "    }\n"
    "    if (*own == NULL)\n"
    "        *own = ab_arena_shared_own(advised_@[advised_@_turn]);\n"
    "    return *own;\n}\n\n";
static const char shared_double_open_end[] =
    "    advised_@_opened++;\n"
    "    advised_@[0] = ab_arena_shared_open(&options);\n"
    "    advised_@[1] = advised_@[0] == NULL ? NULL : ab_arena_shared_open(&options);\n"
    "    if (advised_@[1] != NULL)\n"
    "        return 0;\n"
    "    int error = errno;\n"
    "    ab_arena_shared_close(advised_@[0]);\n"
    "    return error;\n";
static const char shared_double_close[] = "    ab_arena_shared_close(advised_@[0]);\n"
                                          "    ab_arena_shared_close(advised_@[1]);\n";
static const char shared_double_scope_end[] =
    "    advised_@_turn ^= 1; /* what the scope before this one left is dead now */\n"
    "    ab_arena_shared_reset(advised_@[advised_@_turn]);\n";
static const struct pieces shared_double_pieces = {shared_double_objects, "",
                                                   shared_double_open_end, shared_double_close,
                                                   shared_double_scope_end};
static const struct pieces shared_arena_pieces = {shared_objects, "", shared_open_end,
                                                  "    ab_arena_shared_close(advised_@);\n",
                                                  "    ab_arena_shared_reset(advised_@);\n"};
static const struct pieces shared_pieces = {shared_objects, shared_interface, shared_open_end,
                                            "    ab_%_shared_close(advised_@);\n", ""};

/* Templates for heaps of threads with scopes of their own. If there are more threads than heaps,
 * the other threads share the first heap, which is not reset at the end of a scope. */
static const char own_arena_scope_end[] =
    "    struct ab_arena_shared *@ = @_own();\n"
    "    if (@ != advised_@) /* that one is of the threads which have none of their own */\n"
    "        ab_arena_shared_reset(@);\n";
static const char own_double_objects[] =
    "struct ab_arena_shared *advised_@[2]; /* of this scope and of the one before, in turn */\n"
    "extern unsigned advised_@_opened;\n"
    "extern __thread unsigned advised_@_turn;\n"
    "extern __thread struct ab_arena_shared *advised_@_own[2];\n"
    "extern __thread unsigned advised_@_known;\n";
static const char own_double_scope_end[] =
    "    advised_@_turn ^= 1; /* what the scope before this one left is dead now */\n"
    "    struct ab_arena_shared *@ = @_own();\n"
    "    if (@ != advised_@[advised_@_turn]) /* that one is of the threads without their own */\n"
    "        ab_arena_shared_reset(@);\n";
static const struct pieces own_arena_pieces = {shared_objects, "", shared_open_end,
                                               "    ab_arena_shared_close(advised_@);\n",
                                               own_arena_scope_end};
static const struct pieces own_double_pieces = {own_double_objects, "", shared_double_open_end,
                                                shared_double_close, own_double_scope_end};

/* True if the heap is emptied by going back to save points, instead of by a reset at the end of a
 * scope. */
static bool has_marks(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_STACK || heap->kind == AB_ADVICE_NESTED;
}

static bool is_arena(const struct ab_advice_heap *heap)
{
    return has_marks(heap) || heap->kind == AB_ADVICE_FRAME || heap->kind == AB_ADVICE_DOUBLE;
}

static bool is_pool(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_POOL;
}

/* Returns the name of the header that the heap needs: "arena", "pool" or "slab". */
static const char *heap_header(const struct ab_advice_heap *heap)
{
    return is_arena(heap) ? "arena" : heap->kind == AB_ADVICE_POOL ? "pool" : "slab";
}

static const struct pieces *arena_pieces_of(const struct ab_advice_heap *heap)
{
    bool is_double = heap->kind == AB_ADVICE_DOUBLE;
    if (!ab_advice_is_shared(heap))
        return is_double ? &double_pieces : &arena_pieces;
    if (heap->is_of_thread_scopes && !has_marks(heap))
        return is_double ? &own_double_pieces : &own_arena_pieces;
    return is_double ? &shared_double_pieces : &shared_arena_pieces;
}

static const struct pieces *pieces_of(const struct ab_advice_heap *heap)
{
    if (is_arena(heap))
        return arena_pieces_of(heap);
    if (ab_advice_is_shared(heap))
        return &shared_pieces;
    return heap->kind == AB_ADVICE_POOL ? &pool_pieces : &slab_pieces;
}

/* Appends a template in which @ is replaced by the name, % by the header's name, and $ by the
 * prefix of constants. */
static void add(struct ab_text *out, const struct ab_advice_heap *heap, const char *name,
                const char *template)
{
    for (const char *p = template; *p != '\0'; p++) {
        if (*p == '@')
            ab_text_add(out, name);
        else if (*p == '%')
            ab_text_add(out, heap_header(heap));
        else if (*p == '$') {
            ab_text_add(out, "ADVISED_");
            for (const char *c = name; *c != '\0'; c++)
                ab_text_addf(out, "%c", toupper((unsigned char)*c));
        } else
            ab_text_addf(out, "%c", *p);
    }
}

static void add_number(struct ab_text *out, const struct ab_advice_heap *heap, const char *name,
                       const char *which, uint64_t value, const char *why)
{
    add(out, heap, name, "#define $");
    ab_text_addf(out, "_%s ((size_t)%" PRIu64 ")", which, value);
    ab_text_addf(out, *why == '\0' ? "\n" : " /* %s */\n", why);
}

/* Returns the size in bytes of the arena's first region: its capacity, or else its measured peak,
 * or else 64 KiB. */
static uint64_t arena_bytes(const struct ab_advice_heap *heap)
{
    uint64_t bytes = heap->capacity_bytes != 0 ? heap->capacity_bytes : heap->most_bytes;
    return bytes != 0 ? bytes : 65536;
}

static uint64_t align_of(const struct ab_advice_heap *heap)
{
    return heap->align > 16 ? heap->align : 16;
}

/* True if the heap's code uses the constant for its alignment. */
static bool needs_align(const struct ab_advice_heap *heap)
{
    bool resizes_aligned = is_arena(heap) && heap->kind != AB_ADVICE_DOUBLE &&
                           !ab_advice_is_shared(heap);
    return heap->kind == AB_ADVICE_POOL || resizes_aligned || align_of(heap) > 16;
}

static void add_numbers(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    char why[96];
    if (needs_align(heap))
        add_number(out, heap, name, "ALIGN", align_of(heap), "");
    if (is_arena(heap)) {
        AB_FIT(why, "measured: %" PRIu64 " %s", heap->most_bytes,
               heap->kind == AB_ADVICE_STACK    ? "at a time"
               : heap->kind == AB_ADVICE_NESTED ? "in one nested scope"
                                                : "in one scope");
        add_number(out, heap, name, "BYTES", arena_bytes(heap), why);
    } else if (heap->kind == AB_ADVICE_POOL) {
        AB_FIT(why, "measured: %" PRIu64 " at a time", heap->most_blocks);
        add_number(out, heap, name, "SLOT", heap->size_most, "");
        add_number(out, heap, name, "SLOTS", heap->capacity_blocks, why);
    } else {
        add(out, heap, name, "#define $_SPACING AB_SLAB_POW2\n");
    }
    ab_text_add(out, "\n");
}

/* Appends the function NAME_alloc. A slab heap rounds sizes below 16 up to 16, so that small blocks
 * are aligned as by malloc. */
static void add_alloc(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    bool is_slab = heap->kind == AB_ADVICE_SLAB;
    bool is_aligned = align_of(heap) > 16 && !is_pool(heap);
    const char *own = ab_advice_is_shared(heap)        ? "@_own()"
                      : heap->kind == AB_ADVICE_DOUBLE ? "&advised_@[advised_@_turn]"
                                                       : "&advised_@";
    add(out, heap, name, "static inline void *@_alloc(size_t size)\n{\n    return ab_%");
    ab_text_add(out, ab_advice_is_shared(heap) ? "_shared" : is_slab ? "s" : "");
    ab_text_add(out, is_aligned ? "_alloc_aligned(" : "_alloc(");
    add(out, heap, name, own);
    add(out, heap, name, is_aligned ? ", $_ALIGN" : "");
    ab_text_add(out, is_slab && !is_aligned ? ", size < 16 ? 16 : size" : ", size");
    ab_text_add(out, ");\n}\n\n");
}

static void add_zeroed(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    add(out, heap, name,
        "static inline void *@_alloc_zeroed(size_t size)\n{\n"
        "    void *block = @_alloc(size);\n"
        "    if (block != NULL)\n"
        "        memset(block, 0, size);\n"
        "    return block;\n}\n\n");
}

/* Appends the function NAME_resize. Pools have none, and the templates of arenas for one thread
 * contain it already. If the allocator cannot resize, NAME_resize allocates a new block and copies
 * the old one. */
static void add_resize(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    bool is_shared = ab_advice_is_shared(heap);
    if (heap->kind == AB_ADVICE_POOL ||
        (!is_shared && is_arena(heap) && heap->kind != AB_ADVICE_DOUBLE))
        return;
    if (!is_shared && heap->kind == AB_ADVICE_SLAB && align_of(heap) <= 16) {
        add(out, heap, name, slab_resize);
        return;
    }
    add(out, heap, name,
        "static inline void *@_resize(void *block, size_t old_size, size_t new_size)\n{\n"
        "    return advised_move(@_alloc(new_size), block, old_size, new_size, ");
    add(out, heap, name, is_arena(heap) ? "NULL);\n}\n\n" : "@_free);\n}\n\n");
}

/* Appends the constants, the declarations of the objects and the inline functions of the heap.
 * `name` comes from ab_code_name(). */
static void heap_interface(const struct ab_advice_heap *heap, const char *name, struct ab_text *out)
{
    bool is_shared = ab_advice_is_shared(heap);
    add_numbers(out, heap, name);
    ab_text_add(out, "extern ");
    add(out, heap, name, pieces_of(heap)->objects);
    ab_text_add(out, "\n");
    if (is_shared)
        add(out, heap, name, heap->kind == AB_ADVICE_DOUBLE ? shared_double_own : shared_own);
    add_alloc(out, heap, name);
    add_zeroed(out, heap, name);
    add(out, heap, name, pieces_of(heap)->interface);
    if (has_marks(heap))
        add(out, heap, name, is_shared ? shared_stack : stack_interface);
    add_resize(out, heap, name);
}

static void add_shared_options(struct ab_text *out, const struct ab_advice_heap *heap,
                               const char *name)
{
    add(out, heap, name, shared_open_begin);
    if (is_arena(heap))
        add(out, heap, name,
            "    options.arena.reserve_bytes = options.arena.chain_bytes = $_BYTES;\n");
    else if (heap->kind == AB_ADVICE_POOL)
        add(out, heap, name,
            "    options.pool.slot_bytes = $_SLOT;\n"
            "    options.pool.align = $_ALIGN;\n"
            "    options.pool.n_slots = $_SLOTS;\n"
            "    options.pool.grows = true;\n");
    else
        add(out, heap, name,
            "    options.slabs.keep_max = 1024; /* empty slabs of 64 KiB that are kept */\n"
            "    options.slabs.spare_max_bytes = (size_t)4 << 20;\n"
            "    options.slabs.spacing = $_SPACING;\n");
}

/* Appends the definitions of the heap's objects, which are their declarations without `extern`. */
static void add_objects(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    for (const char *line = pieces_of(heap)->objects; *line != '\0';) {
        const char *end = strchr(line, ';') + 1;
        char text[96];
        line += strncmp(line, "extern ", 7) == 0 ? 7 : 0;
        AB_FIT(text, "%.*s\n", (int)(end - line), line);
        add(out, heap, name, text);
        line = strchr(end, '\n') + 1;
    }
    ab_text_add(out, "\n");
}

static void heap_implementation(const struct ab_advice_heap *heap, const char *name,
                                struct ab_text *out)
{
    add_objects(out, heap, name);
    add(out, heap, name, "static int @_open(void)\n{\n");
    if (ab_advice_is_shared(heap))
        add_shared_options(out, heap, name);
    add(out, heap, name, pieces_of(heap)->open);
    add(out, heap, name, "}\n\nstatic void @_close(void)\n{\n");
    add(out, heap, name, pieces_of(heap)->close);
    ab_text_add(out, "}\n\n");
}

static void heap_scope_end(const struct ab_advice_heap *heap, const char *name, struct ab_text *out)
{
    if (!has_marks(heap))
        add(out, heap, name, pieces_of(heap)->scope_end);
}

/* ---- C++ ---- */

static const char cxx_functions[] =
    "/* Over the functions above, which find the heap of the thread, or of the scope, at each call. What\n"
    " * they have no room for is of operator new. */\n"
    "class functions final : public std::pmr::memory_resource {\n"
    "public:\n"
    "    functions(void *(*alloc)(std::size_t), void (*release)(void *), std::size_t most_bytes,\n"
    "              std::size_t most_align) noexcept\n"
    "        : alloc_(alloc), release_(release), most_bytes_(most_bytes), most_align_(most_align)\n"
    "    {\n    }\n\n"
    "private:\n"
    "    bool fits(std::size_t bytes, std::size_t align) const noexcept\n    {\n"
    "        return bytes <= most_bytes_ && align <= most_align_;\n    }\n"
    "    void *do_allocate(std::size_t bytes, std::size_t align) override\n    {\n"
    "        return fits(bytes, align) ? ab::detail::demand(alloc_(bytes))\n"
    "                                  : std::pmr::new_delete_resource()->allocate(bytes, align);\n"
    "    }\n"
    "    void do_deallocate(void *block, std::size_t bytes, std::size_t align) override\n    {\n"
    "        if (!fits(bytes, align))\n"
    "            std::pmr::new_delete_resource()->deallocate(block, bytes, align);\n"
    "        else if (release_ != nullptr)\n"
    "            release_(block);\n    }\n"
    "    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override\n    {\n"
    "        return this == &other;\n    }\n"
    "    void *(*alloc_)(std::size_t);\n"
    "    void (*release_)(void *);\n"
    "    std::size_t most_bytes_, most_align_;\n"
    "};\n\n";

static bool needs_functions(const struct ab_advice_heap *heap)
{
    return ab_advice_is_shared(heap) || heap->kind == AB_ADVICE_DOUBLE;
}

static void heap_resource(const struct ab_advice_heap *heap, const char *name, struct ab_text *out)
{
    if (!needs_functions(heap)) {
        add(out, heap, name, "inline ab::%_resource @(&::advised_@");
        ab_text_add(out, is_pool(heap) ? ", std::pmr::new_delete_resource());\n" : ");\n");
        return;
    }
    add(out, heap, name, "inline functions @(::@_alloc, ");
    add(out, heap, name, is_arena(heap) ? "nullptr, " : "::@_free, ");
    add(out, heap, name, is_pool(heap) ? "$_SLOT, " : "SIZE_MAX, ");
    ab_text_addf(out, "%" PRIu64 ");\n", align_of(heap));
}

static void add_head(struct ab_text *out, const struct ab_advice *a, const char *trace)
{
    ab_text_add(out, "/* SPDX-License-Identifier: MIT\n *\n * Heaps of ");
    add_foreign(out, a->program[0] != '\0' ? a->program : "a program");
    ab_text_add(out, ", as `allocbench advise` proposes them for ");
    add_foreign(out, trace);
    if (!any(a, is_built)) {
        ab_text_add(out, ": none are advised.\n");
        return;
    }
    ab_text_add(out,
                ".\n * This file is yours now: read it, change it.\n *\n"
                " * Include it where memory is asked for, and in one file of the program after\n"
                " *     #define ADVISED_IMPLEMENTATION\n");
    ab_text_add(out, has_cxx(a, AB_ADVICE_NO_HEAP)
                         ? " * C++17 has std::pmr resources over the heaps, in namespace advised "
                           "(heaps.hpp).\n"
                         : " * C++ containers (std::pmr) take a resource of these heaps instead: "
                           "allocators/cpp/heaps.hpp.\n");
    ab_text_add(
        out,
        " * It includes the single headers that `make single-headers` of allocbench writes, or with\n"
        " * ADVISED_INSTALLED those of the installed library (pkg-config allocbench-heaps).\n *\n"
        " * advised_init() comes before all else, advised_fini() after it");
    if (any(a, has_scopes)) {
        ab_text_add(out, ".\n * advised_scope_end() where a scope (frame, request) ends: ");
        ab_text_addf(out, "%" PRIu64 " of them were %s in the trace", a->n_scopes,
                     a->is_marked ? "marked" : "found");
        ab_text_add(out, ".\n * No block of an arena may be used after it");
    }
    ab_text_add(out, ".\n");
    add_threads(out, a);
}

static void add_include(struct ab_text *out, const char *header, bool is_installed)
{
    ab_text_addf(out, is_installed ? "#include <allocbench/heaps/%s.h>\n" : "#include \"%s.h\"\n",
                 header);
}

/* Appends the #include lines. If the headers are installed, the functions for several threads are
 * in headers of their own. */
static void add_includes(struct ab_text *out, const struct ab_advice *a, bool is_installed)
{
    static const char *const headers[] = {"arena", "pool", "slab"};
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        bool is_used = false, is_shared = false;
        for (size_t i = 0; i < a->n_heaps; i++) {
            const struct ab_advice_heap *heap = &a->heaps[i];
            bool is_it = is_built(heap) && strcmp(heap_header(heap), headers[h]) == 0;
            is_used |= is_it;
            is_shared |= is_it && ab_advice_is_shared(heap);
        }
        if (!is_used)
            continue;
        if (!is_installed)
            ab_text_addf(out,
                         "#ifdef ADVISED_IMPLEMENTATION\n#define AB_%s_IMPLEMENTATION\n#endif\n",
                         h == 0   ? "ARENA"
                         : h == 1 ? "POOL"
                                  : "SLAB");
        add_include(out, headers[h], is_installed);
        if (is_shared && is_installed)
            ab_text_addf(out, "#include <allocbench/heaps/%s_shared.h>\n", headers[h]);
    }
}

static void add_resources(struct ab_text *out, const struct ab_advice *a)
{
    char name[48];
    bool has_functions = false;
    if (!has_cxx(a, AB_ADVICE_NO_HEAP))
        return;
    ab_text_add(out, "#ifdef __cplusplus\n"
                     "#ifdef ADVISED_INSTALLED\n#include <allocbench/heaps/heaps.hpp>\n"
                     "#else\n#include \"heaps.hpp\"\n#endif\n\n"
                     "/* Used from advised_init() to advised_fini(). */\nnamespace advised {\n\n");
    for (uint32_t i = 0; i < a->n_heaps; i++) {
        bool needs = needs_functions(&a->heaps[i]);
        if (!has_cxx(a, i))
            continue;
        if (needs && !has_functions)
            ab_text_add(out, cxx_functions);
        has_functions = has_functions || needs;
        heap_resource(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
    }
    ab_text_add(out, "\n} // namespace advised\n#endif\n\n");
}

/* Appends a comment with the rules that apply to the functions of all heaps. */
static void add_rules(struct ab_text *out, const struct ab_advice *a)
{
    ab_text_add(out, "/* NAME_alloc() of a heap returns NULL when memory is exhausted.");
    if (any(a, is_pool))
        ab_text_add(out, "\n * A pool returns it for more than _SLOT bytes, too.");
    if (any(a, is_arena))
        ab_text_add(out, "\n * An arena grows beyond its _BYTES.");
    if (any(a, has_marks))
        ab_text_add(out,
                    "\n * NAME_begin() returns a save point. What the thread allocates after it "
                    "dies with NAME_end();\n * save points nest.");
    if (any(a, ab_advice_is_shared))
        ab_text_add(out,
                    "\n * Each thread has a part of the heap for itself, advised_NAME_own, and "
                    "takes no lock. NAME_own()\n * finds a new part when the heap has been "
                    "opened again. Any thread may call NAME_free().");
    ab_text_add(out, " */\n\n");
}

static void add_interface(struct ab_text *out, const struct ab_advice *a)
{
    char name[48];
    ab_text_add(out, "#ifndef ADVISED_HEAPS\n#define ADVISED_HEAPS\n\n#ifdef ADVISED_INSTALLED\n");
    add_includes(out, a, true);
    ab_text_add(out, "#else\n");
    add_includes(out, a, false);
    ab_text_add(out, "#endif\n\n#include <stddef.h>\n#include <string.h>\n\n"
                     "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                     "/* 0, or an errno: then nothing is open. */\nint advised_init(void);\n"
                     "void advised_fini(void);\n");
    if (any(a, has_scopes))
        ab_text_add(out, any(a, ends_by_thread)
                             ? "/* All blocks of the scope of this thread are dead. */\n"
                               "void advised_scope_end(void);\n"
                             : "/* All blocks of the scope are dead. */\n"
                               "void advised_scope_end(void);\n");
    ab_text_add(
        out,
        "\n/* The contents go to `fresh`, unless that is NULL, and the old block dies. */\n"
        "static inline void *advised_move(void *fresh, void *block, size_t old_size, size_t new_size,\n"
        "                                 void (*release)(void *))\n{\n"
        "    if (fresh == NULL || block == NULL)\n        return fresh;\n"
        "    memcpy(fresh, block, old_size < new_size ? old_size : new_size);\n"
        "    if (release != NULL)\n        release(block);\n    return fresh;\n}\n\n");
    add_rules(out, a);
    for (size_t i = 0; i < a->n_heaps; i++) {
        if (!is_built(&a->heaps[i]))
            continue;
        ab_code_name(a, i, name, sizeof name);
        ab_text_addf(out, "/* ---- %s: %s ---- */\n\n", name, what(&a->heaps[i]));
        heap_interface(&a->heaps[i], name, out);
    }
    ab_text_add(out, "#ifdef __cplusplus\n}\n#endif\n\n");
    add_resources(out, a);
    ab_text_add(out, "#endif\n\n");
}

static void add_init(struct ab_text *out, const struct ab_advice *a)
{
    char name[48];
    ab_text_add(out, "static int advised_n_open; /* of the heaps, in this order */\n\n"
                     "void advised_fini(void)\n{\n");
    for (size_t i = a->n_heaps; i-- > 0;)
        if (is_built(&a->heaps[i]))
            ab_text_addf(out, "    if (advised_n_open > %zu)\n        %s_close();\n", i,
                         ab_code_name(a, i, name, sizeof name));
    ab_text_add(out,
                "    advised_n_open = 0;\n}\n\nint advised_init(void)\n{\n    int error = 0;\n");
    for (size_t i = 0; i < a->n_heaps; i++)
        if (is_built(&a->heaps[i]))
            ab_text_addf(out,
                         "    if (error == 0 && (error = %s_open()) == 0)\n"
                         "        advised_n_open = %zu;\n",
                         ab_code_name(a, i, name, sizeof name), i + 1);
    ab_text_add(out, "    if (error != 0)\n        advised_fini();\n    return error;\n}\n");
}

static void add_implementation(struct ab_text *out, const struct ab_advice *a)
{
    char name[48];
    ab_text_add(out, "#if defined ADVISED_IMPLEMENTATION && !defined ADVISED_IS_IMPLEMENTED\n"
                     "#define ADVISED_IS_IMPLEMENTED\n\n#include <errno.h>\n\n");
    for (size_t i = 0; i < a->n_heaps; i++)
        if (is_built(&a->heaps[i]))
            heap_implementation(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
    add_init(out, a);
    if (any(a, has_scopes)) {
        ab_text_add(out, "\nvoid advised_scope_end(void)\n{\n");
        for (size_t i = 0; i < a->n_heaps; i++)
            if (is_built(&a->heaps[i]))
                heap_scope_end(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
        ab_text_add(out, "}\n");
    }
    ab_text_add(out, "\n#endif\n");
}

void ab_code_write(const struct ab_advice *advice, uint32_t heaps, const char *trace,
                   struct ab_text *out)
{
    struct ab_advice a = *advice;
    for (size_t i = 0; i < a.n_heaps; i++)
        if ((heaps >> i & 1) == 0)
            a.heaps[i].kind = AB_ADVICE_KEEP;
    add_head(out, &a, trace);
    add_placement(out, &a);
    ab_text_add(out, " */\n");
    if (!any(&a, is_built))
        return;
    add_interface(out, &a);
    add_implementation(out, &a);
}
