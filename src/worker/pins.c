/* SPDX-License-Identifier: MIT
 *
 * Memory by owner. Blocks are put into lists, one for each stretch of 2 MiB. The blocks of each
 * stretch are then sorted by address and compared, page by page, with the page tables.
 */
#include "worker/pins.h"

#include "wire/pins_report.h"
#include "worker/memory_pass.h"
#include "worker/sort.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* BUFFERED: entries of the owners file read at once. The table of stretches has SLOTS_PER_STRETCH
 * slots for each stretch that the live peak fills, because blocks may be scattered. */
enum {
    BUFFERED = 1 << 14,
    STRETCHES_LEAST = 1 << 11,
    STRETCHES_MOST = 1 << 18,
    SLOTS_PER_STRETCH = 8
};
/* addresses from here on are invalid, and so are blocks larger than BLOCK_BYTES_MAX */
#define ADDRESS_TOP (UINT64_C(1) << 56)
#define BLOCK_BYTES_MAX (UINT64_C(1) << 40)
#define STRETCH_BYTES (UINT64_C(1) << AB_STRETCH_LOG2)
#define OWNERS_MOST (UINT32_C(1) << 24)

struct stretch {
    uint64_t number;          /* stretch number + 1; 0 = empty */
    uint32_t first, reserved; /* node + 1 */
    /* for each page, the owner + 1 of the block that was freed last on it; 0 = none */
    uint32_t last[AB_RESIDENCY_PAGES_MAX];
};

struct node { /* entry of a stretch's list of blocks */
    uint32_t slot, next;
};

struct sum { /* sums of one owner, or of one call stack */
    struct ab_pins_row row;
    uint64_t page;    /* stamp of the page that was counted last in row.pages */
    uint64_t stamp;   /* stamp of the page that on_page belongs to */
    uint64_t on_page; /* usable bytes on this page */
    uint64_t stretch; /* number + 1 of the stretch that on_stretch belongs to */
    uint64_t on_stretch;
    uint32_t row_number; /* index of the owner's row in the state + 1; 0 = it has no row */
};

struct ab_pins {
    struct ab_pins_report *report;
    const struct ab_memory_marks *marks;
    const struct ab_block_book *book;
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    /* owner of each slot's block (its stack, if there are stacks), and position at which the block
     * was allocated */
    uint32_t *owners, *births;
    struct stretch *table, *recent;
    uint64_t cap_stretches, n_stretches;
    struct node *nodes;
    uint32_t n_nodes, cap_nodes;
    uint64_t *sorted; /* room to sort one number for each slot */
    uint32_t n_sums;
    /* one for each stack; the same as `owner_sums` if there are no stacks */
    struct sum *sums;
    struct sum *owner_sums;                 /* one for each owner */
    uint32_t *owner_of_stack;               /* owner of each stack; NULL = no stacks */
    uint32_t *page_owners;                  /* owners of blocks on the current page … */
    uint32_t *stretch_owners, n_in_stretch; /* … and of blocks in the current stretch */
    /* keys to sort: one for each owner, or for each byte of a page */
    uint64_t *keys;
    uint64_t stamp;
    uint32_t *buffer; /* part of the owners file that was read last */
    uint32_t n_buffered, at;
    uint64_t file_at;
    struct ab_pins_state *scratch;
    uint32_t n_asked;
    /* positions of the peaks so far; AB_MEMORY_NEVER = none yet */
    uint32_t resident_peak, live_peak;
    uint64_t resident_bytes, resident_requested, live_bytes, external_bytes;
};

/* ---- memory ---- */

static void *map(struct ab_worker *w, size_t bytes)
{
    return ab_worker_map(w, bytes, "tables of the owners of blocks");
}

static uint64_t count_stretches(uint64_t live_peak_bytes)
{
    uint64_t n = STRETCHES_LEAST;
    while (n < STRETCHES_MOST && n < (live_peak_bytes >> AB_STRETCH_LOG2) * SLOTS_PER_STRETCH)
        n *= 2;
    return n;
}

