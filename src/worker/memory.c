/* SPDX-License-Identifier: MIT
 *
 * The memory pass: takes the baseline, notes each op, and decides when to read the footprint and
 * when to look at page tables.
 */
#include "worker/memory.h"

#include "base/bits.h"
#include "wire/memory_report.h"
#include "worker/aged_heap.h"
#include "worker/block_walk.h"
#include "worker/heap_memory.h"
#include "worker/memory_pass.h"
#include "worker/pins.h"
#include "worker/residency.h"
#include "worker/touch.h"

#include <string.h>

/* Pages of files (library code) that may still become resident on their own. More growth of file
 * mappings counts as the allocator's. */
enum { FILE_SLACK_BYTES = 16 << 20 };

/* Least size of a block whose resize is checked for memory that is resident only during the move.
 * The block must also be at least a 128th of the peak. Such a check takes as long as moving 64
 * KiB. */
enum { MOVED_BYTES = 64 << 10, MOVED_SHARE = 128 };
/* Number of footprint readings for each reading of the kernel's high-water mark. */
enum { READINGS_A_MARK = 16 };

/* Codes of ops that write to the block. */
enum {
    TOUCHING = 1 << AB_CODE_TOUCH | 1 << AB_CODE_ACCESS | 1 << (AB_CODE_TOUCHED | AB_CODE_ALLOC) |
               1 << (AB_CODE_TOUCHED | AB_CODE_ALLOC_ZEROED) |
               1 << (AB_CODE_TOUCHED | AB_CODE_ALLOC_ALIGNED) |
               1 << (AB_CODE_TOUCHED | AB_CODE_RESIZE)
};

/* ---- the pass's own memory, written before the baseline is taken ---- */

static void *map(struct ab_worker *w, size_t bytes)
{
    return ab_worker_map(w, bytes, "tables of the memory pass");
}

static void open_book(struct ab_worker *w, struct ab_memory_pass *m)
{
    m->book.n_slots = w->image->n_slots;
    m->book.entries = map(w, ((size_t)m->book.n_slots + ab_aged_heap_most_blocks(w) + 1) *
                                 sizeof m->book.entries[0]);
    /* a scout run looks at no pages */
    if (m->report->is_scout && w->page->request.pins_offset == 0)
        return;
    ab_page_walk_init(&m->walk, map(w, ab_page_walk_bytes()), &m->residency, &m->baseline);
    ab_page_ledger_open(&m->ledger, &m->residency, &m->baseline,
                        ab_aged_heap_facts(w)->live_peak_bytes);
}

static void open_report(struct ab_worker *w, struct ab_memory_pass *m)
{
    struct ab_memory_report *r = (struct ab_memory_report *)((char *)w->page +
                                                             w->page->request.memory_offset);
    m->report = r;
    r->n_rows = r->clock = 0;
    memset(r->phases, 0, sizeof r->phases); /* the parent's marks and request fields stay */
    memset(r->points, 0, sizeof r->points);
    memset(r->samples, 0, r->cap_samples * sizeof r->samples[0]);
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        r->drained_bytes[i] = AB_MEMORY_UNKNOWN;
    memset(r->heaps_drained_bytes, 0xff, sizeof r->heaps_drained_bytes); /* UNKNOWN */
    r->page_bytes = m->footprint.page_bytes;
    r->n_points = 0;
}

void ab_memory_open(struct ab_worker *w)
{
    if (w->page->request.pass != AB_PASS_MEMORY)
        return;
    struct ab_memory_pass *m = map(w, sizeof *m);
    w->memory = m;
    ab_footprint_open(&m->footprint);
    ab_residency_open(&m->residency);
    open_report(w, m);
    open_book(w, m);
    ab_pins_open(w, m);
    ab_heap_memory_open(w, m);
    m->time.n = w->image->n_steps;
    m->time.steps = ab_tape_steps(w->image);
    m->time.n_lanes = w->image->n_lanes;
    m->time.next_row_ns = m->report->spaced_ns;
    m->time.purge_ns = m->time.next_purge_ns = w->page->request.purge_ns;
    if (m->time.n > 0 && !m->report->is_scout && w->page->request.rows_offset != 0) {
        m->cap_rows = w->page->request.cap_rows;
        m->rows = (struct ab_memory_row *)(void *)((char *)w->page + w->page->request.rows_offset);
        memset(m->rows, 0, m->cap_rows * sizeof m->rows[0]);
    }
    m->point_interval = w->image->n_ops / (AB_MEMORY_POINTS_SPACED - 2) + 1;
    uint32_t granularity = ab_footprint_granularity(&m->footprint);
    if (granularity == UINT32_MAX)
        m->report->flags |= AB_MEMORY_UNREADABLE;
    else
        m->report->granularity_pages = granularity;
    uint64_t excess = ab_high_water_excess(&m->footprint);
    if (excess == UINT64_MAX)
        m->report->flags |= AB_MEMORY_NO_MARK;
    else
        m->report->mark_excess_bytes = excess;
}

