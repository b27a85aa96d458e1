/* SPDX-License-Identifier: MIT
 *
 * The checker: fills blocks with a pattern, reads them back, looks for overlapping blocks, and
 * reports the first call that is wrong.
 */
#include "worker/checks/checker.h"

#include "base/bits.h"

#include <sched.h>

/* Lowest address above user space on every supported machine; MAP_FAILED is above it too. */
#define AB_ADDRESS_END ((uintptr_t)1 << 56)

bool ab_checker_open(struct ab_checker *c, const struct ab_target *target)
{
    *c = (struct ab_checker){.target = target,
                             .proves = AB_PROVE_ALL,
                             .edge_bytes = SIZE_MAX / 4,
                             .fills = true,
                             .is_null_failure = true};
    return ab_shadow_open(&c->shadow);
}

void ab_checker_forbid(struct ab_checker *c, const void *begin, size_t bytes)
{
    if (c->n_foreign < AB_FOREIGN_MAX)
        c->foreign[c->n_foreign++] = (struct ab_address_range){(uintptr_t)begin,
                                                               (uintptr_t)begin + bytes};
}

static void take_lock(struct ab_checker *c)
{
    while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
}

static void drop_lock(struct ab_checker *c)
{
    __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

/* ---- messages ---- */

static _Noreturn void fail_with(struct ab_checker *c, struct ab_words *w)
{
    c->fail(c->user, w->text);
}

static _Noreturn void fail_null(struct ab_checker *c, struct ab_words *w)
{
    ab_words_add(w, " returned NULL");
    if (c->fail_null != NULL)
        c->fail_null(c->user, w->text);
    fail_with(c, w);
}

static void add_block(struct ab_words *w, struct ab_checker *c, const struct ab_shadow_block *b)
{
    ab_words_ask(w, c->target, &b->ask);
    if (b->ask.size != b->size) {
        ab_words_pair(w, ", resized to ", b->size);
        ab_words_add(w, ",");
    }
}

/* Begins a message with the call and its result: "memalign(256, 256) returned 0x…". */
static struct ab_words gave(struct ab_checker *c, const struct ab_shadow_block *b)
{
    struct ab_words w = {.n = 0};
    add_block(&w, c, b);
    ab_words_add(&w, " returned ");
    ab_words_hex(&w, b->at);
    return w;
}

static bool proves(const struct ab_checker *c, enum ab_proof what)
{
    return (c->proves & what) != 0;
}

/* ---- contents ---- */

/* Returns byte i of the pattern of the block with number `seq`. Patterns of neighbouring blocks
 * differ at every byte, and most bytes are not zero. */
static unsigned char pattern(uint64_t seq, size_t i)
{
    return (unsigned char)((seq * 0x9e3779b1u + i) * 0x85ebca6bu >> 24);
}

static void fill(struct ab_checker *c, struct ab_shadow_block *b)
{
    unsigned char *p = ab_target_address(c->target, c->target->heap, b->ref);
    size_t n = b->filled;
    bool is_whole = n / 2 < c->edge_bytes;
    for (size_t i = 0; i < (is_whole ? n : c->edge_bytes); i++)
        p[i] = pattern(b->seq, i);
    for (size_t i = is_whole ? n : n - c->edge_bytes; i < n; i++)
        p[i] = pattern(b->seq, i);
}

/* Returns the index of the first byte in [0, n) that does not have its pattern; SIZE_MAX = all
 * bytes have it. */
static size_t find_change(const struct ab_checker *c, const struct ab_shadow_block *b,
                          const unsigned char *p, size_t n)
{
    bool is_whole = b->filled / 2 < c->edge_bytes;
    size_t head = is_whole || n < c->edge_bytes ? n : c->edge_bytes;
    for (size_t i = 0; i < head; i++)
        if (p[i] != pattern(b->seq, i))
            return i;
    for (size_t i = is_whole ? n : b->filled - c->edge_bytes; i < n; i++)
        if (p[i] != pattern(b->seq, i))
            return i;
    return SIZE_MAX;
}

static void read_back(struct ab_checker *c, struct ab_heap *heap, struct ab_shadow_block *b)
{
    struct ab_words w = {.n = 0};
    const unsigned char *p = ab_target_address(c->target, heap, b->ref);
    c->n_read++;
    if (p == NULL) {
        ab_words_add(&w, "a live block resolves to NULL: ");
        add_block(&w, c, b);
        fail_with(c, &w);
    }
    size_t at = proves(c, AB_PROVE_CONTENT) ? find_change(c, b, p, b->filled) : SIZE_MAX;
    if (at == SIZE_MAX)
        return;
    ab_words_add(&w, "the contents of a live block changed: ");
    add_block(&w, c, b);
    ab_words_pair(&w, ", byte ", at);
    fail_with(c, &w);
}

static void check_zero(struct ab_checker *c, const struct ab_shadow_block *b)
{
    const unsigned char *p = ab_target_address(c->target, c->target->heap, b->ref);
    for (size_t i = 0; i < b->size; i++)
        if (p[i] != 0) {
            struct ab_words w = {.n = 0};
            ab_words_add(&w, "a zeroed block is not zero: ");
            add_block(&w, c, b);
            ab_words_pair(&w, ", byte ", i);
            fail_with(c, &w);
        }
}

/* ---- addresses ---- */

static void check_alignment(struct ab_checker *c, const struct ab_shadow_block *b, size_t asked)
{
    size_t natural = b->size >= 16 ? 16 : b->size == 0 ? 1 : (size_t)1 << ab_log2(b->size);
    size_t align = asked > natural ? asked : natural;
    if (!proves(c, AB_PROVE_ALIGN) || b->size == 0 || (b->at & (align - 1)) == 0)
        return;
    struct ab_words w = gave(c, b);
    ab_words_pair(&w, ", not aligned to ", align);
    fail_with(c, &w);
}

/* Checks the address of a block before anything reads the block, because the address may be
 * invalid. */
static void check_address(struct ab_checker *c, const struct ab_shadow_block *b)
{
    struct ab_words w;
    bool is_moving = (c->target->traits & AB_TRAIT_MOVES) != 0;
    if (!is_moving && (b->at >= AB_ADDRESS_END || b->span > AB_ADDRESS_END - b->at)) {
        w = gave(c, b);
        ab_words_add(&w, b->at == UINTPTR_MAX ? ", which is MAP_FAILED, not NULL"
                                              : ", which is not a valid address");
        fail_with(c, &w);
    }
    for (uint32_t i = 0; i < c->n_foreign && proves(c, AB_PROVE_PLACE); i++)
        if (b->at < c->foreign[i].end && b->at + b->span > c->foreign[i].begin) {
            w = gave(c, b);
            ab_words_add(&w, ", memory not owned by the allocator");
            fail_with(c, &w);
        }
}

static _Noreturn void tell_overlap(struct ab_checker *c, const struct ab_shadow_block *b,
                                   const struct ab_shadow_block *other)
{
    struct ab_words w = gave(c, b);
    ab_words_add(&w, ", inside a live block: ");
    add_block(&w, c, other);
    ab_words_add(&w, " at ");
    ab_words_hex(&w, other->at);
    fail_with(c, &w);
}

/* Enters the block into the shadow (the record of live blocks), unless it overlaps another block.
 * Reports failures after the lock is released. */
static void take_up(struct ab_checker *c, const struct ab_shadow_block *b)
{
    struct ab_shadow_block other = {.at = 0};
    take_lock(c);
    const struct ab_shadow_block *found = proves(c, AB_PROVE_PLACE)
                                              ? ab_shadow_overlap(&c->shadow, b->at, b->span)
                                              : NULL;
    if (found != NULL)
        other = *found;
    bool is_kept = found == NULL && ab_shadow_put(&c->shadow, b);
    drop_lock(c);
    if (found != NULL)
        tell_overlap(c, b, &other);
    if (!is_kept)
        c->fail(c->user, "no memory for the record of live blocks");
}

static void check_usable(struct ab_checker *c, const struct ab_shadow_block *b, size_t usable)
{
    if (!proves(c, AB_PROVE_USABLE) || usable >= b->size)
        return;
    struct ab_words w = {.n = 0};
    ab_words_pair(&w, "usable_size is less than the requested size: ", usable);
    ab_words_add(&w, " of ");
    add_block(&w, c, b);
    fail_with(c, &w);
}

/* Returns the key of a block in the shadow: its address, or its reference if blocks may move. */
static uintptr_t place_of(const struct ab_checker *c, struct ab_heap *heap, ab_ref ref)
{
    if ((c->target->traits & AB_TRAIT_MOVES) != 0)
        return ref;
    return (uintptr_t)ab_target_address(c->target, heap, ref);
}

/* Checks a block that is new or was resized, fills it, and enters it into the shadow. */
static void adopt(struct ab_checker *c, struct ab_heap *heap, struct ab_shadow_block *b)
{
    bool is_moving = (c->target->traits & AB_TRAIT_MOVES) != 0;
    b->at = place_of(c, heap, b->ref);
    b->span = is_moving || b->size == 0 ? 1 : b->size;
    check_address(c, b);
    size_t usable = ab_target_usable(c->target, heap, b->ref), held = b->size;
    if (usable != SIZE_MAX && b->size > 0) {
        check_usable(c, b, usable);
        held = usable > b->size ? usable : b->size;
    }
    if (b->at == 0) {
        struct ab_words w = {.n = 0};
        ab_words_add(&w, "a live block resolves to NULL: ");
        add_block(&w, c, b);
        fail_with(c, &w);
    }
    b->filled = !c->fills ? 0 : c->fills_usable && usable != SIZE_MAX ? held : b->size;
    if (c->fills_usable && !is_moving && b->size > 0)
        b->span = held;
    take_up(c, b);
}

/* ---- calls ---- */

static bool is_followed(const struct ab_checker *c, size_t size)
{
    return size > 0 || ab_target_is_malloc(c->target);
}

static uint64_t count(struct ab_checker *c, uint64_t *what)
{
    __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&c->seq, 1, __ATOMIC_RELAXED);
}