/* Maps the tables of sums. If blocks belong to stacks, reads the owner of each stack from the
 * owners file. */
static void open_sums(struct ab_worker *w, struct ab_pins *p)
{
    const struct ab_pins_report *r = p->report;
    size_t bytes = r->n_stacks * sizeof p->owner_of_stack[0];
    p->owner_sums = map(w, (size_t)r->n_owners * sizeof p->owner_sums[0]);
    p->sums = p->owner_sums;
    p->n_sums = r->n_owners;
    if (r->n_stacks == 0)
        return;
    p->n_sums = r->n_stacks > r->n_owners ? r->n_stacks : r->n_owners;
    p->sums = map(w, (size_t)p->n_sums * sizeof p->sums[0]);
    p->owner_of_stack = map(w, (size_t)p->n_sums * sizeof p->owner_of_stack[0]);
    if (pread(AB_WORKER_FD_OWNERS, p->owner_of_stack, bytes, (off_t)r->map_at) != (ssize_t)bytes)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "the file of the owners of blocks is too short", NULL);
    for (uint32_t i = 0; i < r->n_stacks; i++)
        if (p->owner_of_stack[i] >= r->n_owners)
            p->owner_of_stack[i] = 0;
}

void ab_pins_open(struct ab_worker *w, struct ab_memory_pass *m)
{
    const struct ab_run_request *request = &w->page->request;
    if (request->pins_offset == 0)
        return;
    struct ab_pins *p = map(w, sizeof *p);
    size_t n_slots = (size_t)m->book.n_slots + 1;
    size_t page = (size_t)1 << m->residency.page_log2;
    p->report = (struct ab_pins_report *)(void *)((char *)w->page + request->pins_offset);
    memset(&p->report->is_lost, 0, sizeof *p->report - offsetof(struct ab_pins_report, is_lost));
    if (p->report->n_owners > OWNERS_MOST || p->report->n_stacks > OWNERS_MOST)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "more owners of blocks than there is room for", NULL);
    p->n_asked = p->report->n_asked < AB_PINS_ASKED_MOST ? p->report->n_asked : AB_PINS_ASKED_MOST;
    p->marks = &m->report->marks;
    p->book = &m->book;
    p->residency = &m->residency;
    p->baseline = &m->baseline;
    p->owners = map(w, n_slots * sizeof p->owners[0]);
    p->births = map(w, n_slots * sizeof p->births[0]);
    p->cap_stretches = count_stretches(w->image->facts.live_peak_bytes);
    p->table = p->recent = map(w, p->cap_stretches * sizeof p->table[0]);
    p->cap_nodes = (uint32_t)(n_slots + 4 * (w->image->facts.live_peak_bytes >> AB_STRETCH_LOG2) +
                              (1 << 16));
    p->nodes = map(w, p->cap_nodes * sizeof p->nodes[0]);
    p->sorted = map(w, n_slots * sizeof p->sorted[0]);
    open_sums(w, p);
    p->page_owners = map(w, page * sizeof p->page_owners[0]);
    p->stretch_owners = map(w, (size_t)p->n_sums * sizeof p->stretch_owners[0]);
    p->keys = map(w, (page > p->n_sums ? page : p->n_sums) * sizeof p->keys[0]);
    p->buffer = map(w, BUFFERED * sizeof p->buffer[0]);
    p->scratch = map(w, sizeof *p->scratch);
    p->resident_peak = p->live_peak = AB_MEMORY_NEVER;
    for (unsigned i = 0; i < AB_PINS_STATES_MOST; i++)
        p->report->states[i].position = AB_MEMORY_NEVER;
    p->report->n_states = AB_PINS_END;
    p->report->seen_worst = AB_MEMORY_NEVER;
    m->book.pins = p;
}

/* ---- each block ---- */