/* ---- samples ----
 *
 * A sample is the contents of the pages, by the page ledger, at one of a thousand or more
 * positions of a phase. Each checkpoint verifies the ledger. */

/* Least number of footprint readings over the whole tape. */
enum { READINGS = 2000 };

static uint32_t at_least_1(uint32_t n)
{
    return n > 0 ? n : 1;
}

/* Plans the readings of the phase that begins. In a measured phase, the contents of the pages are
 * read 5 % more often than the least number of samples, because some readings lack a number. In
 * other phases, they are read only for the points of the time line. The footprint is read at each
 * of these readings. It is also read in between, so that the tape has at least READINGS in all. */
static void plan_readings(struct ab_memory_pass *m, uint32_t index)
{
    const struct ab_phase *phase = &m->phases[index];
    uint32_t of_tape = at_least_1(m->phases[m->n_phases - 1].end / READINGS);
    uint32_t of_phase = at_least_1((phase->end - phase->begin) /
                                   (AB_MEMORY_SAMPLES_LEAST * 21 / 20));
    uint32_t of_sample = phase->is_measured ? of_phase : m->point_interval;
    uint32_t n = (of_sample + of_tape - 1) / of_tape;
    m->interval = of_sample / n;
    m->sample_interval = m->interval * n;
    m->next_reading = (m->clock + m->interval - 1) / m->interval * m->interval;
    m->next_sample = (m->clock + m->sample_interval - 1) / m->sample_interval * m->sample_interval;
}

/* Starts keeping the page ledger, if blocks have addresses and the pages can be read. A scout run
 * keeps the ledger only if it must find the most external bytes. */
static void follow_pages(struct ab_memory_pass *m)
{
    const uint32_t unknown = AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES;
    if (m->ledger.pool != NULL && (m->report->flags & unknown) == 0)
        m->book.pages = &m->ledger;
    else if (!m->report->is_scout && m->ledger.pool == NULL)
        m->report->flags |= AB_MEMORY_NO_LEDGER;
}

static void begin_samples(struct ab_memory_pass *m)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    const struct ab_memory_phase *before = phase - 1;
    phase->first_sample = m->phase == 0 ? 0 : before->first_sample + before->n_samples;
    m->sampled_to = m->clock;
    m->grown_before = m->ledger.n_grown;
}

static void end_samples(struct ab_memory_pass *m)
{
    m->report->phases[m->phase].own_faults = m->ledger.n_grown - m->grown_before;
}

static void add_sample(struct ab_memory_pass *m, const struct ab_memory_state *s,
                       const struct ab_page_split *split)
{
    struct ab_memory_report *r = m->report;
    struct ab_memory_phase *phase = &r->phases[m->phase];
    uint64_t i = (uint64_t)phase->first_sample + phase->n_samples;
    if (!m->phases[m->phase].is_measured || m->clock == m->sampled_to || i >= r->cap_samples ||
        split->live == AB_MEMORY_UNKNOWN)
        return; /* no sample: the next one covers these ops too */
    r->samples[i] = (struct ab_memory_sample){.position = m->clock,
                                              .n_ops = m->clock - m->sampled_to,
                                              .footprint_bytes = s->footprint_bytes,
                                              .live_bytes = split->live,
                                              .internal_bytes = split->internal,
                                              .external_bytes = split->external};
    phase->n_samples++;
    m->sampled_to = m->clock;
}

/* Compares the contents of the pages by the ledger (`split`) with those that a walk over the list
 * of live blocks finds (`s`), and counts a disagreement. */
static void dispute(struct ab_memory_pass *m, const struct ab_memory_state *s,
                    const struct ab_page_split *split)
{
    bool is_same = split->live == s->live_bytes && split->internal == s->internal_bytes &&
                   split->external == s->external_bytes && split->untouched == s->untouched_bytes &&
                   split->baseline == s->baseline_bytes;
    if (split->live != AB_MEMORY_UNKNOWN && s->live_bytes != AB_MEMORY_UNKNOWN && !is_same)
        m->report->phases[m->phase].n_disputed++;
}

