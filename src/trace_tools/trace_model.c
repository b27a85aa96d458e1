/* SPDX-License-Identifier: MIT
 *
 * Makes a workload's model from a trace. The first pass finds the length of the trace and its
 * sizes. The second pass finds the kind of each block, which is known only when the block ends.
 * Then the sequence of kinds is counted for each part of the trace.
 */
#include "trace_tools/trace_model.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "tape/tape_file.h"
#include "trace/model_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTEXT = 4 }; /* number of kinds before a block that determine its own kind */
enum { EXACT_SIZES = 4096, EXACT_SIZE_TO = 1024, SIZE_BITS = 7, LIFE_BITS = 4 };

/* Rounds x so that only its `bits` highest bits count, to the middle of the range of numbers that
 * share these bits. */
static uint64_t round_to_bits(uint64_t x, unsigned bits)
{
    unsigned n = x > 0 ? ab_log2(x) + 1 : 0;
    if (n <= bits)
        return x;
    return (x >> (n - bits) << (n - bits)) + (UINT64_C(1) << (n - bits) >> 1);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* ---- a hash map from number to number: from a size to its count, from a hash to an index ---- */

struct ab_size_counts { /* zero-initialize it; no key may be UINT64_MAX */
    struct ab_size_count {
        uint64_t key, value;
    } * items;
    size_t n, cap; /* cap: a power of two */
};

static struct ab_size_count *find_count(struct ab_size_counts *c, uint64_t key)
{
    size_t i = mix(key) & (c->cap - 1);
    while (c->items[i].key != UINT64_MAX && c->items[i].key != key)
        i = (i + 1) & (c->cap - 1);
    return &c->items[i];
}

static void empty_counts(struct ab_size_counts *c, size_t cap)
{
    c->items = ab_alloc(cap * sizeof c->items[0]);
    memset(c->items, 0xff, cap * sizeof c->items[0]);
    c->cap = cap;
    c->n = 0;
}

/* Returns a pointer to the value of a key, which is valid until the next call. A new key has the
 * value 0. */
static uint64_t *count_of(struct ab_size_counts *c, uint64_t key)
{
    if (2 * (c->n + 1) > c->cap) {
        struct ab_size_counts old = *c;
        empty_counts(c, old.cap > 0 ? 2 * old.cap : 256);
        for (size_t i = 0; i < old.cap; i++)
            if (old.items[i].key != UINT64_MAX)
                *find_count(c, old.items[i].key) = old.items[i];
        c->n = old.n;
        free(old.items);
    }
    struct ab_size_count *found = find_count(c, key);
    if (found->key == UINT64_MAX) {
        c->n++;
        *found = (struct ab_size_count){.key = key};
    }
    return &found->value;
}

/* ---- a file that stores one number for each allocation ---- */

/* The file is read and written through a cache of pages. Blocks that end one after another were
 * mostly allocated near each other. */
enum { PAGE_NUMBERS = 4096, PAGES = 256 };

struct ab_number_file {
    int fd;
    int error;               /* errno of the first failure; 0 = none */
    uint64_t page_of[PAGES]; /* for each cache slot: page of the file in it + 1; 0 = none */
    bool is_changed[PAGES];
    uint32_t numbers[PAGES][PAGE_NUMBERS];
};

static enum ab_status number_file_open(struct ab_number_file **out, struct ab_err *err)
{
    const char *folder;
    int fd = ab_unnamed_file(&folder);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM,
                             "cannot make a file for the kinds of blocks in $TMPDIR, /var/tmp or "
                             "/tmp");
    *out = ab_alloc_zeroed(1, sizeof **out);
    (*out)->fd = fd;
    return AB_OK;
}

static void number_file_close(struct ab_number_file *f)
{
    if (f != NULL)
        close(f->fd);
    free(f);
}

/* Replaces the page in cache slot `i` by page `page` of the file. Numbers beyond the end of the
 * file are 0. */
