/* SPDX-License-Identifier: MIT
 *
 * Owns the file of C that shows an advice: its head with what goes where, the order of its parts,
 * and the names in it. The code of each heap: src/advise/code_heaps.c.
 */
#include "advise/code.h"

#include "advise/code_heaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLACES_MOST = 40 }; /* of one heap that are listed */

static bool is_built(const struct ab_advice_heap *heap)
{
    return heap->kind != AB_ADVICE_KEEP;
}

static bool has_scopes(const struct ab_advice_heap *heap)
{
    return heap->kind == AB_ADVICE_FRAME || heap->kind == AB_ADVICE_DOUBLE;
}

/* In which heap the group is; AB_ADVICE_NO_HEAP: in none, or in one that is not built. */
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

/* Text of the recorded program within a comment. */
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
        ab_text_addf(out, ":%d", g->line);
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

/* The same where C++ asks. Arenas give back at the end of a scope, others block by block. */
static void add_cxx_instruction(struct ab_text *out, const struct ab_advice_heap *heap,
                                const char *name, enum ab_advice_call call)
{
    bool has_marks = heap->kind == AB_ADVICE_STACK || heap->kind == AB_ADVICE_NESTED;
    bool dies_alone = heap->kind == AB_ADVICE_POOL || heap->kind == AB_ADVICE_SLAB;
    if (call == AB_ADVICE_CALL_STD)
        ab_text_addf(out,
                     " *       std::vector<T> v -> std::pmr::vector<T> v(&advised::%s);\n"
                     " *       std::string s -> std::pmr::string s(&advised::%s), and so on\n",
                     name, name);
    else
        ab_text_addf(
            out,
            " *       new T(...) -> new (advised::%s.allocate(sizeof(T), alignof(T))) T(...)\n"
            " *       delete p -> p->~T()",
            name);
    if (call != AB_ADVICE_CALL_STD && dies_alone)
        ab_text_addf(out, ", advised::%s.deallocate(p, sizeof(T), alignof(T))", name);
    if (call != AB_ADVICE_CALL_STD)
        ab_text_add(out, "\n");
    if (has_marks && ab_advice_is_shared(heap))
        ab_text_addf(out, " *       m = %s_begin() before them, %s_end(m) when they are gone\n",
                     name, name);
    else if (has_marks)
        ab_text_addf(out, " *       all within { ab::arena_scope scope(&advised_%s); ... }\n",
                     name);
    else if (!dies_alone)
        ab_text_addf(out,
                     " *       delete nothing: the resource frees at %sadvised_scope_end(); what "
                     "uses it is\n *       gone by then\n",
                     heap->kind == AB_ADVICE_DOUBLE ? "the second " : "");
}

/* The groups of heap number `heap`, or AB_ADVICE_NO_HEAP. */
static void add_places(struct ab_text *out, const struct ab_advice *a, uint32_t heap,
                       const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct ab_advice_group *g = &a->groups[i];
        if (heap_of(a, g) != heap || ++n > PLACES_MOST)
            continue;
        ab_text_add(out, " *   ");
        add_place(out, g);
        ab_text_addf(out, "  (%" PRIu64 " call%s)\n", g->calls, g->calls == 1 ? "" : "s");
        if (heap != AB_ADVICE_NO_HEAP && g->call != AB_ADVICE_CALL_MALLOC)
            add_cxx_instruction(out, &a->heaps[heap], name, g->call);
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
    if (n > PLACES_MOST)
        ab_text_addf(out, " *   and %zu more\n", n - PLACES_MOST);
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

/* C++ asks heap number `heap`, or with `heap` AB_ADVICE_NO_HEAP any that is built. */
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

/* The same headers once more: those for threads are others where they are installed. */
static void add_includes(struct ab_text *out, const struct ab_advice *a, bool is_installed)
{
    static const char *const headers[] = {"arena", "pool", "slab"};
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        bool is_used = false, is_shared = false;
        for (size_t i = 0; i < a->n_heaps; i++) {
            const struct ab_advice_heap *heap = &a->heaps[i];
            bool is_it = is_built(heap) && strcmp(ab_code_heaps_header(heap), headers[h]) == 0;
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
        bool needs_functions = ab_code_heaps_needs_functions(&a->heaps[i]);
        if (!has_cxx(a, i))
            continue;
        if (needs_functions && !has_functions)
            ab_text_add(out, ab_code_heaps_functions);
        has_functions = has_functions || needs_functions;
        ab_code_heaps_resource(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
    }
    ab_text_add(out, "\n} // namespace advised\n#endif\n\n");
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
    for (size_t i = 0; i < a->n_heaps; i++) {
        if (!is_built(&a->heaps[i]))
            continue;
        ab_code_name(a, i, name, sizeof name);
        ab_text_addf(out, "/* ---- %s: %s ---- */\n\n", name, what(&a->heaps[i]));
        ab_code_heaps_interface(&a->heaps[i], name, out);
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
            ab_code_heaps_implementation(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
    add_init(out, a);
    if (any(a, has_scopes)) {
        ab_text_add(out, "\nvoid advised_scope_end(void)\n{\n");
        for (size_t i = 0; i < a->n_heaps; i++)
            if (is_built(&a->heaps[i]))
                ab_code_heaps_scope_end(&a->heaps[i], ab_code_name(a, i, name, sizeof name), out);
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
