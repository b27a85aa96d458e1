/* SPDX-License-Identifier: MIT
 *
 * Owns the templates of generated code, one set for each kind of heap, in the form for one thread and in
 * that for several: those take a heap of their own each, of a group (allocators/common/shard.h).
 * In a template @ is the name of the heap, $ what its constants begin with, % the kind of allocator.
 */
#include "advise/code_heaps.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pieces { /* of one kind */
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

static const char stack_interface[] =
    "/* A save point: all that is allocated after it dies with its end. They nest. */\n"
    "static inline struct ab_arena_mark @_begin(void)\n{\n"
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

static const char shared_objects[] =
    "struct ab_%_shared *advised_@;\n"
    "extern unsigned advised_@_opened; /* how often */\n"
    "extern __thread struct ab_%_shared *advised_@_own; /* that of this thread */\n"
    "extern __thread unsigned advised_@_known; /* it is of this opening */\n";
static const char shared_interface[] = "/* From any thread. */\n"
                                       "static inline void @_free(void *block)\n{\n"
                                       "    ab_%_shared_free(@_own(), block);\n}\n\n";
static const char shared_own[] = "static inline struct ab_%_shared *@_own(void)\n{\n"
                                 "    if (advised_@_known != advised_@_opened) {\n"
                                 "        advised_@_own = ab_%_shared_own(advised_@);\n"
                                 "        advised_@_known = advised_@_opened;\n"
                                 "    }\n"
                                 "    return advised_@_own;\n}\n\n";
static const char shared_open_begin[] = "    struct ab_%_shared_options options;\n"
                                        "    memset(&options, 0, sizeof options);\n"
                                        "    options.threads.mode = AB_SHARDS_LOCAL; "
                                        "/* a heap for each thread, no lock */\n";
static const char shared_open_end[] = "    advised_@_opened++;\n"
                                      "    advised_@ = ab_%_shared_open(&options);\n"
                                      "    return advised_@ == NULL ? errno : 0;\n";
static const char shared_stack[] =
    "/* A save point of this thread: all that it allocates after it dies with its end. They nest. */\n"
    "static inline struct ab_arena_mark @_begin(void)\n{\n"
    "    return ab_arena_shared_save(@_own());\n}\n\n"
    "static inline void @_end(struct ab_arena_mark mark)\n{\n"
    "    ab_arena_shared_restore(@_own(), mark);\n}\n\n";

static const char shared_double_objects[] =
    "struct ab_arena_shared *advised_@[2]; /* of this scope and of the one before, in turn */\n"
    "extern unsigned advised_@_turn, advised_@_opened; /* how often */\n"
    "extern __thread struct ab_arena_shared *advised_@_own[2]; /* those of this thread */\n"
    "extern __thread unsigned advised_@_known; /* they are of this opening */\n";
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

/* Scopes of each thread by itself. Threads beyond those that have an arena of their own share the first
 * one, in which nothing dies at the end of a scope. */
static const char own_arena_scope_end[] =
    "    struct ab_arena_shared *@ = @_own();\n"
    "    if (@ != advised_@) /* that one is of the threads which have none of their own */\n"
    "        ab_arena_shared_reset(@);\n";
static const char own_double_objects[] =
    "struct ab_arena_shared *advised_@[2]; /* of this scope and of the one before, in turn */\n"
    "extern unsigned advised_@_opened; /* how often */\n"
    "extern __thread unsigned advised_@_turn; /* of this thread, as are the next ones */\n"
    "extern __thread struct ab_arena_shared *advised_@_own[2];\n"
    "extern __thread unsigned advised_@_known; /* they are of this opening */\n";
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

/* It goes back to save points, not to its beginning at the end of a scope. */
static bool has_marks(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_STACK || heap->kind == AB_ADVICE_NESTED;
}

static bool is_arena(const struct ab_advice_heap *heap)
{
    return has_marks(heap) || heap->kind == AB_ADVICE_FRAME || heap->kind == AB_ADVICE_DOUBLE;
}

const char *ab_code_heaps_header(const struct ab_advice_heap *heap)
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