static void change_page(struct ab_number_file *f, size_t i, uint64_t page)
{
    ssize_t bytes = sizeof f->numbers[i], n = bytes;
    if (f->is_changed[i])
        n = pwrite(f->fd, f->numbers[i], (size_t)bytes, (off_t)(f->page_of[i] - 1) * bytes);
    if (n != bytes && f->error == 0)
        f->error = n < 0 ? errno : ENOSPC;
    n = pread(f->fd, f->numbers[i], (size_t)bytes, (off_t)page * bytes);
    if (n < 0 && f->error == 0)
        f->error = errno;
    n = n < 0 ? 0 : n;
    memset((char *)f->numbers[i] + n, 0, (size_t)(bytes - n));
    f->page_of[i] = page + 1;
    f->is_changed[i] = false;
}

static uint32_t *number_at(struct ab_number_file *f, uint64_t at, bool is_write)
{
    uint64_t page = at / PAGE_NUMBERS;
    size_t i = page % PAGES;
    if (f->page_of[i] != page + 1)
        change_page(f, i, page);
    f->is_changed[i] = f->is_changed[i] || is_write;
    return &f->numbers[i][at % PAGE_NUMBERS];
}

static enum ab_status number_file_check(const struct ab_number_file *f, struct ab_err *err)
{
    errno = f->error;
    return f->error == 0 ? AB_OK
                         : ab_fail_errno(err, AB_SYSTEM,
                                         "cannot keep the kinds of blocks in a file in $TMPDIR");
}

/* ---- kinds of blocks ---- */

struct kind {
    uint64_t size, last_size, life, align;
    uint32_t resizes;
    uint16_t lane, freed_by;
    uint8_t grown, ends, is_zeroed, from, to, unused[3];
};

struct ab_model_kinds {
    struct kind *items;
    uint32_t *next; /* for each kind: index + 1 of the next kind with the same hash; 0 = none */
    size_t n, cap, cap_next;
    struct ab_size_counts by_hash;
    uint32_t *number; /* number of each kind in the written table; 0 = not written yet */
};

static uint64_t hash_of(const struct kind *k)
{
    uint64_t words[sizeof *k / sizeof(uint64_t)], h = 0;
    memcpy(words, k, sizeof words);
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        h = mix(h ^ words[i]) + i;
    return h >> 1;
}

static uint32_t know_kind(struct ab_model_kinds *kinds, const struct kind *k)
{
    uint64_t *head = count_of(&kinds->by_hash, hash_of(k));
    for (uint64_t i = *head; i != 0; i = kinds->next[i - 1])
        if (memcmp(&kinds->items[i - 1], k, sizeof *k) == 0)
            return (uint32_t)i - 1;
    AB_GROW(kinds->items, kinds->cap, kinds->n);
    AB_GROW(kinds->next, kinds->cap_next, kinds->n);
    kinds->items[kinds->n] = *k;
    kinds->next[kinds->n] = (uint32_t)*head;
    *head = ++kinds->n;
    return (uint32_t)kinds->n - 1;
}

/* ---- the passes over the trace ---- */

/* all blocks that are allocated in one part and end in a certain later part */
struct ab_model_group {
    uint64_t last; /* number + 1 of the block that ended last; 0 = none */
    /* number of blocks that were allocated later (n_later) or earlier (n_earlier) than the block
     * that ended just before them */
    uint32_t n_later, n_earlier;
    uint32_t from, to; /* range in which the blocks end, in calls from the beginning of the part */
};

struct living {
    /* born, last_resize: calls in which it was allocated and last resized; number: number of its
     * allocation */
    uint64_t born, number, last_resize;
    uint64_t size, last_size, align;
    uint32_t resizes;
    uint16_t lane;
    bool is_zeroed, is_live;
};

struct pass {
    struct ab_trace_model *m;
    bool is_first, has_exact_sizes;
    struct living *slots;
    size_t cap_slots, n_slots;
    uint16_t *lane_of; /* for each thread: its lane + 1; 0 = none */
    size_t cap_lane_of;
    bool is_taken[AB_LANES_MAX];
    uint32_t part; /* part in which the last call was */
};

static enum ab_status find_lane(struct pass *p, uint32_t thread, uint16_t *out, struct ab_err *err)
{
    uint16_t lane = 0;
    AB_GROW_ZEROED(p->lane_of, p->cap_lane_of, thread);
    if (p->lane_of[thread] == 0) {
        while (lane < AB_LANES_MAX && p->is_taken[lane])
            lane++;
        if (lane == AB_LANES_MAX)
            return ab_fail(
                err, AB_USAGE,
                "more than %d threads at the same time, which a workload has no lanes for",
                AB_LANES_MAX);
        p->is_taken[lane] = true;
        p->lane_of[thread] = (uint16_t)(lane + 1);
        if (lane >= p->m->n_lanes)
            p->m->n_lanes = lane + 1u;
    }
    *out = (uint16_t)(p->lane_of[thread] - 1);
    return AB_OK;
}