/* Returns the last byte that ab_touch_pages writes. */
static uint64_t last_of_pages(uint64_t from, uint64_t size)
{
    return size - from > AB_TOUCH_PAGE_BYTES ? size - 1 : from;
}

/* Finds the first and the last byte that the op writes in a block of `size` bytes. The bytes
 * written in between are at most 4096 apart (worker/touch.h). Returns false if the op writes none,
 * or if they cannot be told from the op. */
static bool find_touched(uint64_t op, uint64_t old_size, uint64_t size, uint64_t *first,
                         uint64_t *last)
{
    const uint32_t operand = AB_OP_SIZE(op);
    const uint64_t n = AB_TOUCH_BYTES(operand);
    uint64_t reach;
    *first = *last = 0;
    /* a resize writes one byte on each page past the old size */
    if (AB_OP_CODE(op) == (AB_CODE_TOUCHED | AB_CODE_RESIZE)) {
        *first = old_size;
        *last = last_of_pages(old_size, size);
        return size > old_size;
    }
    if (AB_OP_CODE(op) == AB_CODE_ACCESS)
        return operand == AB_ACCESS_WRITE;
    if (AB_OP_CODE(op) != AB_CODE_TOUCH)
        return true;
    switch (AB_TOUCH_MODE(operand)) {
    case AB_TOUCH_WALK:
        return false;
    case AB_TOUCH_NONE:
        if (!ab_touch_is_leading(operand) || AB_LEADING_PAGES(operand) == 0)
            return false;
        reach = ab_touch_reach(operand, size);
        *last = reach < size ? reach - AB_TOUCH_PAGE_BYTES : last_of_pages(0, size);
        return true;
    case AB_TOUCH_FIRST:
        *last = n < size ? n - 1 : size - 1;
        return n > 0;
    case AB_TOUCH_ENDS: /* writes the last byte too, but *last leaves that byte out */
        return true;
    case AB_TOUCH_PAGE:
    case AB_TOUCH_APART:
        *last = last_of_pages(0, size);
        return true;
    case AB_TOUCH_LINE:
        *last = (size - 1) & ~UINT64_C(63);
        return true;
    case AB_TOUCH_ALL:
        *last = size - 1;
        return true;
    }
    return false;
}

/* Tells the ledger which pages an op wrote to in a live block that had `old_size` before. */
static void note_touch(struct ab_memory_pass *m, uint64_t op, uint64_t old_size)
{
    const struct ab_block_entry *e = &m->book.entries[AB_OP_SLOT(op)];
    uint64_t first, last;
    if (m->book.pages == NULL || !e->is_live || e->size == 0)
        return;
    if (find_touched(op, old_size, e->size, &first, &last))
        ab_page_ledger_touch(m->book.pages, e->at + first, e->at + last);
}

/* ---- the baseline ---- */

void ab_memory_set_malloc(struct ab_worker *w, const void *malloc_function)
{
    if (w->memory == NULL)
        return;
    ab_introspect_malloc(&w->memory->introspect, malloc_function);
    w->memory->time.function = malloc_function;
    w->memory->has_usable = true;
}

/* Returns the private resident bytes of the process: by statm if it is exact, else by page tables.
 * Returns 0 if they cannot be read. */
static uint64_t private_now(const struct ab_memory_pass *m)
{
    struct ab_footprint_detail detail;
    uint64_t bytes = 0;
    if (m->report->granularity_pages == 0)
        return ab_footprint_read(&m->footprint, &bytes) ? bytes : 0;
    return ab_footprint_read_detail(&m->footprint, &detail) ? detail.private_bytes : 0;
}

/* Lists the pages of the baseline. They form at most as many runs as there are pages; there is room
 * for some more. */
static void take_baseline(struct ab_worker *w, struct ab_memory_pass *m)
{
    m->baseline.cap = private_now(m) / m->footprint.page_bytes + 1024;
    m->baseline.runs = map(w, m->baseline.cap * sizeof m->baseline.runs[0]);
    if (!ab_residency_snapshot(&m->residency, &m->baseline))
        m->report->flags |= AB_MEMORY_NO_PAGES;
}

void ab_memory_before_open(struct ab_worker *w)
{
    if (w->memory == NULL)
        return;
    take_baseline(w, w->memory);
    w->memory->before_open_bytes = private_now(w->memory);
}

void ab_memory_after_open(struct ab_worker *w, const struct ab_backend *backend,
                          struct ab_heap *heap)
{
    struct ab_memory_pass *m = w->memory;
    if (m == NULL)
        return;
    uint64_t now = private_now(m);
    if (now > m->before_open_bytes)
        m->opened_bytes = now - m->before_open_bytes;
    ab_introspect_heap(&m->introspect, backend, heap);
    m->time.function = (const void *)backend->alloc;
    m->has_usable = backend->usable_size != NULL;
    if ((backend->traits & AB_TRAIT_MOVES) != 0)
        m->report->flags |= AB_MEMORY_MOVES;
}

