/* SPDX-License-Identifier: MIT
 *
 * Finds the frame of a call stack that requested the memory, and the key by which a rule of --map
 * names this frame. The key is file and line if both are known and no other stack passes through
 * that line. It includes the column if the line has several calls. Otherwise the key is module and
 * offset. With inlining, one frame contains several functions; the innermost that is not a wrapper
 * counts.
 */
#include "advise/site_groups.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "symbols/site_match.h"
#include "trace_tools/walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames ---- */

/* a frame of the call stacks; with inlining, it has several functions */
struct place {
    uint32_t first, n; /* range of its functions in maker.named */
    /* index in maker.symbols of its innermost function that is not a wrapper */
    uint32_t symbol;
    /* True if all its functions are wrappers, which only pass memory on */
    bool is_wrapper;
    enum ab_advice_call call; /* way in which its wrappers request memory */
    uint32_t containers;      /* bit mask of the containers that its wrappers belong to */
};

/* a call in the source, identified by file, line and column; several frames may have it */
struct symbol {
    char function[128], file[256];
    int line, column;
    bool has_mates; /* True if its source line has another call */
    uint32_t group; /* number + 1 of the group for this call; 0 = none yet */
    bool is_mixed;  /* True if stacks of other groups pass through its line */
};

struct maker {
    const struct ab_advise_plan *plan;
    struct ab_site_table *table;
    struct place *places; /* one entry for each frame of the table */
    /* the functions of all frames, frame after frame, as indexes in `symbols` */
    uint32_t *named;
    struct symbol *symbols;
    size_t n_named, n_symbols, cap_symbols;
    uint32_t *hashed; /* hash table by file and line: index in `symbols` + 1; 0 = free */
    size_t mask;
    uint32_t *of_frame; /* group number + 1 of each frame that has its own group; 0 = none yet */
    struct ab_site_groups *out;
};

static uint64_t hash_line(const struct ab_symbol *s)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (const char *c = basename(s->file); *c != 0; c++)
        h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
    return (h ^ (uint64_t)s->line) * UINT64_C(1099511628211);
}

static bool is_on_line(const struct symbol *a, const struct ab_symbol *b)
{
    return a->line == b->line && b->line > 0 && strcmp(a->file, basename(b->file)) == 0;
}

/* Sets *number to the index of the symbol for `s`, and adds a new symbol if necessary. A symbol
 * without a known line is always new. All symbols of one line have the same hash, so the search
 * finds all calls on the line. */
static void know_symbol(struct maker *m, const struct ab_symbol *s, uint32_t *number)
{
    bool has_line = s->file[0] != 0 && s->line > 0, has_mates = false;
    size_t at = (size_t)hash_line(s) & m->mask;
    for (; has_line && m->hashed[at] != 0; at = (at + 1) & m->mask) {
        struct symbol *known = &m->symbols[m->hashed[at] - 1];
        if (!is_on_line(known, s))
            continue;
        if (known->column == s->column) {
            *number = m->hashed[at] - 1;
            return;
        }
        known->has_mates = has_mates = true;
    }
    AB_GROW_ZEROED(m->symbols, m->cap_symbols, m->n_symbols);
    struct symbol *new_ = &m->symbols[ *number = (uint32_t)m->n_symbols++];
    AB_COPY(new_->function, s->function);
    AB_COPY(new_->file, basename(s->file));
    new_->line = s->line;
    new_->column = s->column;
    new_->has_mates = has_mates;
    if (has_line)
        m->hashed[at] = *number + 1;
}

static struct ab_site_named names_of(const struct maker *m, size_t frame)
{
    return m->plan->name != NULL ? m->plan->name(m->plan->user, m->table, &m->table->frames[frame])
                                 : ab_site_names_none();
}

static enum ab_advice_call call_of(const struct ab_symbol *wrapper)
{
    char name[512];
    ab_wrappers_bare_name(wrapper->function, name, sizeof name);
    bool is_std = strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0;
    if (is_std && !wrapper->is_rust && strncmp(name, "std::make_unique", 16) != 0)
        return AB_ADVICE_CALL_STD;
    return wrapper->is_new || (is_std && !wrapper->is_rust) ? AB_ADVICE_CALL_NEW
                                                            : AB_ADVICE_CALL_MALLOC;
}