static void end_thread(struct pass *p, uint32_t thread)
{
    if (thread < p->cap_lane_of && p->lane_of[thread] != 0)
        p->is_taken[p->lane_of[thread] - 1] = false;
}

static uint32_t part_of(const struct ab_trace_model *m, uint64_t call)
{
    uint64_t part = call / m->part_calls;
    return part < m->n_parts ? (uint32_t)part : m->n_parts - 1;
}

static uint64_t size_of(const struct pass *p, uint64_t size)
{
    return p->has_exact_sizes || size <= EXACT_SIZE_TO ? size : round_to_bits(size, SIZE_BITS);
}

/* Returns the part of a block's life during which it is resized, in percent and rounded to tens.
 * Assumes that n resizes divide this part into n + 1 equal steps. */
static uint8_t grown_of(const struct living *x, uint64_t life)
{
    double last = (double)(x->last_resize - x->born) / (double)(life > 0 ? life : 1);
    double percent = 100 * last * (x->resizes + 1) / x->resizes;
    return (uint8_t)(percent < 95 ? (unsigned)(percent / 10 + 0.5) * 10 : 100);
}

/* Notes the end of a block that ended in a later part, to find out the order in which the blocks of
 * its group end. */
static void note_end(struct ab_trace_model *m, const struct living *x, uint64_t call)
{
    uint32_t died = part_of(m, call), place = (uint32_t)(call - died * m->part_calls);
    struct ab_model_group *g = &m->groups[(size_t)part_of(m, x->born) * m->n_parts + died];
    if (g->last == 0) {
        g->from = place;
    } else {
        g->n_later += x->number + 1 > g->last;
        g->n_earlier += x->number + 1 < g->last;
    }
    g->to = place + 1;
    g->last = x->number + 1;
}

/* Determines the kind of a block that ends at `call`; UINT64_MAX = it is never freed. `lane` is the
 * lane that frees it. */
static void end_block(struct pass *p, const struct living *x, uint64_t call, uint16_t lane)
{
    struct ab_trace_model *m = p->m;
    struct kind k;
    memset(&k, 0, sizeof k); /* padding must be 0, because kinds are compared as bytes */
    k.size = size_of(p, x->size);
    k.align = x->align;
    k.is_zeroed = x->is_zeroed;
    k.lane = x->lane;
    uint64_t life = call - x->born;
    if (call != UINT64_MAX) {
        uint32_t born = part_of(m, x->born), died = part_of(m, call);
        bool is_long = died != born && life >= m->part_calls / 8;
        k.freed_by = lane;
        k.ends = is_long ? AB_ENDS_RANDOM : AB_ENDS_CALLS;
        k.life = is_long ? died - born : round_to_bits(life - 1, LIFE_BITS);
        if (is_long)
            note_end(m, x, call);
    }
    if (x->resizes > 0) {
        k.resizes = (uint32_t)round_to_bits(x->resizes, LIFE_BITS);
        k.last_size = size_of(p, x->last_size > 0 ? x->last_size : 1);
        k.grown = grown_of(x, call != UINT64_MAX ? life : m->part_calls);
    }
    *number_at(m->kind_of, x->number, true) = know_kind(m->kinds, &k);
}

static void begin_block(struct pass *p, const struct ab_event *e, uint64_t call, uint16_t lane)
{
    struct ab_trace_model *m = p->m;
    AB_GROW_ZEROED(p->slots, p->cap_slots, e->slot);
    p->n_slots = e->slot >= p->n_slots ? e->slot + 1 : p->n_slots;
    for (uint32_t part = part_of(m, call); p->part < part;)
        m->first[++p->part] = m->n_allocs;
    p->slots[e->slot] = (struct living){.born = call,
                                        .number = m->n_allocs++,
                                        .size = e->size,
                                        .last_size = e->size,
                                        .align = e->kind == AB_EVENT_ALLOC_ALIGNED ? e->align : 0,
                                        .is_zeroed = e->kind == AB_EVENT_ALLOC_ZEROED,
                                        .lane = lane,
                                        .is_live = true};
}