ab_ref ab_checker_ask(struct ab_checker *c, struct ab_heap *heap, const struct ab_ask *ask)
{
    uint64_t seq = count(c, &c->n_asked);
    struct ab_words w = {.n = 0};
    ab_ref ref = ab_target_ask(c->target, heap, ask);
    if (ref == 0 && c->is_null_failure && ask->size > 0) {
        ab_words_ask(&w, c->target, ask);
        fail_null(c, &w);
    }
    if (ref == 0 || !is_followed(c, ask->size))
        return ref;
    struct ab_shadow_block b = {.size = ask->size, .seq = seq, .ref = ref, .ask = *ask};
    b.at = (uintptr_t)ab_target_address(c->target, heap, ref);
    check_alignment(c, &b, ask->align);
    adopt(c, heap, &b);
    if (ask->call == AB_CALL_ZEROED && proves(c, AB_PROVE_ZERO))
        check_zero(c, &b);
    fill(c, &b);
    return ref;
}

static _Noreturn void tell_lost(struct ab_checker *c, uintptr_t at)
{
    c->fail(c->user, at == 0 ? "a live block resolves to NULL" : "a live block has moved");
}

/* Removes the block's entry from the shadow and returns a copy of it. */
static struct ab_shadow_block take_out(struct ab_checker *c, struct ab_heap *heap, ab_ref ref)
{
    uintptr_t at = place_of(c, heap, ref);
    take_lock(c);
    struct ab_shadow_block *found = ab_shadow_find(&c->shadow, at);
    if (found == NULL) {
        drop_lock(c);
        tell_lost(c, at);
    }
    struct ab_shadow_block b = *found;
    ab_shadow_drop(&c->shadow, at);
    c->freed[c->n_gone++ % AB_FREED_MAX] = (struct ab_address_range){b.at, b.at + b.span};
    drop_lock(c);
    return b;
}