static struct sum *owner_sum(const struct ab_pins *p, uint32_t owner)
{
    return &p->owner_sums[p->owner_of_stack != NULL ? p->owner_of_stack[owner] : owner];
}

static uint32_t read_owner(struct ab_pins *p)
{
    if (p->at == p->n_buffered) {
        ssize_t n = pread(AB_WORKER_FD_OWNERS, p->buffer, BUFFERED * sizeof p->buffer[0],
                          (off_t)p->file_at);
        if (n < (ssize_t)sizeof p->buffer[0]) {
            p->report->is_lost = 1;
            return 0;
        }
        p->n_buffered = (uint32_t)((size_t)n / sizeof p->buffer[0]);
        p->file_at += p->n_buffered * sizeof p->buffer[0];
        p->at = 0;
    }
    return p->buffer[p->at++];
}

void ab_pins_take(struct ab_pins *p, uint32_t slot, const struct ab_given *given, uint32_t position)
{
    uint32_t owner = p->report->by == AB_PINS_BY_SIZE ? ab_size_class_log2(given->size)
                                                      : read_owner(p);
    if (given->at == 0)
        return; /* the request was refused; the owners file has an entry for it too */
    uint32_t end = p->owner_of_stack != NULL ? p->report->n_stacks : p->report->n_owners;
    p->owners[slot] = owner < end ? owner : 0;
    p->births[slot] = position;
}

/* Returns the entry of a stretch, adding it if needed; NULL = the table is full. */
static struct stretch *find(struct ab_pins *p, uint64_t number)
{
    struct stretch *s = p->recent;
    if (s->number != number + 1)
        s = ab_stretch_find(p->table, sizeof *s, p->cap_stretches, &p->n_stretches, number);
    return s != NULL ? p->recent = s : NULL;
}

static uint64_t bytes_of(const struct ab_block_entry *e)
{
    uint64_t bytes = e->usable > e->size ? e->usable : e->size;
    return e->at >= ADDRESS_TOP || bytes > BLOCK_BYTES_MAX ? 0 : bytes;
}

void ab_pins_drop(struct ab_pins *p, uint32_t slot, const struct ab_block_entry *e)
{
    const unsigned log2 = p->residency->page_log2, per_stretch = AB_STRETCH_LOG2 - log2;
    const uint64_t mask = (UINT64_C(1) << per_stretch) - 1, bytes = bytes_of(e);
    if (bytes == 0)
        return;
    uint64_t page = e->at >> log2, last = (e->at + bytes - 1) >> log2;
    while (page <= last) {
        struct stretch *s = find(p, page >> per_stretch);
        if (s == NULL) {
            p->report->is_lost = 1;
            return;
        }
        do
            s->last[page & mask] = p->owners[slot] + 1;
        while (page++ < last && (page & mask) != 0);
    }
}

/* ---- the walk over all blocks ---- */

static bool link_block(struct ab_pins *p, uint32_t slot)
{
    const struct ab_block_entry *e = &p->book->entries[slot];
    uint64_t bytes = bytes_of(e);
    struct ab_pins_row *row = &owner_sum(p, p->owners[slot])->row;
    row->lane = row->blocks == 0 || row->lane == e->lane ? e->lane : AB_PINS_SEVERAL;
    row->blocks++;
    if (bytes == 0)
        return true;
    for (uint64_t n = e->at >> AB_STRETCH_LOG2; n <= (e->at + bytes - 1) >> AB_STRETCH_LOG2; n++) {
        struct stretch *s = find(p, n);
        if (s == NULL || p->n_nodes == p->cap_nodes)
            return false;
        p->nodes[p->n_nodes] = (struct node){slot, s->first};
        s->first = ++p->n_nodes;
    }
    return true;
}