static void take_call(struct pass *p, const struct ab_event *e, uint64_t call, uint16_t lane)
{
    struct living *x = e->slot < p->cap_slots ? &p->slots[e->slot] : NULL;
    if (e->kind <= AB_EVENT_ALLOC_ALIGNED) {
        begin_block(p, e, call, lane);
    } else if (e->kind == AB_EVENT_FREE || e->released) {
        end_block(p, x, call, lane);
        x->is_live = false;
    } else {
        x->resizes++;
        x->last_size = e->size;
        x->last_resize = call;
    }
}

static enum ab_status take_event(struct pass *p, const struct ab_event *e, uint64_t call,
                                 struct ab_err *err)
{
    uint16_t lane = 0;
    if (e->kind == AB_EVENT_THREAD_END) {
        end_thread(p, e->thread);
        return AB_OK;
    }
    if (e->failed)
        return AB_OK;
    AB_TRY(find_lane(p, e->thread, &lane, err));
    if (!p->is_first) {
        take_call(p, e, call, lane);
        return AB_OK;
    }
    p->m->n_allocs += e->kind <= AB_EVENT_ALLOC_ALIGNED;
    if (e->kind != AB_EVENT_FREE && !e->released)
        ++*count_of(p->m->sizes, e->size);
    return AB_OK;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct pass *p = user;
    uint64_t call = batch->first;
    for (size_t i = 0; i < batch->n; i++) {
        AB_TRY(take_event(p, &batch->events[i], call, err));
        call += batch->events[i].kind != AB_EVENT_THREAD_END;
    }
    return AB_OK;
}

static enum ab_status run_pass(struct pass *p, const struct ab_walk *given,
                               struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_walk walk = *given;
    walk.has_thread_ends = true;
    walk.begin = walk.end = 0;
    walk.visit = visit;
    walk.user = p;
    enum ab_status status = ab_trace_walk(&walk, info, err);
    for (size_t i = 0; i < p->n_slots && status == AB_OK; i++)
        if (p->slots[i].is_live)
            end_block(p, &p->slots[i], UINT64_MAX, 0);
    free(p->slots);
    free(p->lane_of);
    return status;
}

static enum ab_status make(struct ab_trace_model *m, const struct ab_walk *walk, struct ab_err *err)
{
    struct pass first = {.m = m, .is_first = true}, second = {.m = m};
    struct ab_trace_info info;
    m->sizes = ab_alloc_zeroed(1, sizeof *m->sizes);
    m->played = ab_alloc_zeroed(1, sizeof *m->played);
    m->kinds = ab_alloc_zeroed(1, sizeof *m->kinds);
    AB_TRY(run_pass(&first, walk, &info, err));
    if (m->n_allocs == 0 || m->n_allocs >= UINT32_MAX)
        return ab_fail(err, AB_USAGE,
                       m->n_allocs == 0 ? "the trace has no allocations"
                                        : "the trace has more allocations than a workload can");
    m->n_calls = info.events;
    m->live_peak_bytes = info.live_peak_bytes;
    m->part_calls = (info.events + m->n_parts - 1) / m->n_parts;
    AB_TRY(number_file_open(&m->kind_of, err));
    m->groups = ab_alloc_zeroed((size_t)m->n_parts * m->n_parts, sizeof m->groups[0]);
    m->first = ab_alloc_zeroed(m->n_parts + 1u, sizeof m->first[0]);
    m->n_allocs = 0;
    second.has_exact_sizes = m->sizes->n <= EXACT_SIZES;
    AB_TRY(run_pass(&second, walk, NULL, err));
    while (second.part < m->n_parts)
        m->first[++second.part] = m->n_allocs;
    return number_file_check(m->kind_of, err);
}

enum ab_status ab_trace_model_make(const struct ab_walk *walk, uint32_t n_parts,
                                   struct ab_trace_model *out, struct ab_err *err)
{
    *out = (struct ab_trace_model){.n_parts = n_parts};
    enum ab_status status = make(out, walk, err);
    if (status != AB_OK)
        ab_trace_model_fini(out);
    return status;
}