/* ---- containers of C++ ---- */

/* Classes of libstdc++ and their containers. Base classes come last, because they count only if no
 * other class of their family was seen. */
const struct ab_advice_container ab_advice_containers[AB_ADVICE_CONTAINERS] = {
    {"vector", "vector<T>", 'v', false},
    {"deque", "deque<T>", 'd', false},
    {"__cxx11::list", "list<T>", 'l', false},
    {"forward_list", "forward_list<T>", 'f', false},
    {"__cxx11::basic_string", "string", 's', false},
    {"map", "map<K, T>", 'm', false},
    {"multimap", "multimap<K, T>", 'm', false},
    {"set", "set<T>", 'm', false},
    {"multiset", "multiset<T>", 'm', false},
    {"unordered_map", "unordered_map<K, T>", 'h', false},
    {"unordered_multimap", "unordered_multimap<K, T>", 'h', false},
    {"unordered_set", "unordered_set<T>", 'h', false},
    {"unordered_multiset", "unordered_multiset<T>", 'h', false},
    {"__detail::_Map_base", "unordered_map<K, T>", 'h', false},
    {"_Vector_base", "vector<T>", 'v', true},
    {"_Bvector_base", "vector<bool>", 'v', true},
    {"_Deque_base", "deque<T>", 'd', true},
    {"__cxx11::_List_base", "list<T>", 'l', true},
    {"_Fwd_list_base", "forward_list<T>", 'f', true},
    {"_Rb_tree", "map<K, T>", 'm', true},
    {"_Hashtable", "unordered_map<K, T>", 'h', true},
    {"__detail::_Hashtable_alloc", "unordered_map<K, T>", 'h', true},
};

bool ab_advice_container_counts(uint32_t seen, uint32_t row)
{
    const struct ab_advice_container *c = &ab_advice_containers[row];
    for (uint32_t i = 0; i < row; i++)
        if ((seen >> i & 1) != 0 && (strcmp(ab_advice_containers[i].type, c->type) == 0 ||
                                     (c->is_base && ab_advice_containers[i].family == c->family)))
            return false;
    return (seen >> row & 1) != 0;
}

/* Returns the bit of the row in ab_advice_containers whose class the function belongs to; 0 =
 * none. */
static uint32_t container_of_function(const struct ab_symbol *wrapper)
{
    char name[512];
    ab_wrappers_bare_name(wrapper->function, name, sizeof name);
    for (uint32_t i = 0; i < AB_ADVICE_CONTAINERS && strncmp(name, "std::", 5) == 0; i++) {
        size_t n = strlen(ab_advice_containers[i].class_name);
        if (strncmp(name + 5, ab_advice_containers[i].class_name, n) == 0 &&
            strncmp(name + 5 + n, "::", 2) == 0)
            return UINT32_C(1) << i;
    }
    return 0;
}

static void name_frame(struct maker *m, size_t frame)
{
    const struct ab_site_module *module = ab_site_module_of(m->table, &m->table->frames[frame]);
    struct ab_site_named named = names_of(m, frame);
    struct place *p = &m->places[frame];
    *p = (struct place){.first = (uint32_t)m->n_named, .n = (uint32_t)named.n, .is_wrapper = true};
    for (size_t i = 0; i < named.n; i++) {
        uint32_t *number = &m->named[m->n_named++];
        know_symbol(m, &named.items[i], number);
        bool is_place = p->is_wrapper && !ab_wrappers_has(module, &named.items[i]);
        if (i == 0 || is_place)
            p->symbol = *number;
        p->is_wrapper = p->is_wrapper && !is_place;
        if (p->is_wrapper && call_of(&named.items[i]) > p->call)
            p->call = call_of(&named.items[i]);
        if (p->is_wrapper)
            p->containers |= container_of_function(&named.items[i]);
    }
}

static void name_frames(struct maker *m)
{
    size_t n = 16, n_named = 0;
    for (size_t i = 0; i < m->table->n_frames; i++)
        n_named += names_of(m, i).n;
    while (n < 2 * n_named)
        n *= 2;
    m->mask = n - 1;
    m->hashed = ab_alloc_zeroed(n, sizeof m->hashed[0]);
    m->named = ab_alloc_zeroed(n_named + 1, sizeof m->named[0]);
    m->places = ab_alloc_zeroed(m->table->n_frames + 1, sizeof m->places[0]);
    m->of_frame = ab_alloc_zeroed(m->table->n_frames + 1, sizeof m->of_frame[0]);
    for (size_t i = 0; i < m->table->n_frames; i++)
        name_frame(m, i);
}