/* A template with its names. */
static void add(struct ab_text *out, const struct ab_advice_heap *heap, const char *name,
                const char *template)
{
    for (const char *p = template; *p != '\0'; p++) {
        if (*p == '@')
            ab_text_add(out, name);
        else if (*p == '%')
            ab_text_add(out, ab_code_heaps_header(heap));
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

/* Of an arena that has no limit: its first region. */
static uint64_t arena_bytes(const struct ab_advice_heap *heap)
{
    uint64_t bytes = heap->capacity_bytes != 0 ? heap->capacity_bytes : heap->most_bytes;
    return bytes != 0 ? bytes : 65536;
}

static uint64_t align_of(const struct ab_advice_heap *heap)
{
    return heap->align > 16 ? heap->align : 16;
}

/* Whose code names the alignment. */
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
        snprintf(why, sizeof why, "measured: %" PRIu64 " %s", heap->most_bytes,
                 heap->kind == AB_ADVICE_STACK    ? "at a time"
                 : heap->kind == AB_ADVICE_NESTED ? "in one nested scope"
                                                  : "in one scope");
        add_number(out, heap, name, "BYTES", arena_bytes(heap), why);
    } else if (heap->kind == AB_ADVICE_POOL) {
        snprintf(why, sizeof why, "measured: %" PRIu64 " at a time", heap->most_blocks);
        add_number(out, heap, name, "SLOT", heap->size_most, "");
        add_number(out, heap, name, "SLOTS", heap->capacity_blocks, why);
    } else {
        add(out, heap, name, "#define $_SPACING AB_SLAB_POW2\n");
    }
    ab_text_add(out, "\n");
}

/* Small blocks of slabs are made as much aligned as malloc's are. */
static void add_alloc(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    bool is_pool = heap->kind == AB_ADVICE_POOL, is_slab = heap->kind == AB_ADVICE_SLAB;
    bool is_aligned = align_of(heap) > 16 && !is_pool;
    const char *own = ab_advice_is_shared(heap)        ? "@_own()"
                      : heap->kind == AB_ADVICE_DOUBLE ? "&advised_@[advised_@_turn]"
                                                       : "&advised_@";
    add(out, heap, name,
        is_pool          ? "/* NULL for more than $_SLOT bytes, or when memory is exhausted. */\n"
        : is_arena(heap) ? "/* NULL when memory is exhausted; grows beyond $_BYTES. */\n"
                         : "/* NULL when memory is exhausted. */\n");
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

/* Where the allocator has none for it: a new block and a copy. */
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

void ab_code_heaps_interface(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out)
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
            "    options.pool.n_slots = $_SLOTS; /* of each thread; touched as they are used */\n"
            "    options.pool.grows = true;\n");
    else
        add(out, heap, name,
            "    options.slabs.keep_max = 1024; /* empty slabs of 64 KiB that are kept */\n"
            "    options.slabs.spare_max_bytes = (size_t)4 << 20;\n"
            "    options.slabs.spacing = $_SPACING;\n");
}

/* The objects without what only a declaration says. */
static void add_objects(struct ab_text *out, const struct ab_advice_heap *heap, const char *name)
{
    for (const char *line = pieces_of(heap)->objects; *line != '\0';) {
        const char *end = strchr(line, ';') + 1;
        char text[96];
        line += strncmp(line, "extern ", 7) == 0 ? 7 : 0;
        snprintf(text, sizeof text, "%.*s\n", (int)(end - line), line);
        add(out, heap, name, text);
        line = strchr(end, '\n') + 1;
    }
    ab_text_add(out, "\n");
}

void ab_code_heaps_implementation(const struct ab_advice_heap *heap, const char *name,
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

void ab_code_heaps_scope_end(const struct ab_advice_heap *heap, const char *name,
                             struct ab_text *out)
{
    if (!has_marks(heap))
        add(out, heap, name, pieces_of(heap)->scope_end);
}

/* ---- C++ ---- */

const char ab_code_heaps_functions[] =
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

bool ab_code_heaps_needs_functions(const struct ab_advice_heap *heap)
{
    return ab_advice_is_shared(heap) || heap->kind == AB_ADVICE_DOUBLE;
}

void ab_code_heaps_resource(const struct ab_advice_heap *heap, const char *name,
                            struct ab_text *out)
{
    bool is_pool = heap->kind == AB_ADVICE_POOL;
    if (!ab_code_heaps_needs_functions(heap)) {
        add(out, heap, name, "inline ab::%_resource @(&::advised_@");
        ab_text_add(out, is_pool ? ", std::pmr::new_delete_resource());\n" : ");\n");
        return;
    }
    add(out, heap, name, "inline functions @(::@_alloc, ");
    add(out, heap, name, is_arena(heap) ? "nullptr, " : "::@_free, ");
    add(out, heap, name, is_pool ? "$_SLOT, " : "SIZE_MAX, ");
    ab_text_addf(out, "%" PRIu64 ");\n", align_of(heap));
}