enum { STACK_BYTES = 64 << 10 };

static void touch_stack(void)
{
    volatile char stack[STACK_BYTES];
    for (size_t i = 0; i < sizeof stack; i += 4096)
        stack[i] = 0;
}

void ab_memory_touch_stack(struct ab_worker *w)
{
    if (w->memory != NULL)
        touch_stack();
}

/* Later threads of a lane need as much stack as the first ones. So after LOOKS changes of thread,
 * only one change in LOOKS_APART is measured. Measuring takes several times as long as the
 * change. */
enum { LOOKS = 16, LOOKS_APART = 64 };

/* Takes the stack of a lane's new thread out of the footprint. The C library gives back most of an
 * ended thread's stack. Pages of the baseline among them count as lost; the rest is taken out of
 * the base when the next thread begins. */
void ab_memory_change_thread(struct ab_worker *w, struct ab_thread_stack *stack)
{
    struct ab_memory_pass *m = w->memory;
    uint64_t before, after, lost_before, lost_after;
    if (m == NULL)
        return;
    if (stack->n_changes++ >= LOOKS && stack->n_changes % LOOKS_APART != 0) {
        touch_stack();
        return;
    }
    if (!ab_footprint_read(&m->footprint, &before))
        return;
    lost_before = ab_memory_count_lost(m);
    touch_stack();
    lost_after = ab_memory_count_lost(m);
    if (!ab_footprint_read(&m->footprint, &after))
        return;
    int64_t grown = (int64_t)(after + lost_after - before - lost_before);
    m->base_bytes += (uint64_t)(grown - stack->bytes);
    m->base_detail.private_bytes += (uint64_t)(grown - stack->bytes);
    m->lost_bytes = ab_memory_above(lost_after, m->lost_before);
    stack->bytes = grown;
}

static void begin_phase(struct ab_memory_pass *m, uint32_t phase);
static void note_read_peak(struct ab_memory_pass *m, uint64_t live);
static void plan_stop(struct ab_memory_pass *m);

void ab_memory_take_base(struct ab_worker *w)
{
    struct ab_memory_pass *m = w->memory;
    uint64_t ignored;
    if (m == NULL)
        return;
    m->phases = ab_tape_phases(w->image);
    m->n_phases = w->image->n_phases;
    /* asking for statistics may need memory, which becomes resident now */
    ab_introspect_ask(&m->introspect, &ignored, &ignored);
    /* only at the malloc boundary: the baseline of a heap was taken before it opened */
    if (m->baseline.runs == NULL)
        take_baseline(w, m);
    m->lost_before = ab_memory_count_lost(m);
    ab_footprint_read_detail(&m->footprint, &m->base_detail);
    if (!ab_footprint_read(&m->footprint, &m->base_bytes))
        m->report->flags |= AB_MEMORY_UNREADABLE;
    m->base_detail.private_bytes -= m->opened_bytes;
    m->base_bytes -= m->opened_bytes;
    m->report->baseline_bytes = m->base_bytes;
    m->book.is_usable_unknown = !m->has_usable;
    follow_pages(m);
}

/* Enters the blocks of the aged heap into the book, after the slots of the tape, because free_all
 * frees only the latter. The blocks of the aged heap live to the end, belong to no op, and are
 * written as a whole. */
static void add_aged(const struct ab_worker *w, struct ab_memory_pass *m)
{
    struct ab_given given;
    for (uint64_t i = 0; ab_aged_heap_block(w, i, &given); i++) {
        ab_book_put(&m->book, m->book.n_slots++, &given);
        if (m->book.pages != NULL && given.size > 0)
            ab_page_ledger_touch(m->book.pages, given.at, given.at + given.size - 1);
    }
}

void ab_memory_begin(struct ab_worker *w)
{
    struct ab_memory_pass *m = w->memory;
    if (m == NULL)
        return;
    add_aged(w, m);
    note_read_peak(m, m->book.requested_bytes);
    begin_phase(m, 0);
    plan_stop(m);
}

/* ---- readings ---- */

static void keep_most(uint64_t *most, uint64_t bytes, uint64_t base)
{
    if (ab_memory_above(bytes, base) > *most)
        *most = ab_memory_above(bytes, base);
}