/* Checks that the handle of a freed block is stale. Not for back ends that free nothing before a
 * reset, because there it may still resolve. */
static void check_stale(struct ab_checker *c, struct ab_heap *heap, ab_ref ref)
{
    const struct ab_backend *hooks = c->target->hooks;
    if (proves(c, AB_PROVE_STALE) && hooks != NULL && hooks->resolve != NULL && ref != 0 &&
        ab_target_can_free(c->target) && hooks->resolve(heap, ref) != NULL)
        c->fail(c->user, "the handle of a freed block still resolves");
}

void ab_checker_read(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size)
{
    if (!is_followed(c, size))
        return;
    take_lock(c);
    struct ab_shadow_block *found = ab_shadow_find(&c->shadow, place_of(c, heap, ref));
    struct ab_shadow_block b = found != NULL ? *found : (struct ab_shadow_block){.at = 0};
    drop_lock(c);
    if (b.at == 0)
        tell_lost(c, place_of(c, heap, ref));
    read_back(c, heap, &b);
}

void ab_checker_drop(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size)
{
    count(c, &c->n_freed);
    if (ref != 0 && is_followed(c, size)) {
        struct ab_shadow_block b = take_out(c, heap, ref);
        read_back(c, heap, &b);
    }
}

void ab_checker_free(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size)
{
    ab_checker_drop(c, heap, ref, size);
    ab_target_free(c->target, heap, ref, size);
    check_stale(c, heap, ref);
}

void ab_checker_free_sized(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                           const struct ab_sized *sized)
{
    ab_checker_drop(c, heap, ref, sized->size);
    ab_target_free_sized(c->target, heap, ref, sized);
    check_stale(c, heap, ref);
}

static void check_prefix(struct ab_checker *c, struct ab_heap *heap, struct ab_shadow_block *b,
                         const size_t sizes[2])
{
    const unsigned char *p = ab_target_address(c->target, heap, b->ref);
    size_t kept = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    size_t at = find_change(c, b, p, kept < b->filled ? kept : b->filled);
    if (at == SIZE_MAX)
        return;
    struct ab_words w = {.n = 0};
    ab_words_add(&w, "the contents of a live block changed: ");
    ab_words_resize(&w, c->target, sizes);
    ab_words_pair(&w, " did not preserve byte ", at);
    fail_with(c, &w);
}