static bool link_blocks(struct ab_pins *p)
{
    memset(p->owner_sums, 0, (size_t)p->report->n_owners * sizeof p->owner_sums[0]);
    memset(p->sums, 0, (size_t)p->n_sums * sizeof p->sums[0]);
    for (uint64_t i = 0; i < p->cap_stretches; i++)
        p->table[i].first = 0;
    p->n_nodes = 0;
    for (uint32_t slot = 0; slot < p->book->n_slots; slot++)
        if (p->book->entries[slot].is_live && !link_block(p, slot))
            return false;
    return true;
}

struct page { /* the current page of the walk */
    uint64_t number;
    uint64_t requested, usable; /* sums over all blocks on the page */
    /* number of owners of blocks on the page; they are in p->page_owners */
    uint32_t n_found;
    bool is_counted; /* True if the page is resident, and not in the baseline. */
};

/* A page or a stretch of 2 MiB. Its external bytes are shared out among the owners of its
 * blocks. */
struct shared_range {
    const uint32_t *owners;
    uint32_t n;
    uint64_t external, used; /* external and used bytes of the page or stretch */
    /* by: offset in struct sum of an owner's used bytes; to: offset of the sum that its share is
     * added to */
    size_t by, to;
};

static uint64_t *member(struct ab_pins *p, uint32_t owner, size_t offset)
{
    return (uint64_t *)(void *)((char *)&p->sums[owner] + offset);
}

/* Shares the external bytes out among the owners, in proportion to their used bytes. Shares are
 * whole bytes, by the largest remainder. */
static void share(struct ab_pins *p, const struct shared_range *x)
{
    uint64_t left = x->external;
    for (uint32_t i = 0; i < x->n; i++) {
        uint64_t product = x->external * *member(p, x->owners[i], x->by);
        *member(p, x->owners[i], x->to) += product / x->used;
        left -= product / x->used;
        p->keys[i] = (x->used - product % x->used) << 32 | x->owners[i];
    }
    if (left > 0)
        ab_sort_ascending(p->keys, x->n);
    for (uint64_t i = 0; i < left; i++)
        ++*member(p, (uint32_t)p->keys[i], x->to);
}

/* Shares out the external bytes of a page. Returns false if its blocks have more bytes than the
 * page. */
static bool end_page(struct ab_pins *p, struct page *page, struct ab_pins_state *out)
{
    const uint64_t bytes = UINT64_C(1) << p->residency->page_log2;
    if (page->usable == 0 || !page->is_counted)
        return true;
    if (page->usable > bytes)
        return false;
    const struct shared_range range = {p->page_owners,
                                       page->n_found,
                                       bytes - page->usable,
                                       page->usable,
                                       offsetof(struct sum, on_page),
                                       offsetof(struct sum, row.external)};
    share(p, &range);
    out->live += page->requested;
    out->internal += page->usable - page->requested;
    out->external += bytes - page->usable;
    return true;
}

static void begin_page(struct ab_pins *p, struct page *page, uint64_t number, const bool *is_there,
                       uint64_t mask)
{
    *page = (struct page){.number = number,
                          .is_counted = is_there[number & mask] &&
                                        !ab_page_runs_have(p->baseline, number)};
    p->stamp++;
}

static void add_part(struct ab_pins *p, struct page *page, uint32_t owner, uint64_t requested,
                     uint64_t usable)
{
    struct sum *sum = &p->sums[owner];
    page->requested += requested;
    page->usable += usable;
    if (!page->is_counted || page->usable > UINT64_C(1) << p->residency->page_log2)
        return;
    if (sum->stamp != p->stamp) {
        sum->stamp = p->stamp;
        sum->on_page = 0;
        p->page_owners[page->n_found++] = owner;
    }
    struct sum *owner_total = owner_sum(p, owner);
    owner_total->row.pages += owner_total->page != p->stamp;
    owner_total->page = p->stamp;
    const uint64_t stretch = (page->number << p->residency->page_log2 >> AB_STRETCH_LOG2) + 1;
    if (sum->stretch != stretch) {
        sum->stretch = stretch;
        sum->on_stretch = 0;
        p->stretch_owners[p->n_in_stretch++] = owner;
    }
    sum->on_page += usable;
    sum->on_stretch += usable;
    sum->row.live += requested;
    sum->row.internal += usable - requested;
}

static uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
    uint64_t begin = a > b ? a : b, end = a_end < b_end ? a_end : b_end;
    return begin < end ? end - begin : 0;
}

/* Adds the part of a block that lies in the stretch to the sums, page by page. */
static bool take_block(struct ab_pins *p, const struct stretch *s, uint32_t slot,
                       const bool *is_there, struct page *page, struct ab_pins_state *out)
{
    const struct ab_block_entry *e = &p->book->entries[slot];
    const unsigned log2 = p->residency->page_log2;
    const uint64_t mask = (UINT64_C(1) << (AB_STRETCH_LOG2 - log2)) - 1;
    const uint64_t base = (s->number - 1) << AB_STRETCH_LOG2, top = base + STRETCH_BYTES;
    const uint64_t end = e->at + bytes_of(e), stop = end < top ? end : top;
    for (uint64_t at = e->at > base ? e->at : base; at < stop;) {
        uint64_t number = at >> log2, from = number << log2, to = (number + 1) << log2;
        if (page->number != number) {
            if (!end_page(p, page, out))
                return false;
            begin_page(p, page, number, is_there, mask);
        }
        add_part(p, page, p->owners[slot], overlap(e->at, e->at + e->size, from, to),
                 overlap(e->at, end, from, to));
        at = to;
    }
    return true;
}

/* Shares out the external bytes of a stretch of 2 MiB. The blocks on its counted pages prevent the
 * stretch from becoming a huge page, or from being given back as one. */
static void share_stretch(struct ab_pins *p, uint64_t used, struct ab_pins_state *out)
{
    if (used == 0)
        return;
    const struct shared_range range = {p->stretch_owners,
                                       p->n_in_stretch,
                                       STRETCH_BYTES - used,
                                       used,
                                       offsetof(struct sum, on_stretch),
                                       offsetof(struct sum, row.external_2m)};
    share(p, &range);
    out->external_2m += STRETCH_BYTES - used;
}

/* Adds the resident pages without a live block to the retained bytes of the owner whose block was
 * freed last there. */
static void take_empty_pages(struct ab_pins *p, const struct stretch *s, const bool *is_there,
                             const uint64_t *has_block)
{
    const unsigned log2 = p->residency->page_log2;
    const uint32_t n = UINT32_C(1) << (AB_STRETCH_LOG2 - log2);
    const uint64_t first = (s->number - 1) << (AB_STRETCH_LOG2 - log2);
    for (uint32_t i = 0; i < n; i++)
        if (is_there[i] && s->last[i] != 0 && (has_block[i >> 6] >> (i & 63) & 1) == 0 &&
            !ab_page_runs_have(p->baseline, first + i))
            p->sums[s->last[i] - 1].row.retained += UINT64_C(1) << log2;
}

static void note_pages(const struct ab_pins *p, const struct stretch *s, uint32_t slot,
                       uint64_t *has_block)
{
    const struct ab_block_entry *e = &p->book->entries[slot];
    const unsigned log2 = p->residency->page_log2;
    const uint64_t base = (s->number - 1) << AB_STRETCH_LOG2, end = e->at + bytes_of(e);
    uint64_t from = e->at > base ? e->at - base : 0;
    uint64_t to = end - base < STRETCH_BYTES ? end - base : STRETCH_BYTES;
    for (uint64_t page = from >> log2; page <= (to - 1) >> log2; page++)
        has_block[page >> 6] |= UINT64_C(1) << (page & 63);
}