static void walk_pages(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    struct ab_page_tally t;
    ab_page_walk(&m->walk, &m->book, &t);
    s->live_bytes = t.live;
    s->internal_bytes = t.internal;
    s->external_bytes = t.external;
    s->untouched_bytes = t.untouched;
    s->baseline_bytes = t.baseline;
    s->n_stretches = t.n_stretches;
    m->report->flags |= t.is_overlapping ? AB_MEMORY_OVERLAP : 0;
    m->report->flags |= t.is_unreadable ? AB_MEMORY_NO_PAGES : 0;
}

static void check_closely(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    struct ab_footprint_detail now;
    struct ab_memory_report *r = m->report;
    s->is_checked = 1;
    s->footprint_bytes = ab_memory_footprint_exact(m);
    if (ab_footprint_read_detail(&m->footprint, &now)) {
        s->exact_bytes = ab_memory_above(now.private_bytes + m->lost_bytes,
                                         m->base_detail.private_bytes);
        uint64_t own = m->ledger.n_grown * m->footprint.page_bytes;
        keep_most(&r->shared_bytes, now.shmem_bytes, m->base_detail.shmem_bytes + own);
        keep_most(&r->shared_bytes, now.file_bytes, m->base_detail.file_bytes + FILE_SLACK_BYTES);
        keep_most(&r->hugetlb_bytes, now.hugetlb_bytes, m->base_detail.hugetlb_bytes);
        keep_most(&r->swapped_bytes, now.swap_bytes, m->base_detail.swap_bytes);
    }
    if ((r->flags & (AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES)) == 0)
        walk_pages(m, s);
    ab_introspect_ask(&m->introspect, &s->allocated_bytes, &s->mapped_bytes);
    ab_heap_memory_read(m, s);
}

static void read_state(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    const struct ab_block_book *b = &m->book;
    const uint64_t unknown = AB_MEMORY_UNKNOWN;
    *s = (struct ab_memory_state){
        .position = m->clock,
        .requested_bytes = b->requested_bytes,
        .usable_bytes = m->has_usable ? b->usable_bytes : unknown,
        .footprint_bytes = ab_memory_footprint(m),
        .exact_bytes = unknown,
        .live_bytes = unknown,
        .internal_bytes = unknown,
        .external_bytes = unknown,
        .untouched_bytes = unknown,
        .baseline_bytes = unknown,
        .n_stretches = unknown,
        .allocated_bytes = unknown,
        .mapped_bytes = unknown,
    };
    memset(s->heaps, 0xff, sizeof s->heaps); /* UNKNOWN */
    m->report->flags |= m->has_usable && b->is_usable_less ? AB_MEMORY_USABLE_LESS : 0;
}

static void add_point(struct ab_memory_pass *m, const struct ab_memory_state *s,
                      const struct ab_page_split *split)
{
    struct ab_memory_report *r = m->report;
    if (r->n_points >= AB_MEMORY_POINTS_SPACED)
        return;
    r->points[r->n_points++] = (struct ab_memory_point){.position = s->position,
                                                        .requested_bytes = s->requested_bytes,
                                                        .usable_bytes = s->usable_bytes,
                                                        .footprint_bytes = s->footprint_bytes,
                                                        .internal_bytes = split->internal,
                                                        .external_bytes = split->external};
}

/* True if `s` is a higher peak. Of equal footprints, as in a phase that reuses warm pages, the one
 * with the most live bytes counts. */
static bool is_higher(const struct ab_memory_state *s, const struct ab_memory_state *than)
{
    return than->position == AB_MEMORY_NEVER || s->footprint_bytes > than->footprint_bytes ||
           (s->footprint_bytes == than->footprint_bytes &&
            s->requested_bytes > than->requested_bytes);
}

static void note_peaks(struct ab_memory_pass *m, const struct ab_memory_state *s, bool is_live_peak)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    struct ab_memory_state *peak = &phase->at[AB_AT_FOOTPRINT_PEAK], *checked = &m->checked_peak;
    if (is_live_peak)
        phase->at[AB_AT_LIVE_PEAK] = *s;
    if (s->footprint_bytes == AB_MEMORY_UNKNOWN)
        return;
    if (s->footprint_bytes > phase->rss_peak_bytes)
        phase->rss_peak_bytes = s->footprint_bytes;
    if (is_higher(s, peak))
        *peak = *s;
    if (s->is_checked && is_higher(s, checked))
        *checked = *s;
}

