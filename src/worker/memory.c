/* SPDX-License-Identifier: MIT */
#include "worker/memory.h"

#include "core/bits.h"
#include "measure/footprint.h"
#include "measure/memory_report.h"
#include "worker/memory_pass.h"

#include <string.h>
#include <sys/mman.h>

/* Readings a tape (once to twice as many), and pages of text that an untouched library may still
 * fault in: more than that in file mappings is the allocator's own doing. */
enum { READINGS = 2000, STACK_BYTES = 64 << 10, FILE_SLACK_BYTES = 16 << 20 };

/* ---- memory of ours: shared, so in no footprint, and written before the baseline ---- */

static void *map(struct ab_worker *w, size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    if (p == MAP_FAILED)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the books of the memory pass", NULL);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)p)[i] = 0;
    return p;
}

/* Most pages that live blocks can lie on: each reaches at most into one more than it fills. */
static uint64_t most_pages(const struct ab_tape_image *image, const struct ab_phase *phases,
                           uint64_t page_bytes)
{
    uint64_t touches = 0;
    for (uint32_t i = 0; i < image->n_phases; i++)
        touches += phases[i].n_touches;
    if (touches == 0)
        return 0;
    return image->facts.live_peak_bytes / page_bytes + 2 * image->facts.live_peak_blocks;
}

static void open_book(struct ab_worker *w, struct ab_memory_pass *m)
{
    uint64_t n = most_pages(w->image, w->phases, m->footprint.page_bytes);
    uint64_t pages = ab_page_set_capacity(n), regions = ab_page_set_capacity(n / 16);
    m->book.n_slots = w->image->n_slots;
    m->book.page_log2 = ab_log2(m->footprint.page_bytes);
    m->book.entries = map(w, ((size_t)m->book.n_slots + 1) * sizeof m->book.entries[0]);
    ab_page_set_init(&m->book.pages, map(w, pages * 8), pages);
    ab_page_set_init(&m->book.regions, map(w, regions * 8), regions);
}

static void open_report(struct ab_worker *w, struct ab_memory_pass *m)
{
    struct ab_memory_report *r =
        (struct ab_memory_report *)((char *)w->block + w->block->request.memory_offset);
    m->report = r;
    memset(r->phases, 0, sizeof r->phases); /* the parent's marks and wishes stay */
    memset(r->points, 0, sizeof r->points);
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        r->drained_bytes[i] = AB_MEMORY_UNKNOWN;
    r->page_bytes = m->footprint.page_bytes;
    r->n_points = 0;
}

void ab_memory_open(struct ab_worker *w)
{
    if (w->block->request.pass != AB_PASS_MEMORY)
        return;
    struct ab_memory_pass *m = map(w, sizeof *m);
    w->memory = m;
    ab_footprint_open(&m->footprint);
    open_report(w, m);
    open_book(w, m);
    uint32_t n_ops = w->image->n_ops;
    m->interval = n_ops / READINGS > 0 ? n_ops / READINGS : 1;
    m->point_interval = (n_ops / m->interval / (AB_MEMORY_POINTS_SPACED - 2) + 1) * m->interval;
    uint32_t granularity = ab_footprint_granularity(&m->footprint);
    if (granularity == UINT32_MAX)
        m->report->flags |= AB_MEMORY_UNREADABLE;
    else
        m->report->granularity_pages = granularity;
}

/* ---- the baseline ---- */

void ab_memory_set_malloc(struct ab_worker *w, const void *malloc_function)
{
    if (w->memory == NULL)
        return;
    ab_introspect_malloc(&w->memory->introspect, malloc_function);
    w->memory->has_usable = true;
}

/* By the cheap way where it is exact, else by the dear one; 0 when neither can be read. */
static uint64_t private_now(const struct ab_memory_pass *m)
{
    struct ab_footprint_detail detail;
    uint64_t bytes = 0;
    if (m->report->granularity_pages == 0)
        return ab_footprint_read(&m->footprint, &bytes) ? bytes : 0;
    return ab_footprint_read_detail(&m->footprint, &detail) ? detail.private_bytes : 0;
}

void ab_memory_before_open(struct ab_worker *w)
{
    if (w->memory != NULL)
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
    m->has_usable = backend->usable_size != NULL;
    if ((backend->traits & AB_TRAIT_MOVES) != 0)
        m->report->flags |= AB_MEMORY_MOVES;
}

void ab_memory_touch_stack(void)
{
    volatile char stack[STACK_BYTES];
    for (size_t i = 0; i < sizeof stack; i += 4096)
        stack[i] = 0;
}

static void begin_phase(struct ab_memory_pass *m, uint32_t phase);

void ab_memory_begin(struct ab_worker *w)
{
    struct ab_memory_pass *m = w->memory;
    uint64_t ignored;
    if (m == NULL)
        return;
    m->phases = w->phases;
    m->n_phases = w->image->n_phases;
    ab_introspect_ask(&m->introspect, &ignored, &ignored); /* what asking itself costs, once */
    ab_footprint_read_detail(&m->footprint, &m->base_detail);
    if (!ab_footprint_read(&m->footprint, &m->base_bytes))
        m->report->flags |= AB_MEMORY_UNREADABLE;
    m->base_detail.private_bytes -= m->opened_bytes;
    m->base_bytes -= m->opened_bytes;
    m->report->baseline_bytes = m->base_bytes;
    begin_phase(m, 0);
}