static bool take_stretch(struct ab_pins *p, const struct stretch *s, struct ab_pins_state *out)
{
    bool is_there[AB_RESIDENCY_PAGES_MAX];
    uint64_t has_block[AB_RESIDENCY_PAGES_MAX / 64] = {0};
    const unsigned log2 = AB_STRETCH_LOG2 - p->residency->page_log2;
    const uint64_t base = (s->number - 1) << AB_STRETCH_LOG2;
    struct page page = {0};
    uint32_t n = 0;
    if (!ab_residency_read(p->residency, (s->number - 1) << log2, UINT32_C(1) << log2, is_there))
        return false;
    for (uint32_t i = s->first; i != 0; i = p->nodes[i - 1].next) {
        uint32_t slot = p->nodes[i - 1].slot;
        const struct ab_block_entry *e = &p->book->entries[slot];
        p->sorted[n++] = (e->at > base ? e->at - base : 0) << 32 | slot;
        note_pages(p, s, slot, has_block);
    }
    ab_sort_ascending(p->sorted, n);
    bool ok = true;
    const uint64_t before = out->live + out->internal;
    p->n_in_stretch = 0;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = take_block(p, s, (uint32_t)p->sorted[i], is_there, &page, out);
    ok = ok && end_page(p, &page, out);
    if (ok)
        share_stretch(p, out->live + out->internal - before, out);
    take_empty_pages(p, s, is_there, has_block);
    return ok;
}

/* ---- rows ---- */

/* Adds the sums of the stacks to those of their owners. Lanes, blocks and pages are counted by
 * owner already. */
static void gather(struct ab_pins *p)
{
    for (uint32_t i = 0; p->owner_of_stack != NULL && i < p->report->n_stacks; i++) {
        const struct ab_pins_row *from = &p->sums[i].row;
        struct ab_pins_row *to = &p->owner_sums[p->owner_of_stack[i]].row;
        to->live += from->live;
        to->internal += from->internal;
        to->external += from->external;
        to->external_2m += from->external_2m;
        to->retained += from->retained;
    }
}

/* Sorts the first n of `sums` by the bytes that `weigh` returns, most bytes first. Puts their
 * indices into p->keys; number_of() takes an index from a key. Omits sums with neither blocks nor
 * bytes. Returns the number of keys. */
static uint32_t sort_by_weight(struct ab_pins *p, const struct sum *sums, uint32_t n,
                               uint64_t weigh(const struct ab_pins_row *row))
{
    uint32_t n_keys = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t weight = weigh(&sums[i].row);
        weight = weight < BLOCK_BYTES_MAX - 1 ? weight : BLOCK_BYTES_MAX - 1;
        if (sums[i].row.blocks > 0 || weight > 0)
            p->keys[n_keys++] = (BLOCK_BYTES_MAX - 1 - weight) << 24 | i;
    }
    ab_sort_ascending(p->keys, n_keys);
    return n_keys;
}

static uint32_t number_of(uint64_t key)
{
    return (uint32_t)(key & (OWNERS_MOST - 1));
}

static uint64_t not_live(const struct ab_pins_row *row)
{
    return row->external + row->internal + row->retained;
}

static uint64_t external(const struct ab_pins_row *row)
{
    return row->external;
}

static void keep_stacks(struct ab_pins *p)
{
    struct ab_pins_report *r = p->report;
    if (p->owner_of_stack == NULL)
        return;
    uint32_t n = sort_by_weight(p, p->sums, r->n_stacks, external);
    r->n_stack_rows = 0;
    for (uint32_t i = 0; i < n && i < AB_PINS_STACKS_MOST; i++) {
        uint32_t stack = number_of(p->keys[i]);
        r->stacks[r->n_stack_rows++] = (struct ab_pins_stack){
            .stack = stack, .external = p->sums[stack].row.external};
    }
}

/* Makes rows for the owners with the most bytes besides live ones; adds the other owners to
 * `rest`. */
