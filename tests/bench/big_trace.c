/* SPDX-License-Identifier: MIT
 *
 * Writes a long made-up trace, fast: for what must hold of traces that nobody wants to record. The
 * blocks that live stay the same many from the first tenth to the end, whatever the length, so that
 * memory beyond them is the reader's own. Threads take turns and free each other's blocks.
 *   usage: big_trace FILE EVENTS [THREADS [LIVE [AT_ONCE]]]      (default: 1, 10000, all)
 * THREADS numbers come up over the whole trace; AT_ONCE of them are alive: the oldest ends when the
 * next begins.
 */
#include "base/rng.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    struct ab_trace_writer *w;
    struct ab_rng rng;
    uint64_t *live, n_live, cap_live;
    uint64_t n_events, n_threads, at_once, next_thread, oldest;
};

/* Writes one record; false when that failed. */
static bool put(struct maker *m, struct ab_event r, uint64_t *number, struct ab_err *err)
{
    return ab_trace_write(m->w, &r, number, err) == AB_OK;
}

/* Every event of the first `n_threads` stretches of the trace begins a thread, then all take turns;
 * begins and ends lie evenly over it. */
static bool pick_thread(struct maker *m, uint64_t event, uint32_t *thread, struct ab_err *err)
{
    uint64_t number = 0;
    if (m->next_thread < m->n_threads && event >= m->next_thread * (m->n_events / m->n_threads)) {
        *thread = (uint32_t)m->next_thread++;
        if (m->next_thread - m->oldest <= m->at_once)
            return true;
        return put(m,
                   (struct ab_event){.kind = AB_EVENT_THREAD_END, .thread = (uint32_t)m->oldest++},
                   &number, err);
    }
    *thread = (uint32_t)(m->oldest + ab_rng_below(&m->rng, m->next_thread - m->oldest));
    return true;
}

static bool put_event(struct maker *m, uint64_t event, struct ab_err *err)
{
    struct ab_event r = {.kind = AB_EVENT_ALLOC};
    if (!pick_thread(m, event, &r.thread, err))
        return false;
    bool is_full = m->n_live == m->cap_live;
    if (is_full ||
        (m->n_live > 0 && m->n_live * 10 > m->cap_live * 9 && ab_rng_below(&m->rng, 2) == 0)) {
        uint64_t at = ab_rng_below(&m->rng, m->n_live), number = 0;
        r.kind = AB_EVENT_FREE;
        r.block = m->live[at];
        m->live[at] = m->live[--m->n_live];
        return put(m, r, &number, err);
    }
    r.size = 16 + ab_rng_below(&m->rng, 240);
    return put(m, r, &m->live[m->n_live++], err);
}

static uint64_t argument(int argc, char **argv, int at, uint64_t otherwise)
{
    return argc > at ? strtoull(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct maker m = {.n_events = argument(argc, argv, 2, 0), .oldest = 0};
    struct ab_err err = {.text = ""};
    struct ab_trace_info info;
    m.n_threads = argument(argc, argv, 3, 1);
    m.cap_live = argument(argc, argv, 4, 10000);
    m.at_once = argument(argc, argv, 5, m.n_threads);
    FILE *to = argc > 2 ? fopen(argv[1], "wb") : NULL;
    m.live = calloc(m.cap_live + 1, sizeof m.live[0]);
    if (to == NULL || m.live == NULL || m.n_threads == 0 || m.n_threads > m.n_events ||
        m.at_once == 0 || m.cap_live == 0) {
        fprintf(stderr, "usage: big_trace FILE EVENTS [THREADS [LIVE [AT_ONCE]]]\n");
        return 2;
    }
    ab_rng_init(&m.rng, 1, 1);
    bool ok = ab_trace_writer_open(to, "big_trace", &m.w, &err) == AB_OK;
    for (uint64_t i = 0; i < m.n_events && ok; i++)
        ok = put_event(&m, i, &err);
    if (ok)
        ok = ab_trace_writer_close(m.w, &info, &err) == AB_OK;
    free(m.live);
    if (fclose(to) != 0 || !ok) {
        fprintf(stderr, "big_trace: %s\n", err.text);
        return 4;
    }
    return 0;
}