void ab_trace_model_fini(struct ab_trace_model *m)
{
    if (m->sizes != NULL)
        free(m->sizes->items);
    if (m->played != NULL)
        free(m->played->items);
    if (m->kinds != NULL) {
        free(m->kinds->items);
        free(m->kinds->next);
        free(m->kinds->by_hash.items);
        free(m->kinds->number);
    }
    free(m->sizes);
    free(m->played);
    free(m->kinds);
    free(m->groups);
    number_file_close(m->kind_of);
    free(m->first);
    *m = (struct ab_trace_model){0};
}

/* ---- the tables ---- */

/* Returns the order in which the blocks of a group end: fifo or lifo if more than three quarters of
 * them keep it, otherwise random. */
static uint8_t order_of(const struct ab_model_group *g)
{
    uint32_t n = g->n_later + g->n_earlier;
    return 4 * (uint64_t)g->n_later > 3 * (uint64_t)n     ? AB_ENDS_FIFO
           : 4 * (uint64_t)g->n_earlier > 3 * (uint64_t)n ? AB_ENDS_LIFO
                                                          : AB_ENDS_RANDOM;
}

static uint32_t settled_kind(struct ab_trace_model *m, uint32_t part, uint64_t number)
{
    uint32_t kind = *number_at(m->kind_of, number, false);
    struct kind k = m->kinds->items[kind];
    if (k.ends != AB_ENDS_RANDOM)
        return kind;
    const struct ab_model_group *g = &m->groups[(size_t)part * m->n_parts + part + k.life];
    k.ends = order_of(g);
    k.from = (uint8_t)(g->from * UINT64_C(20) / m->part_calls * 5);
    k.to = (uint8_t)((g->to * UINT64_C(20) + m->part_calls - 1) / m->part_calls * 5);
    return know_kind(m->kinds, &k);
}

/* Returns the number of a kind in the table of blocks. Writes the kind to `blocks` when it is first
 * used. */
static uint32_t written_kind(struct ab_trace_model *m, uint32_t kind, FILE *blocks)
{
    const struct kind *k = &m->kinds->items[kind];
    if (m->kinds->number[kind] != 0)
        return m->kinds->number[kind];
    fprintf(blocks, "%llu,%llu,%u,%u,%u,%u,%llu,%u,%s,%llu,%u,%u\n", (unsigned long long)k->size,
            (unsigned long long)k->align, k->is_zeroed, k->lane, k->freed_by, k->resizes,
            (unsigned long long)k->last_size, k->grown, ab_block_end_words[k->ends],
            (unsigned long long)k->life, k->from, k->to);
    return m->kinds->number[kind] = (uint32_t)++m->n_kinds;
}

/* how often a block of kind `kind` was allocated in state `state`, and the state after it */
struct step {
    uint32_t state, kind, next;
    uint64_t n;
};

static int by_step(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return x->state != y->state ? AB_COMPARE(x->state, y->state) : AB_COMPARE(x->kind, y->kind);
}

struct steps {
    struct step *items;
    size_t n, cap;
    struct ab_size_counts places; /* index in items + 1, by state and kind */
};

static void count_step(struct steps *steps, uint32_t state, uint32_t kind, uint32_t next)
{
    uint64_t *place = count_of(&steps->places, (uint64_t)state << 32 | kind);
    if (*place == 0) {
        AB_GROW(steps->items, steps->cap, steps->n);
        steps->items[steps->n] = (struct step){state, kind, next, 0};
        *place = ++steps->n;
    }
    steps->items[*place - 1].n++;
}

/* Returns the number of the state that consists of the last CONTEXT kinds. States are numbered from
 * 0 in the order in which they are first used. */
static uint32_t find_state(struct ab_size_counts *states, const uint32_t last[CONTEXT])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < CONTEXT; i++)
        hash = mix(hash ^ last[i]) + i;
    uint64_t *number = count_of(states, hash >> 1);
    if (*number == 0)
        *number = states->n;
    return (uint32_t)*number - 1;
}

