/* SPDX-License-Identifier: MIT
 *
 * The samples of a phase: what its pages hold at a thousand places and more, from the ledger, and
 * the proof of that at each checkpoint.
 */
#include "worker/memory/samples.h"

/* Of a tape, at the least. */
enum { READINGS = 2000 };

static uint32_t at_least_1(uint32_t n)
{
    return n > 0 ? n : 1;
}

/* The pages of a measured phase are asked for a twentieth more often than the least, because not
 * everywhere is each number defined; of one that is not measured for the points of the time line alone.
 * The footprint is read as often, or so many times as often as makes READINGS of a tape. */
void ab_memory_plan_readings(struct ab_memory_pass *m, uint32_t index)
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

void ab_memory_follow_pages(struct ab_memory_pass *m)
{
    const uint32_t unknown = AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES;
    if (!m->report->is_scout && m->ledger.pool != NULL && (m->report->flags & unknown) == 0)
        m->book.pages = &m->ledger;
    else if (!m->report->is_scout && m->ledger.pool == NULL)
        m->report->flags |= AB_MEMORY_NO_LEDGER;
}

void ab_memory_begin_samples(struct ab_memory_pass *m)
{
    struct ab_memory_phase *phase = &m->report->phases[m->phase];
    const struct ab_memory_phase *before = phase - 1;
    phase->first_sample = m->phase == 0 ? 0 : before->first_sample + before->n_samples;
    m->sampled_to = m->clock;
    m->grown_before = m->ledger.n_grown;
}

void ab_memory_end_samples(struct ab_memory_pass *m)
{
    m->report->phases[m->phase].own_faults = m->ledger.n_grown - m->grown_before;
}

const struct ab_page_split ab_memory_no_split = {
    AB_MEMORY_UNKNOWN, AB_MEMORY_UNKNOWN, AB_MEMORY_UNKNOWN, AB_MEMORY_UNKNOWN, AB_MEMORY_UNKNOWN};

struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must)
{
    const uint64_t unknown = AB_MEMORY_UNKNOWN;
    struct ab_page_split split = ab_memory_no_split;
    if (m->book.pages == NULL)
        return split;
    bool is_exact = m->report->granularity_pages == 0 && footprint_bytes != unknown &&
                    footprint_bytes > m->lost_bytes;
    ab_page_ledger_read(m->book.pages, m->clock - m->split_at,
                        is_exact ? footprint_bytes - m->lost_bytes : UINT64_MAX, must, &split);
    m->split_at = m->clock;
    if (m->book.pages->is_lost) {
        m->report->flags |= AB_MEMORY_NO_LEDGER;
        m->book.pages = NULL;
    }
    return split;
}

void ab_memory_add_sample(struct ab_memory_pass *m, const struct ab_memory_state *s,
                          const struct ab_page_split *split)
{
    struct ab_memory_report *r = m->report;
    struct ab_memory_phase *phase = &r->phases[m->phase];
    uint64_t i = (uint64_t)phase->first_sample + phase->n_samples;
    if (!m->phases[m->phase].is_measured || m->clock == m->sampled_to || i >= r->cap_samples ||
        split->live == AB_MEMORY_UNKNOWN)
        return; /* the next one stands for these ops too */
    r->samples[i] = (struct ab_memory_sample){.position = m->clock,
                                              .n_ops = m->clock - m->sampled_to,
                                              .footprint_bytes = s->footprint_bytes,
                                              .live_bytes = split->live,
                                              .internal_bytes = split->internal,
                                              .external_bytes = split->external};
    phase->n_samples++;
    m->sampled_to = m->clock;
}

void ab_memory_dispute(struct ab_memory_pass *m, const struct ab_memory_state *s,
                       const struct ab_page_split *split)
{
    bool is_same = split->live == s->live_bytes && split->internal == s->internal_bytes &&
                   split->external == s->external_bytes && split->untouched == s->untouched_bytes &&
                   split->baseline == s->baseline_bytes;
    if (split->live != AB_MEMORY_UNKNOWN && s->live_bytes != AB_MEMORY_UNKNOWN && !is_same)
        m->report->phases[m->phase].n_disputed++;
}

/* First and last byte that is written to of a block of `size` bytes, with none further apart than
 * 4096 between them (worker/passes/touch.h); false where it is not told. */
static bool find_touched(uint64_t op, uint64_t old_size, uint64_t size, uint64_t *first,
                         uint64_t *last)
{
    const uint32_t operand = AB_OP_SIZE(op);
    const uint64_t n = AB_TOUCH_BYTES(operand);
    *first = *last = 0;
    if (AB_OP_CODE(op) == (AB_CODE_TOUCHED | AB_CODE_RESIZE)) { /* once a page from its old size */
        *first = old_size;
        *last = old_size + ((size - 1 - old_size) & ~UINT64_C(4095));
        return size > old_size;
    }
    if (AB_OP_CODE(op) == AB_CODE_ACCESS)
        return operand == AB_ACCESS_WRITE;
    if (AB_OP_CODE(op) != AB_CODE_TOUCH)
        return true;
    switch (AB_TOUCH_MODE(operand)) {
    case AB_TOUCH_NONE:
        return false;
    case AB_TOUCH_FIRST:
        *last = n < size ? n - 1 : size - 1;
        return n > 0;
    case AB_TOUCH_ENDS: /* the last byte: not told */
        return true;
    case AB_TOUCH_PAGE:
    case AB_TOUCH_APART:
        *last = (size - 1) & ~UINT64_C(4095);
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

void ab_memory_note_touch(struct ab_memory_pass *m, uint64_t op, uint64_t old_size)
{
    const struct ab_block_entry *e = &m->book.entries[AB_OP_SLOT(op)];
    uint64_t first, last;
    if (m->book.pages == NULL || !e->is_live || e->size == 0)
        return;
    if (find_touched(op, old_size, e->size, &first, &last))
        ab_page_ledger_touch(m->book.pages, e->at + first, e->at + last);
}