/* ---- readings ---- */

static uint64_t above(uint64_t bytes, uint64_t base)
{
    return bytes > base ? bytes - base : 0;
}

static void keep_most(uint64_t *most, uint64_t bytes, uint64_t base)
{
    if (above(bytes, base) > *most)
        *most = above(bytes, base);
}

uint64_t ab_memory_footprint(struct ab_memory_pass *m)
{
    uint64_t bytes;
    if (ab_footprint_read(&m->footprint, &bytes))
        return above(bytes, m->base_bytes);
    m->report->flags |= AB_MEMORY_UNREADABLE;
    return AB_MEMORY_UNKNOWN;
}

/* Firm pages were written to and must be resident; what is soft may or may not be. */
static void check_pages(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    const struct ab_page_set *pages = &m->book.pages;
    for (uint64_t i = 0; i <= pages->mask; i++) {
        uint64_t entry = pages->entries[i];
        if (entry == 0 || ab_footprint_is_resident(&m->footprint, AB_PAGE_SET_NUMBER(entry)
                                                                      << m->book.page_log2))
            continue;
        s->n_lost_pages += AB_PAGE_SET_IS_FIRM(entry);
        s->n_lost_soft_pages += !AB_PAGE_SET_IS_FIRM(entry);
    }
}

static void look_closer(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    struct ab_footprint_detail now;
    struct ab_memory_report *r = m->report;
    s->is_checked = 1;
    s->exact_bytes = AB_MEMORY_UNKNOWN;
    if (ab_footprint_read_detail(&m->footprint, &now)) {
        s->exact_bytes = above(now.private_bytes, m->base_detail.private_bytes);
        keep_most(&r->shared_bytes, now.shmem_bytes, m->base_detail.shmem_bytes);
        keep_most(&r->shared_bytes, now.file_bytes, m->base_detail.file_bytes + FILE_SLACK_BYTES);
        keep_most(&r->hugetlb_bytes, now.hugetlb_bytes, m->base_detail.hugetlb_bytes);
        keep_most(&r->swapped_bytes, now.swap_bytes, m->base_detail.swap_bytes);
    }
    check_pages(m, s);
    ab_introspect_ask(&m->introspect, &s->allocated_bytes, &s->mapped_bytes);
}

static void read_state(struct ab_memory_pass *m, bool is_checkpoint, struct ab_memory_state *s)
{
    const struct ab_block_book *b = &m->book;
    *s = (struct ab_memory_state){
        .position = m->clock,
        .live_bytes = b->live_bytes,
        .usable_bytes = m->has_usable ? b->usable_bytes : AB_MEMORY_UNKNOWN,
        .untouched_bytes = b->untouched_bytes,
        .n_pages = b->pages.n,
        .n_soft_pages = b->pages.n - b->pages.n_firm,
        .n_pages_2m = b->regions.is_full ? AB_MEMORY_UNKNOWN : b->regions.n,
        .footprint_bytes = ab_memory_footprint(m),
        .exact_bytes = AB_MEMORY_UNKNOWN,
        .allocated_bytes = AB_MEMORY_UNKNOWN,
        .mapped_bytes = AB_MEMORY_UNKNOWN,
    };
    m->report->flags |= b->pages.is_full ? AB_MEMORY_OVERFLOW : 0;
    m->report->flags |= m->has_usable && b->is_usable_less ? AB_MEMORY_USABLE_LESS : 0;
    if (is_checkpoint)
        look_closer(m, s);
}

static void add_point(struct ab_memory_pass *m, const struct ab_memory_state *s)
{
    struct ab_memory_report *r = m->report;
    if (r->n_points >= AB_MEMORY_POINTS_SPACED)
        return;
    r->points[r->n_points++] = (struct ab_memory_point){.position = s->position,
                                                        .live_bytes = s->live_bytes,
                                                        .usable_bytes = s->usable_bytes,
                                                        .footprint_bytes = s->footprint_bytes};
}

static void note_peaks(struct ab_memory_pass *m, const struct ab_memory_state *s, bool is_live_peak)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    struct ab_memory_state *peak = &phase->at[AB_AT_FOOTPRINT_PEAK];
    if (is_live_peak)
        phase->at[AB_AT_LIVE_PEAK] = *s;
    if (s->footprint_bytes == AB_MEMORY_UNKNOWN)
        return;
    if (s->footprint_bytes > phase->rss_peak_bytes)
        phase->rss_peak_bytes = s->footprint_bytes;
    if (peak->position == AB_MEMORY_NEVER || s->footprint_bytes > peak->footprint_bytes ||
        (s->footprint_bytes == peak->footprint_bytes && s->is_checked && !peak->is_checked))
        *peak = *s;
}