static void write_part(struct ab_trace_model *m, uint32_t part, FILE *blocks, FILE *sequence)
{
    struct steps steps = {0};
    struct ab_size_counts states = {0};
    uint32_t last[CONTEXT] = {0};
    for (uint64_t i = m->first[part]; i < m->first[part + 1]; i++) {
        uint32_t kind = written_kind(m, settled_kind(m, part, i), blocks);
        uint32_t state = find_state(&states, last);
        memmove(last + 1, last, sizeof last - sizeof last[0]);
        last[0] = kind;
        count_step(&steps, state, kind, find_state(&states, last));
    }
    if (steps.n > 0)
        qsort(steps.items, steps.n, sizeof steps.items[0], by_step);
    for (size_t i = 0; i < steps.n; i++)
        fprintf(sequence, "%u,%u,%u,%u,%llu\n", part, steps.items[i].state, steps.items[i].kind,
                steps.items[i].next, (unsigned long long)steps.items[i].n);
    m->n_rows += steps.n;
    free(states.items);
    free(steps.items);
    free(steps.places.items);
}

enum ab_status ab_trace_model_write(struct ab_trace_model *m, FILE *blocks, FILE *sequence,
                                    struct ab_err *err)
{
    m->n_kinds = m->n_rows = 0;
    /* first pass: adds all final kinds, so that their number is known */
    for (uint32_t part = 0; part < m->n_parts; part++)
        for (uint64_t i = m->first[part]; i < m->first[part + 1]; i++)
            settled_kind(m, part, i);
    AB_TRY(number_file_check(m->kind_of, err));
    free(m->kinds->number);
    m->kinds->number = ab_alloc_zeroed(m->kinds->n + 1, sizeof m->kinds->number[0]);
    fputs(AB_MODEL_BLOCKS_HEAD "\n", blocks);
    fputs(AB_MODEL_SEQUENCE_HEAD "\n", sequence);
    for (uint32_t part = 0; part < m->n_parts; part++)
        write_part(m, part, blocks, sequence);
    return number_file_check(m->kind_of, err);
}

/* ---- distance to the original ---- */

static int by_key(const void *a, const void *b)
{
    const struct ab_size_count *x = a, *y = b;
    return AB_COMPARE(x->key, y->key);
}

/* Returns a copy of the sizes and their counts, sorted by size. Sets *n to the number of sizes and
 * *sum to the sum of the counts. */
static struct ab_size_count *sorted(const struct ab_size_counts *c, size_t *n, uint64_t *sum)
{
    struct ab_size_count *out = ab_alloc((c->n + 1) * sizeof out[0]);
    *n = *sum = 0;
    for (size_t i = 0; i < c->cap; i++)
        if (c->items[i].key != UINT64_MAX) {
            *sum += c->items[i].value;
            out[(*n)++] = c->items[i];
        }
    qsort(out, *n, sizeof out[0], by_key);
    return out;
}

static double kolmogorov(const struct ab_size_counts *a, const struct ab_size_counts *b)
{
    size_t n[2], at[2] = {0, 0};
    uint64_t sum[2], seen[2] = {0, 0};
    double most = 0;
    struct ab_size_count *lists[2] = {sorted(a, &n[0], &sum[0]), sorted(b, &n[1], &sum[1])};
    while (at[0] < n[0] && at[1] < n[1]) {
        uint64_t x = lists[0][at[0]].key, y = lists[1][at[1]].key, size = x < y ? x : y;
        for (size_t k = 0; k < 2; k++)
            if (lists[k][at[k]].key == size)
                seen[k] += lists[k][at[k]++].value;
        double d = (double)seen[0] / (double)sum[0] - (double)seen[1] / (double)sum[1];
        most = d > most ? d : -d > most ? -d : most;
    }
    free(lists[0]);
    free(lists[1]);
    return most;
}

void ab_trace_model_take(struct ab_trace_model *m, const struct ab_tape *burst)
{
    for (uint32_t i = 0; i < burst->n_ops; i++) {
        struct ab_op_view op = ab_op_decode(burst->ops[i], burst->wide);
        if (op.kind == AB_OP_ALLOC || op.kind == AB_OP_ALLOC_ZEROED ||
            op.kind == AB_OP_ALLOC_ALIGNED || op.kind == AB_OP_RESIZE)
            ++*count_of(m->played, op.size);
    }
}

void ab_trace_model_compare(const struct ab_trace_model *m, const struct ab_tape *total,
                            struct ab_model_distance *out)
{
    *out = (struct ab_model_distance){.calls = ab_tape_ops(total),
                                      .live_peak_bytes = total->facts.live_peak_bytes,
                                      .sizes = kolmogorov(m->sizes, m->played)};
}