static void choose_rows(struct ab_pins *p, struct ab_pins_state *out)
{
    uint32_t n = sort_by_weight(p, p->owner_sums, p->report->n_owners, not_live);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t owner = number_of(p->keys[i]);
        struct sum *sum = &p->owner_sums[owner];
        sum->row.owner = owner;
        if (i >= AB_PINS_ROWS_MOST) {
            ab_pins_row_add(&out->rest, &sum->row);
            continue;
        }
        sum->row_number = i + 1;
        out->rows[out->n_rows++] = sum->row;
    }
    out->rest.lane = AB_PINS_SEVERAL;
}

/* Computes a median for each row, over the live blocks of its owner. The values are 32-bit numbers;
 * they are sorted in `sorted`. */
static void take_medians(struct ab_pins *p, struct ab_pins_state *out, bool is_of_size)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < p->book->n_slots; slot++) {
        const struct ab_block_entry *e = &p->book->entries[slot];
        if (!e->is_live || owner_sum(p, p->owners[slot])->row_number == 0)
            continue;
        uint64_t size = e->size < UINT32_MAX ? e->size : UINT32_MAX;
        uint64_t value = is_of_size ? size : p->births[slot];
        p->sorted[n++] = (uint64_t)(owner_sum(p, p->owners[slot])->row_number - 1) << 32 | value;
    }
    ab_sort_ascending(p->sorted, n);
    for (uint32_t i = 0; i < n;) {
        struct ab_pins_row *row = &out->rows[p->sorted[i] >> 32];
        uint32_t value = (uint32_t)p->sorted[i + (row->blocks - 1) / 2];
        if (is_of_size)
            row->median_size = value;
        else
            row->median_birth = value;
        i += (uint32_t)row->blocks;
    }
}

/* Fills the scratch state: walks over all blocks and shares their pages out. Returns false if the
 * numbers cannot be right. */
static bool take_state(struct ab_memory_pass *m, struct ab_pins *p, const struct ab_memory_state *s)
{
    struct ab_pins_state *out = p->scratch;
    *out = (struct ab_pins_state){.phase = m->phase, .position = m->clock};
    out->footprint = m->report->granularity_pages > 0 ? ab_memory_footprint_exact(m)
                                                      : s->footprint_bytes;
    if (!link_blocks(p))
        return false;
    for (uint64_t i = 0; i < p->cap_stretches; i++)
        if (p->table[i].number != 0 && !take_stretch(p, &p->table[i], out))
            return false;
    gather(p);
    choose_rows(p, out);
    take_medians(p, out, true);
    take_medians(p, out, false);
    return true;
}

/* ---- moments ---- */

static void keep(struct ab_pins *p, uint32_t index, enum ab_pins_moment moment)
{
    p->report->states[index] = *p->scratch;
    p->report->states[index].moment = moment;
}

static void keep_next(struct ab_pins *p, enum ab_pins_moment moment)
{
    if (p->report->n_states < AB_PINS_STATES_MOST)
        keep(p, p->report->n_states++, moment);
}

/* True if this reading is a new peak of the footprint. As in memory.c, of equal footprints the one
 * with the most live bytes counts. */
static bool is_resident_peak(const struct ab_pins *p, const struct ab_memory_state *s)
{
    if (!s->is_checked || s->footprint_bytes == AB_MEMORY_UNKNOWN)
        return false;
    return p->resident_peak == AB_MEMORY_NEVER || s->footprint_bytes > p->resident_bytes ||
           (s->footprint_bytes == p->resident_bytes && s->requested_bytes > p->resident_requested);
}

static bool is_live_peak(const struct ab_memory_pass *m, const struct ab_pins *p,
                         const struct ab_memory_state *s)
{
    return m->clock == m->report->marks.live_peak[m->phase] &&
           (p->live_peak == AB_MEMORY_NEVER || s->requested_bytes > p->live_bytes);
}

/* True at the position of the most external bytes in the earlier run. Also true if this run's
 * external bytes come near those of the earlier run, and clearly exceed the highest so far. */