/* Reads the footprint here; at a mark or the end of a phase this is a checkpoint. */
static void visit(struct ab_memory_pass *m, bool is_end)
{
    struct ab_memory_report *r = m->report;
    struct ab_memory_phase *phase = &r->phases[m->phase];
    struct ab_memory_state s;
    bool is_live_peak = m->clock == r->marks.live_peak[m->phase];
    bool is_peak = m->clock == r->marks.footprint_peak[m->phase];
    read_state(m, !r->is_scout && (is_end || is_live_peak || is_peak), &s);
    note_peaks(m, &s, is_live_peak);
    if (is_end)
        phase->at[AB_AT_END] = s;
    if (m->clock >= m->next_reading) {
        m->next_reading = m->clock - m->clock % m->interval + m->interval;
        phase->n_readings++;
        phase->live_sum += s.live_bytes;
        phase->footprint_sum += s.footprint_bytes == AB_MEMORY_UNKNOWN ? 0 : s.footprint_bytes;
    }
    if (m->clock >= m->next_point || (is_end && m->phase + 1 == m->n_phases)) {
        m->next_point = m->clock - m->clock % m->point_interval + m->point_interval;
        add_point(m, &s);
    }
    if (s.live_bytes > m->read_peak_bytes)
        m->read_peak_bytes = s.live_bytes;
}

static void begin_phase(struct ab_memory_pass *m, uint32_t index)
{
    struct ab_memory_phase *phase = &m->report->phases[index];
    m->phase = index;
    m->clock = m->phases[index].begin;
    phase->live_peak_bytes = m->book.live_bytes;
    phase->live_peak_at = m->clock;
    for (unsigned i = 0; i < AB_AT_COUNT; i++)
        phase->at[i].position = AB_MEMORY_NEVER;
    visit(m, false);
}

/* Phases without an op end where they begin. */
static void end_phases(struct ab_memory_pass *m)
{
    while (m->phase < m->n_phases && m->clock == m->phases[m->phase].end) {
        visit(m, true);
        if (m->phase + 1 == m->n_phases)
            break;
        begin_phase(m, m->phase + 1);
    }
}

/* ---- behind each op ---- */

static void book_op(struct ab_worker *w, struct ab_memory_pass *m, uint64_t word,
                    const struct ab_given *given)
{
    unsigned code = AB_OP_CODE(word), flags = 0;
    uint32_t slot = AB_OP_SLOT(word);
    if (code == AB_CODE_WIDE) {
        flags = w->wide[AB_OP_SIZE(word)].flags;
        code = w->wide[AB_OP_SIZE(word)].code;
    }
    if (code == AB_CODE_FREE) {
        ab_book_drop(&m->book, slot);
    } else if (code == AB_CODE_TOUCH) {
        ab_book_touch(&m->book, slot, AB_TOUCH_MODE(AB_OP_SIZE(word)),
                      AB_TOUCH_BYTES(AB_OP_SIZE(word)));
    } else if (code == AB_CODE_ACCESS) {
        if (AB_OP_SIZE(word) == AB_ACCESS_WRITE)
            ab_book_touch(&m->book, slot, AB_TOUCH_FIRST, 1);
    } else if (given->at != 0 && (code & 7) == AB_CODE_RESIZE) {
        uint64_t old_size = ab_book_put(&m->book, slot, given);
        if ((code & AB_CODE_TOUCHED) != 0)
            ab_book_touch_grown(&m->book, slot, old_size);
    } else if (given->at != 0 && (flags & AB_WIDE_MAY_FAIL) == 0) {
        ab_book_put(&m->book, slot, given);
        if ((code & AB_CODE_TOUCHED) != 0)
            ab_book_touch(&m->book, slot, AB_TOUCH_PAGE, 0);
    }
}

void ab_memory_after(struct ab_worker *w, const uint64_t *op, const struct ab_given *given,
                     uint32_t n_skipped)
{
    struct ab_memory_pass *m = w->memory;
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    struct ab_given usable = *given;
    if (!m->has_usable)
        usable.usable = usable.size;
    book_op(w, m, *op, &usable);
    for (uint32_t i = 1; i <= n_skipped; i++)
        if (AB_OP_CODE(op[i]) == AB_CODE_FREE)
            ab_book_drop(&m->book, AB_OP_SLOT(op[i]));
    uint64_t live = m->book.live_bytes;
    bool is_its_touch = AB_OP_CODE(*op) == AB_CODE_TOUCH && live == phase->live_peak_bytes &&
                        m->clock == phase->live_peak_at; /* of the block that made the peak */
    m->clock += 1 + n_skipped;
    if (live > phase->live_peak_bytes || is_its_touch) {
        phase->live_peak_bytes = live;
        phase->live_peak_at = m->clock;
    }
    bool is_new_peak = live >= m->read_peak_bytes + (64 << 10) &&
                       live >= m->read_peak_bytes + m->read_peak_bytes / 100;
    if (m->clock == m->phases[m->phase].end)
        end_phases(m);
    else if (m->clock >= m->next_reading || is_new_peak ||
             m->clock == m->report->marks.live_peak[m->phase] ||
             m->clock == m->report->marks.footprint_peak[m->phase])
        visit(m, false);
}