static void put_back(struct ab_checker *c, struct ab_heap *heap, struct ab_shadow_block *b,
                     const size_t sizes[2])
{
    struct ab_words w = {.n = 0};
    take_lock(c);
    bool is_taken = ab_shadow_overlap(&c->shadow, b->at, b->span) != NULL;
    bool is_kept = !is_taken && ab_shadow_put(&c->shadow, b);
    drop_lock(c);
    const unsigned char *p = ab_target_address(c->target, heap, b->ref);
    if (is_kept && p != NULL && find_change(c, b, p, b->filled) == SIZE_MAX)
        return;
    ab_words_resize(&w, c->target, sizes);
    ab_words_add(&w, " failed, but changed the old block");
    fail_with(c, &w);
}

ab_ref ab_checker_resize(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                         const size_t sizes[2])
{
    struct ab_words w = {.n = 0};
    uint64_t seq = count(c, &c->n_resized);
    struct ab_shadow_block b = take_out(c, heap, ref);
    read_back(c, heap, &b);
    ab_ref moved = ab_target_resize(c->target, heap, ref, sizes);
    if (moved == 0) {
        put_back(c, heap, &b, sizes);
        if (!c->is_null_failure)
            return 0;
        ab_words_resize(&w, c->target, sizes);
        fail_null(c, &w);
    }
    if (moved != ref)
        check_stale(c, heap, ref);
    b.ref = moved;
    b.size = sizes[1];
    b.at = (uintptr_t)ab_target_address(c->target, heap, moved);
    check_alignment(c, &b, 0);
    if (b.at < AB_ADDRESS_END && b.at != 0 && proves(c, AB_PROVE_PREFIX))
        check_prefix(c, heap, &b, sizes);
    b.seq = seq;
    adopt(c, heap, &b);
    fill(c, &b);
    return moved;
}

void ab_checker_sweep(struct ab_checker *c)
{
    uint32_t i = 0;
    struct ab_shadow_block *b;
    while ((b = ab_shadow_next(&c->shadow, &i)) != NULL)
        read_back(c, c->target->heap, b);
}

/* Finds the block that was freed last at an address. Only the latest one counts, because addresses
 * are reused. */
static bool locate_freed(const struct ab_checker *c, uintptr_t address, struct ab_near_block *out)
{
    uint32_t n = c->n_gone < AB_FREED_MAX ? c->n_gone : AB_FREED_MAX;
    for (uint32_t i = 1; i <= n; i++) {
        const struct ab_address_range *f = &c->freed[(c->n_gone - i) % AB_FREED_MAX];
        if (address < f->begin || address >= f->end)
            continue;
        *out = (struct ab_near_block){AB_NEAR_FREED, 0, f->begin, f->end - f->begin};
        return true;
    }
    return false;
}

static enum ab_near nearness(const struct ab_shadow_block *b, uintptr_t address)
{
    if (address < b->at)
        return AB_NEAR_BEFORE;
    return address - b->at < b->span ? AB_NEAR_INSIDE : AB_NEAR_BEHIND;
}

/* Finds the live block near an address. If the address is not inside a block, prefers the block
 * that ends before it, because overruns are the usual error. */
static struct ab_near_block locate(struct ab_checker *c, uintptr_t address)
{
    struct ab_near_block found = {.near = AB_NEAR_NOTHING};
    const struct ab_shadow_block *b = ab_shadow_overlap(&c->shadow, address, 1);
    if (b == NULL && locate_freed(c, address, &found))
        return found;
    if (b == NULL && address >= AB_NEAR_BYTES)
        b = ab_shadow_overlap(&c->shadow, address - AB_NEAR_BYTES, AB_NEAR_BYTES);
    if (b == NULL)
        b = ab_shadow_overlap(&c->shadow, address, AB_NEAR_BYTES);
    if (b != NULL)
        found = (struct ab_near_block){nearness(b, address), 0, b->at, b->size};
    return found;
}

bool ab_checker_locate(struct ab_checker *c, uintptr_t address, struct ab_near_block *out)
{
    enum { TURNS = 1000 };
    bool is_moving = (c->target->traits & AB_TRAIT_MOVES) != 0;
    for (int i = 0; i < TURNS && !is_moving && address < AB_ADDRESS_END; i++) {
        if (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE) == 0) {
            *out = locate(c, address);
            drop_lock(c);
            return true;
        }
        sched_yield();
    }
    return false;
}

void ab_checker_forget(struct ab_checker *c)
{
    ab_shadow_clear(&c->shadow);
}