static bool is_worst(const struct ab_memory_pass *m, const struct ab_pins *p, uint64_t external)
{
    uint64_t mark = p->marks->worst_external_bytes;
    if (external == AB_MEMORY_UNKNOWN || p->marks->worst == AB_MEMORY_NEVER)
        return false;
    bool is_more = p->report->states[AB_PINS_WORST].position == AB_MEMORY_NEVER ||
                   external > p->external_bytes;
    return is_more &&
           (m->clock == p->marks->worst || (external >= mark - mark / 64 &&
                                            external > p->external_bytes + p->external_bytes / 64));
}

static bool is_asked(const struct ab_pins *p, uint32_t clock)
{
    for (uint32_t i = 0; i < p->n_asked; i++)
        if (p->report->asked[i] == clock)
            return true;
    return false;
}

bool ab_pins_is_wanted(const struct ab_pins *p, uint32_t clock)
{
    return clock == p->marks->worst || is_asked(p, clock);
}

uint32_t ab_pins_plan(const struct ab_pins *p, uint32_t clock, uint32_t next)
{
    if (p->marks->worst > clock && p->marks->worst < next)
        next = p->marks->worst;
    for (uint32_t i = 0; i < p->n_asked; i++)
        if (p->report->asked[i] > clock && p->report->asked[i] < next)
            next = p->report->asked[i];
    return next;
}

static void keep_moments(struct ab_memory_pass *m, struct ab_pins *p,
                         const struct ab_memory_state *s, const bool moments[])
{
    if (moments[AB_PINS_RESIDENT_PEAK]) {
        p->resident_peak = m->clock;
        p->resident_bytes = s->footprint_bytes;
        p->resident_requested = s->requested_bytes;
    }
    if (moments[AB_PINS_LIVE_PEAK]) {
        p->live_peak = m->clock;
        p->live_bytes = s->requested_bytes;
    }
    if (moments[AB_PINS_WORST]) {
        p->external_bytes = p->scratch->external;
        keep_stacks(p);
    }
    for (unsigned i = 0; i < AB_PINS_END; i++)
        if (moments[i])
            keep(p, i, (enum ab_pins_moment)i);
    for (uint32_t i = 0; moments[AB_PINS_ASKED] && i < p->n_asked; i++) {
        p->scratch->asked = i;
        if (p->report->asked[i] == m->clock)
            keep_next(p, AB_PINS_ASKED);
    }
    if (moments[AB_PINS_END])
        keep_next(p, AB_PINS_END);
}

static void note_worst(struct ab_memory_pass *m, struct ab_pins *p, uint64_t external)
{
    if (external == AB_MEMORY_UNKNOWN ||
        (p->report->seen_worst != AB_MEMORY_NEVER && external <= p->report->seen_external))
        return;
    p->report->seen_worst = m->clock;
    p->report->seen_external = external;
}

void ab_pins_visit(struct ab_memory_pass *m, const struct ab_memory_state *s,
                   const struct ab_page_split *split, bool is_end)
{
    struct ab_pins *p = m->book.pins;
    if (p == NULL || p->report->is_lost || !m->phases[m->phase].is_measured)
        return;
    note_worst(m, p, split->external);
    if (m->report->is_scout || (m->report->flags & (AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES)) != 0)
        return;
    const bool moments[AB_PINS_MOMENT_COUNT] = {
        [AB_PINS_RESIDENT_PEAK] = is_resident_peak(p, s),
        [AB_PINS_LIVE_PEAK] = is_live_peak(m, p, s),
        [AB_PINS_WORST] = is_worst(m, p, split->external),
        [AB_PINS_END] = is_end,
        [AB_PINS_ASKED] = is_asked(p, m->clock),
    };
    bool is_any = false;
    for (unsigned i = 0; i < AB_PINS_MOMENT_COUNT; i++)
        is_any = is_any || moments[i];
    if (!is_any)
        return;
    if (take_state(m, p, s))
        keep_moments(m, p, s, moments);
    else
        p->report->is_lost = 1;
}