/* ---- groups ---- */

static uint32_t frame_at(const struct maker *m, uint32_t stack, size_t place)
{
    return m->table->lists[m->table->stacks[stack - 1].first + place];
}

/* Returns the depth of the frame that requested the memory: the innermost frame that is not a
 * wrapper, or 0. The stack must have at least one frame. */
static size_t place_of(const struct maker *m, uint32_t stack)
{
    size_t depth = m->table->stacks[stack - 1].depth;
    for (size_t i = 0; i < depth; i++)
        if (!m->places[frame_at(m, stack, i)].is_wrapper)
            return i;
    return 0;
}

static struct ab_advice_group *add_group(struct ab_site_groups *g)
{
    AB_GROW_ZEROED(g->items, g->cap, g->n);
    g->items[g->n] = (struct ab_advice_group){.align_most = 16, .heap = AB_ADVICE_NO_HEAP};
    return &g->items[g->n++];
}

static void describe(const struct maker *m, uint32_t frame, struct ab_advice_group *group)
{
    const struct symbol *s = &m->symbols[m->places[frame].symbol];
    const struct ab_site_frame *f = &m->table->frames[frame];
    memcpy(group->function, s->function, sizeof group->function);
    memcpy(group->file, s->file, sizeof group->file);
    group->line = s->line;
    group->column = s->has_mates ? s->column : 0;
    group->address = f->address;
    if (f->module != 0)
        AB_COPY(group->module, basename(m->table->modules[f->module - 1].path));
}

/* Returns the group of a frame, and adds it if necessary. All frames of one call share a group. But
 * a frame has a group of its own if its line is unknown or if stacks of other groups pass through
 * the line. */
static uint32_t group_of_frame(struct maker *m, uint32_t frame)
{
    struct symbol *s = &m->symbols[m->places[frame].symbol];
    uint32_t *known = s->line > 0 && !s->is_mixed ? &s->group : &m->of_frame[frame];
    if (*known == 0) {
        struct ab_advice_group *group = add_group(m->out);
        describe(m, frame, group);
        *known = (uint32_t)m->out->n;
    }
    return *known - 1;
}

static void mark_mixed(struct maker *m, uint32_t frame, uint32_t own)
{
    const struct place *p = &m->places[frame];
    for (uint32_t i = p->first; i < p->first + p->n; i++)
        if (m->named[i] != own)
            m->symbols[m->named[i]].is_mixed = true;
}

/* Marks the lines that some stack passes through although it requests memory elsewhere. A rule
 * matches any frame of a stack, so a rule for such a line would match the blocks of several
 * groups. */
static void find_mixed(struct maker *m)
{
    for (uint32_t stack = 1; stack <= m->table->n_stacks; stack++) {
        size_t depth = m->table->stacks[stack - 1].depth;
        if (depth == 0)
            continue;
        uint32_t own = m->places[frame_at(m, stack, place_of(m, stack))].symbol;
        for (size_t i = 0; i < depth; i++)
            mark_mixed(m, frame_at(m, stack, i), own);
    }
}

/* Removes the keys of groups whose frame is an outer caller in a stack of another group. A rule for
 * such a frame would also match the blocks of that stack. */
static void part_shadowed(struct maker *m)
{
    for (uint32_t stack = 1; stack <= m->table->n_stacks; stack++) {
        size_t own = m->table->stacks[stack - 1].depth > 0 ? place_of(m, stack) : 0;
        for (size_t i = own + 1; i < m->table->stacks[stack - 1].depth; i++) {
            uint32_t group = m->of_frame[frame_at(m, stack, i)];
            if (group == 0 || group - 1 == m->out->of_site[stack])
                continue;
            m->out->items[group - 1].key[0] = 0;
            m->out->items[group - 1].is_shadowed = true;
        }
    }
}