/* Makes the highest checkpoint the footprint peak, unless the peak is more than 1 % higher. */
static void settle_peak(struct ab_memory_pass *m)
{
    struct ab_memory_state *peak = &m->report->phases[m->phase].at[AB_AT_FOOTPRINT_PEAK];
    const struct ab_memory_state *checked = &m->checked_peak;
    if (checked->position != AB_MEMORY_NEVER && peak->position != AB_MEMORY_NEVER &&
        checked->footprint_bytes >= peak->footprint_bytes - peak->footprint_bytes / 100)
        *peak = *checked;
}

/* True at the positions of the earlier run's peaks. Also true if this run's footprint comes near
 * the earlier peak and is its highest checkpoint so far. The second condition serves allocators
 * with randomness, whose peak is elsewhere each time. */
static bool is_checkpoint(const struct ab_memory_pass *m, const struct ab_memory_state *s)
{
    const struct ab_memory_marks *marks = &m->report->marks;
    uint64_t mark = marks->footprint_bytes[m->phase], now = s->footprint_bytes;
    uint64_t so_far = m->checked_peak.position == AB_MEMORY_NEVER ? 0
                                                                  : m->checked_peak.footprint_bytes;
    if (m->report->is_scout)
        return false;
    if (m->clock == marks->live_peak[m->phase] || m->clock == marks->footprint_peak[m->phase])
        return true;
    return now != AB_MEMORY_UNKNOWN && mark != AB_MEMORY_UNKNOWN && now >= mark - mark / 64 &&
           now > so_far + so_far / 128;
}

/* ---- the kernel's high-water mark ---- */

static bool has_mark(const struct ab_memory_pass *m)
{
    return !m->report->is_scout && (m->report->flags & AB_MEMORY_NO_MARK) == 0;
}

/* Resets the high-water mark, so that memory used before does not count: it is noted already, or
 * was not the heap's. */
static void restart_mark(struct ab_memory_pass *m)
{
    struct ab_high_water mark;
    if (!has_mark(m))
        return;
    if (ab_high_water_reset(&m->footprint) && ab_high_water_read(&m->footprint, &mark))
        m->mark_shared_bytes = mark.shared_bytes;
    else
        m->report->flags |= AB_MEMORY_NO_MARK;
}

/* Notes the kernel's high-water mark since the last reading, if it is higher than the readings.
 * Subtracts the mark's error, which shows right after a reset. Ignores the mark if shared memory
 * shrank, because the mark may be from a time at which that memory was still there. */
static void note_mark(struct ab_memory_pass *m)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    const uint64_t shared_before = m->mark_shared_bytes;
    struct ab_high_water most, now;
    if (!has_mark(m) || !ab_high_water_read(&m->footprint, &most))
        return;
    ab_high_water_reset(&m->footprint);
    m->mark_shared_bytes = most.shared_bytes;
    uint64_t bytes = ab_memory_above(most.private_bytes + m->lost_bytes, m->base_bytes);
    uint64_t seen = phase->rss_peak_bytes > phase->high_water_bytes ? phase->rss_peak_bytes
                                                                    : phase->high_water_bytes;
    if (most.shared_bytes < shared_before || bytes <= seen + m->report->mark_excess_bytes ||
        !ab_high_water_read(&m->footprint, &now))
        return;
    bytes -= ab_memory_above(now.private_bytes, now.now_bytes);
    keep_most(&phase->high_water_bytes, bytes, 0);
}

/* Reads the high-water mark after a resize moved a large block. During the move both copies exist,
 * which no reading of the footprint sees. */
static void note_move(struct ab_memory_pass *m, uint64_t old_size, uint64_t size)
{
    const struct ab_memory_phase *phase = &m->report->phases[m->phase];
    uint64_t smaller = size < old_size ? size : old_size;
    if (smaller >= MOVED_BYTES && smaller >= phase->rss_peak_bytes / MOVED_SHARE)
        note_mark(m);
}

void ab_memory_leave_burst(struct ab_worker *w)
{
    if (w->memory != NULL)
        note_mark(w->memory);
}

void ab_memory_enter_burst(struct ab_worker *w)
{
    if (w->memory != NULL)
        restart_mark(w->memory);
}

/* Counts a reading that is one of the equally spaced ones. */
static void note_reading(struct ab_memory_pass *m, const struct ab_memory_state *s)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    m->next_reading = m->clock - m->clock % m->interval + m->interval;
    if (phase->n_readings++ % READINGS_A_MARK == READINGS_A_MARK - 1)
        note_mark(m);
    phase->requested_sum += s->requested_bytes;
    phase->footprint_sum += s->footprint_bytes == AB_MEMORY_UNKNOWN ? 0 : s->footprint_bytes;
}

