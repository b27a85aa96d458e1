/* SPDX-License-Identifier: MIT
 *
 * Writes one rule of --map per group. The base serves all blocks without a rule.
 */
#include "app/advise/advise_rules.h"

static bool is_of(const struct ab_advice_group *g, uint32_t heaps)
{
    return g->heap != AB_ADVICE_NO_HEAP && (heaps >> g->heap & 1) != 0;
}

static struct ab_text rules(const struct ab_advice *a, uint32_t heaps, bool is_compiled,
                            const char *base)
{
    struct ab_text text = {0};
    for (size_t i = 0; i < a->n_groups; i++) {
        if (!is_of(&a->groups[i], heaps))
            continue;
        const struct ab_advice_heap *h = &a->heaps[a->groups[i].heap];
        ab_text_addf(&text, "%s=%s,", a->groups[i].key,
                     is_compiled && h->compiled[0] != 0 ? h->compiled : h->backend);
    }
    ab_text_addf(&text, "*=%s", base);
    return text;
}

struct ab_text ab_advise_rules(const struct ab_advice *a, uint32_t heaps, const char *base)
{
    return rules(a, heaps, false, base);
}

struct ab_text ab_advise_compiled_rules(const struct ab_advice *a, uint32_t heaps, const char *base)
{
    return rules(a, heaps, true, base);
}

/* Returns a comment with the kind of heap. The rule itself names only the back end, and several
 * kinds use the arena. */
static const char *words_of(enum ab_advice_kind kind)
{
    static const char *const words[AB_ADVICE_KIND_COUNT] = {
        [AB_ADVICE_STACK] = "stack: an arena whose youngest block is freed first",
        [AB_ADVICE_FRAME] = "frame: an arena that is reset when the scope ends",
        [AB_ADVICE_NESTED] = "nested: an arena of a scope within the scope",
        [AB_ADVICE_DOUBLE] = "double: two arenas in turn",
        [AB_ADVICE_POOL] = "pool",
        [AB_ADVICE_SLAB] = "slab",
    };
    return words[kind];
}

void ab_advise_write_rules(FILE *to, const struct ab_advice *a, uint32_t heaps, const char *base,
                           const char *trace)
{
    fprintf(to, "# allocbench advise %s\n# to try it: allocbench replay %s --map @FILE\n",
            AB_SHOWN(512, trace), AB_SHOWN(512, trace));
    for (size_t h = 0; h < a->n_heaps; h++) {
        const struct ab_advice_heap *heap = &a->heaps[h];
        if ((heaps >> h & 1) == 0)
            continue;
        fprintf(to, "\n# %s: %s%s\n", heap->name, words_of(heap->kind),
                ab_advice_is_shared(heap) ? ", threads=local" : "");
        for (size_t i = 0; i < a->n_groups; i++) {
            const struct ab_advice_group *g = &a->groups[i];
            if (g->heap == h)
                fprintf(to, "%s=%s%s%s\n", g->key, heap->backend, g->function[0] != 0 ? "  # " : "",
                        AB_SHOWN(256, g->function));
        }
    }
    fprintf(to, "\n*=%s\n", base);
}