static bool is_text(const char *s)
{
    for (; *s != 0; s++)
        if ((uint8_t)*s <= ' ' || strchr("=,&#*?[]\\{}", *s) != NULL)
            return false;
    return true;
}

static void name_group(struct ab_advice_group *g, bool is_mixed)
{
    if (g->file[0] != 0 && g->line > 0 && !is_mixed && is_text(g->file))
        AB_FIT(g->key, g->column > 0 ? "site:%s:%d:%d" : "site:%s:%d", g->file, g->line, g->column);
    else if (g->module[0] != 0 && is_text(g->module))
        AB_FIT(g->key, "site:%s+0x%llx", g->module, (unsigned long long)g->address);
}

/* Adds to the group how the stack requests memory: the call and the containers. `own` is the depth
 * of the requesting frame. */
static void note_call(const struct maker *m, uint32_t stack, size_t own,
                      struct ab_advice_group *group)
{
    for (size_t i = 0; i <= own; i++) {
        const struct place *p = &m->places[frame_at(m, stack, i)];
        group->call = p->call > group->call ? p->call : group->call;
        group->containers |= p->containers;
    }
}

static void make_groups(struct maker *m)
{
    struct ab_site_groups *out = m->out;
    out->of_site = ab_alloc_zeroed(m->table->n_stacks + 1, sizeof out->of_site[0]);
    add_group(out); /* group 0 has the blocks of unknown call sites */
    name_frames(m);
    find_mixed(m);
    for (uint32_t stack = 1; stack <= m->table->n_stacks; stack++) {
        if (m->table->stacks[stack - 1].depth == 0)
            continue;
        size_t own = place_of(m, stack);
        uint32_t frame = frame_at(m, stack, own);
        uint32_t group = group_of_frame(m, frame);
        out->of_site[stack] = group;
        note_call(m, stack, own, &out->items[group]);
        name_group(&out->items[group], m->symbols[m->places[frame].symbol].is_mixed);
    }
    part_shadowed(m);
}

static enum ab_status pass_over(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    (void)user, (void)batch, (void)err;
    return AB_OK;
}

enum ab_status ab_site_groups_make(const struct ab_advise_plan *plan, struct ab_site_table *table,
                                   struct ab_site_groups *out, struct ab_err *err)
{
    struct maker m = {.plan = plan, .table = table, .out = out};
    const struct ab_walk walk = {
        .path = plan->path, .is_partial = plan->is_partial, .sites = table, .visit = pass_over};
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    if (status == AB_OK && table->n_stacks > 0)
        make_groups(&m);
    free(m.places);
    free(m.named);
    free(m.symbols);
    free(m.hashed);
    free(m.of_frame);
    return status;
}

/* ---- classes of sizes ---- */

static unsigned class_of(uint64_t size)
{
    if (size <= 1024)
        return (unsigned)((size + 15) / 16);
    unsigned octave = ab_log2(size - 1); /* octave 10 has the sizes 1025 … 2048 */
    unsigned quarter = (unsigned)((size - 1) >> (octave - 2)) & 3;
    return 65 + 4 * (octave - 10) + quarter;
}

static void name_class(unsigned class, struct ab_advice_group *g)
{
    uint64_t low = class == 0 ? 0 : (uint64_t) class * 16 - 15, high = (uint64_t) class * 16;
    if (class > 64) {
        unsigned octave = 10 + (class - 65) / 4, quarter = (class - 65) % 4;
        uint64_t step = UINT64_C(1) << (octave - 2);
        low = (UINT64_C(1) << octave) + quarter * step + 1;
        high = low + step - 1;
    }
    AB_FIT(g->key, "size:%llu-%llu", (unsigned long long)low, (unsigned long long)high);
}

uint32_t ab_site_groups_of(struct ab_site_groups *g, const struct ab_event *e)
{
    if (g->of_site != NULL)
        return g->of_site[e->site];
    unsigned class = class_of(e->size);
    if (g->of_size[class] == 0) {
        struct ab_advice_group *group = add_group(g);
        name_class(class, group);
        g->of_size[class] = (uint32_t)g->n;
    }
    return g->of_size[class] - 1;
}

void ab_site_groups_fini(struct ab_site_groups *g)
{
    free(g->items);
    free(g->of_site);
    *g = (struct ab_site_groups){0};
}