static void end_phase(struct ab_memory_pass *m, const struct ab_memory_state *s)
{
    m->report->phases[m->phase].at[AB_AT_END] = *s;
    settle_peak(m);
    end_samples(m);
    ab_memory_time_pass(m, true);
}

/* Sets the live bytes that trigger the next reading: 1 % more than now, at least 64 KiB more. */
static void note_read_peak(struct ab_memory_pass *m, uint64_t live)
{
    m->read_peak_bytes = live;
    m->next_peak_bytes = live + (live / 100 > 64 << 10 ? live / 100 : 64 << 10);
}

/* Takes a reading: the footprint, and what else is due here. At the end of a phase and at its
 * peaks, the reading is a checkpoint. */
static void visit(struct ab_memory_pass *m, bool is_end)
{
    struct ab_memory_report *r = m->report;
    struct ab_memory_state s;
    read_state(m, &s);
    bool is_checked = is_checkpoint(m, &s) || (is_end && !r->is_scout);
    bool is_sample = m->clock >= m->next_sample || is_end;
    bool is_wanted = m->book.pins != NULL && ab_pins_is_wanted(m->book.pins, m->clock);
    struct ab_page_split split;
    memset(&split, 0xff, sizeof split); /* UNKNOWN */
    if (is_sample || is_checked || is_wanted)
        split = ab_memory_split(m, s.footprint_bytes, is_checked || is_wanted);
    if (is_checked || is_end)
        note_mark(m);
    if (is_checked) {
        check_closely(m, &s);
        dispute(m, &s, &split);
        restart_mark(m); /* because the library may have allocated memory for its statistics */
    }
    note_peaks(m, &s, m->clock == r->marks.live_peak[m->phase]);
    ab_pins_visit(m, &s, &split, is_end);
    if (is_sample) {
        add_sample(m, &s, &split);
        m->next_sample = m->clock - m->clock % m->sample_interval + m->sample_interval;
    }
    if (m->clock >= m->next_reading)
        note_reading(m, &s);
    if ((is_sample && m->clock >= m->next_point) || (is_end && m->phase + 1 == m->n_phases)) {
        m->next_point = m->clock - m->clock % m->point_interval + m->point_interval;
        add_point(m, &s, &split);
    }
    if (is_end)
        end_phase(m, &s);
    if (s.requested_bytes > m->read_peak_bytes)
        note_read_peak(m, s.requested_bytes);
}

static void begin_phase(struct ab_memory_pass *m, uint32_t index)
{
    struct ab_memory_phase *phase = &m->report->phases[index];
    m->phase = index;
    m->clock = m->phases[index].begin;
    phase->live_peak_bytes = m->live_peak_bytes = m->book.requested_bytes;
    phase->live_peak_at = m->clock;
    for (unsigned i = 0; i < AB_AT_COUNT; i++)
        phase->at[i].position = AB_MEMORY_NEVER;
    m->checked_peak.position = AB_MEMORY_NEVER;
    plan_readings(m, index);
    begin_samples(m);
    restart_mark(m);
    visit(m, false);
    ab_memory_time_pass(m, false);
}

/* Ends all phases that end at this position; a phase without ops ends where it begins. */
static void end_phases(struct ab_memory_pass *m)
{
    while (m->phase < m->n_phases && m->clock == m->phases[m->phase].end) {
        visit(m, true);
        if (m->phase + 1 == m->n_phases)
            break;
        begin_phase(m, m->phase + 1);
    }
}

/* ---- after each op ---- */

static uint32_t least(uint32_t a, uint32_t b, uint32_t above)
{
    return b > above && b < a ? b : a;
}

/* Finds the next op after which there is something to do. New peaks of the live bytes are not
 * planned here. */
static void plan_stop(struct ab_memory_pass *m)
{
    const struct ab_memory_marks *marks = &m->report->marks;
    uint32_t next = least(m->phases[m->phase].end, m->next_reading, m->clock);
    next = least(next, marks->live_peak[m->phase], m->clock);
    if (m->time.next < m->time.n)
        next = least(next, m->time.steps[m->time.next].position, m->clock);
    next = least(next, marks->footprint_peak[m->phase], m->clock);
    m->next_stop = m->book.pins != NULL ? ab_pins_plan(m->book.pins, m->clock, next) : next;
}

/* Notes a peak of the live bytes: after an op that exceeds the highest so far, or after the touch
 * of the block that made the last peak. */
static void note_live_peak(struct ab_memory_pass *m, uint64_t op, uint32_t before)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    uint64_t live = m->book.requested_bytes;
    bool is_its_touch = AB_OP_CODE(op) == AB_CODE_TOUCH && !ab_op_is_trim(op) &&
                        live == phase->live_peak_bytes && before == phase->live_peak_at;
    if (live > phase->live_peak_bytes || is_its_touch) {
        phase->live_peak_bytes = m->live_peak_bytes = live;
        phase->live_peak_at = m->clock;
    }
}

static void stop(struct ab_memory_pass *m)
{
    const struct ab_memory_marks *marks = &m->report->marks;
    ab_memory_time_pass(m, false);
    if (m->clock == m->phases[m->phase].end)
        end_phases(m);
    else if (m->clock >= m->next_reading || m->book.requested_bytes >= m->next_peak_bytes ||
             m->clock == marks->live_peak[m->phase] ||
             m->clock == marks->footprint_peak[m->phase] ||
             (m->book.pins != NULL && ab_pins_is_wanted(m->book.pins, m->clock)))
        visit(m, false);
    plan_stop(m);
}

/* Counts the cache lines, pages and spans that the walk `op` touches. Takes the addresses of its
 * blocks from the book. */
static void count_walk(struct ab_worker *w, const uint64_t *op)
{
    struct ab_memory_pass *m = w->memory;
    uint32_t n = AB_WALK_COUNT(AB_OP_SIZE(*op)), n_found = 0;
    uint64_t *entries = w->lanes[0].walk;
    if (m->report->is_scout || (m->report->flags & AB_MEMORY_MOVES) != 0)
        return;
    for (uint32_t i = 0; i < n; op++) {
        if (ab_op_is_guard(op[1]))
            continue;
        const struct ab_block_entry *e = &m->book.entries[AB_OP_SLOT(op[1])];
        if (e->is_live && e->size > 0)
            entries[n_found++] = ab_walk_entry(e->at, e->size);
        i++;
    }
    ab_walk_add(&m->report->phases[m->phase].walks, entries, n_found);
}

/* Notes the owner of the op's block. Not inlined: few passes have owners, but all run the loop that
 * calls this function. */
static __attribute__((noinline)) void take_owner(struct ab_worker *w, uint64_t op,
                                                 const struct ab_given *given)
{
    struct ab_memory_pass *m = w->memory;
    int kind = ab_op_decode(op, w->wide).kind;
    if (kind == AB_OP_ALLOC || kind == AB_OP_ALLOC_ZEROED || kind == AB_OP_ALLOC_ALIGNED ||
        kind == AB_OP_RESIZE)
        ab_pins_take(m->book.pins, AB_OP_SLOT(op), given, m->clock);
}

static bool is_walk(uint64_t op)
{
    return AB_OP_CODE(op) == AB_CODE_TOUCH && AB_TOUCH_MODE(AB_OP_SIZE(op)) == AB_TOUCH_WALK;
}

static bool is_resize(const struct ab_worker *w, uint64_t op)
{
    return ab_op_code_kind(AB_OP_CODE(op)) == AB_OP_RESIZE ||
           (AB_OP_CODE(op) == AB_CODE_WIDE && ab_op_decode(op, w->wide).kind == AB_OP_RESIZE);
}

void ab_memory_after(struct ab_worker *w, const uint64_t *op, const struct ab_given *given,
                     uint32_t n_skipped)
{
    struct ab_memory_pass *m = w->memory;
    const uint32_t before = m->clock;
    const uint64_t old_size = is_resize(w, *op) ? m->book.entries[AB_OP_SLOT(*op)].size : 0;
    for (uint32_t i = 0; i <= n_skipped; i++)
        if (ab_op_code_kind(AB_OP_CODE(op[i])) == AB_OP_FREE)
            ab_book_drop(&m->book, AB_OP_SLOT(op[i]));
    if (given->at != 0) {
        ab_book_put(&m->book, AB_OP_SLOT(*op), given);
        ab_heap_memory_note(w, m, AB_OP_SLOT(*op));
    }
    if (AB_UNLIKELY(m->book.pins != NULL))
        take_owner(w, *op, given);
    if ((TOUCHING >> AB_OP_CODE(*op) & 1) != 0)
        note_touch(m, *op, old_size);
    if (AB_UNLIKELY(is_walk(*op)))
        count_walk(w, op);
    m->clock += 1 + n_skipped;
    if (AB_UNLIKELY(old_size >= MOVED_BYTES))
        note_move(m, old_size, given->size);
    if (AB_UNLIKELY(m->book.requested_bytes >= m->live_peak_bytes))
        note_live_peak(m, *op, before);
    if (AB_UNLIKELY(m->clock >= m->next_stop || m->book.requested_bytes >= m->next_peak_bytes))
        stop(m);
}
