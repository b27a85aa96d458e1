/* SPDX-License-Identifier: MIT
 *
 * Parts of random traces against a model that works on whole arrays: the part is valid, holds
 * exactly the calls it should, and leaves live what lives at its end.
 */
#include "trace_tools/rewrite.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "trace_tools/walk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_MAX = 6000 };

struct call { /* an event with its block's number; UINT64_MAX = none */
    struct ab_event e;
    uint64_t block;
};

struct calls {
    struct call at[N_MAX * 2];
    size_t n;
};

static enum ab_status collect(void *user, const struct ab_walk_batch *b, struct ab_err *err)
{
    struct calls *c = user;
    (void)err;
    for (size_t i = 0; i < b->n; i++) {
        struct call *call = &c->at[c->n++];
        *call = (struct call){b->events[i], UINT64_MAX};
        if (b->blocks[i].is_live)
            call->block = b->blocks[i].number;
        call->e.slot = 0; /* another part, other slots */
    }
    return AB_OK;
}

static void read_calls(const char *path, struct calls *out)
{
    struct ab_err err = {0};
    struct ab_walk w = {.path = path, .end = UINT64_MAX, .visit = collect, .user = out};
    out->n = 0;
    if (ab_trace_walk(&w, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
}

static bool ends_block(const struct ab_event *e)
{
    return e->kind == AB_EVENT_FREE || e->released;
}

static bool makes_block(const struct ab_event *e)
{
    return e->kind < AB_EVENT_RESIZE && !e->failed;
}

struct model {
    struct call blocks[N_MAX]; /* what each block of the original asks for now, by number */
    bool is_live[N_MAX];
    uint64_t names[N_MAX]; /* its number in the part; UINT64_MAX = not in it */
    uint32_t threads[N_MAX], n_threads;
    uint64_t n_blocks, next;
    struct calls out;
};

static void push(struct model *m, struct call call, uint64_t original)
{
    uint32_t *thread = &m->threads[call.e.thread];
    if (*thread == UINT32_MAX)
        *thread = m->n_threads++;
    call.e.thread = *thread;
    if (makes_block(&call.e))
        m->names[original] = m->next++;
    call.block = original == UINT64_MAX ? UINT64_MAX : m->names[original];
    m->out.at[m->out.n++] = call;
}

static void follow(struct model *m, const struct call *call)
{
    if (makes_block(&call->e)) {
        m->blocks[call->block] = *call;
        m->is_live[call->block] = true;
        m->n_blocks = call->block + 1;
    } else if (ends_block(&call->e)) {
        m->is_live[call->block] = false;
    } else if (call->e.kind == AB_EVENT_RESIZE && !call->e.failed) {
        m->blocks[call->block].e = (struct ab_event){
            .kind = AB_EVENT_ALLOC, .size = call->e.size, .thread = call->e.thread};
    }
}

static void expect_part(struct model *m, const struct calls *all, size_t begin, size_t end,
                        bool is_keeping)
{
    memset(m, 0, sizeof *m);
    memset(m->names, 0xff, sizeof m->names);
    memset(m->threads, 0xff, sizeof m->threads);
    for (size_t i = 0; i < begin; i++)
        follow(m, &all->at[i]);
    for (uint64_t b = 0; is_keeping && b < m->n_blocks; b++)
        if (m->is_live[b])
            push(m, m->blocks[b], b);
    for (size_t i = begin; i < end; i++) {
        uint64_t block = all->at[i].block;
        bool is_inside = block == UINT64_MAX || makes_block(&all->at[i].e) ||
                         m->names[block] != UINT64_MAX;
        follow(m, &all->at[i]);
        if (is_inside)
            push(m, all->at[i], block);
    }
}

static void compare(const struct calls *expected, const struct calls *got)
{
    assert_int_equal(got->n, expected->n);
    for (size_t i = 0; i < got->n; i++) {
        const struct call *a = &expected->at[i], *b = &got->at[i];
        if (a->e.kind != b->e.kind || a->e.size != b->e.size || a->e.align != b->e.align ||
            a->e.thread != b->e.thread || a->e.failed != b->e.failed ||
            a->e.released != b->e.released || a->block != b->block)
            fail_msg("call %zu of the part is another", i);
    }
}

static char *cut(const char *path, size_t begin, size_t end, bool is_keeping,
                 struct ab_cut_report *report)
{
    struct ab_err err = {0};
    char *part = test_trace_file(NULL, 0);
    FILE *to = fopen(part, "wb");
    struct ab_walk w = {.path = path, .begin = begin, .end = end};
    if (ab_trace_cut(&w, is_keeping, to, report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
    return part;
}

static uint64_t n_ends; /* ends of threads seen in parts */

static void try_part(const char *path, const struct calls *all, const size_t range[2],
                     bool is_keeping)
{
    static struct calls got;
    static struct model m;
    struct ab_cut_report report;
    struct ab_trace_info info;
    struct ab_err err = {0};
    /* a thread may end between the call before the range and the first one in it */
    uint64_t last_us = all->at[range[1] - 1].e.time_us,
             before_us = range[0] > 0 ? all->at[range[0] - 1].e.time_us : 0;
    char *part = cut(path, range[0], range[1], is_keeping, &report);
    if (ab_trace_check(&(struct ab_walk){.path = part}, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    read_calls(part, &got);
    expect_part(&m, all, range[0], range[1], is_keeping);
    compare(&m.out, &got);
    assert_int_equal(report.info.events, got.n);
    assert_int_equal(report.n_kept - report.n_dropped + (range[1] - range[0]), got.n);
    uint64_t n_live = 0;
    for (uint64_t b = 0; b < m.n_blocks; b++)
        n_live += m.is_live[b] && m.names[b] != UINT64_MAX;
    assert_int_equal(info.live_end_blocks, n_live);
    assert_true(info.time_us <= last_us - before_us);
    assert_true(!is_keeping || info.time_us >= last_us - all->at[range[0]].e.time_us);
    n_ends += info.thread_ends;
    unlink(part);
    free(part);
}

static void a_part_of_a_random_trace_is_what_it_should_be(void **state)
{
    (void)state;
    static struct calls all;
    struct ab_rng rng;
    ab_rng_init(&rng, 11, 1);
    for (uint32_t i = 0; i < 30; i++) {
        size_t bytes;
        uint32_t n = i % 5 == 0 ? 5 + i : N_MAX / 2 + i * 50;
        uint8_t *data = test_trace_random((struct test_trace_kind){i, 1 + i % 5, n, i % 3 == 1},
                                          &bytes, NULL);
        char *path = test_trace_file(data, bytes);
        read_calls(path, &all);
        for (unsigned k = 0; k < 6; k++) {
            size_t a = k == 0 ? 0 : ab_rng_below(&rng, n);
            size_t b = k == 1 ? n : a + 1 + ab_rng_below(&rng, n - a);
            try_part(path, &all, (size_t[]){a, b}, k % 2 == 0);
        }
        unlink(path);
        free(path);
        free(data);
    }
    assert_true(n_ends > 50);
}

static void inherited_blocks_stay_so_where_the_part_begins_with_them(void **state)
{
    (void)state;
    static const size_t ranges[][3] = {{0, 9, 6}, {0, 4, 4}, {0, 7, 6}, {2, 9, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct ab_cut_report report;
        struct ab_trace_info info;
        struct ab_err err = {0};
        char *part = cut("tests/golden/traces/good/inherited.abt", ranges[i][0], ranges[i][1], true,
                         &report);
        if (ab_trace_check(&(struct ab_walk){.path = part}, &info, &err) != AB_OK)
            fail_msg("%s", err.text);
        assert_int_equal(info.inherited, ranges[i][2]);
        assert_int_equal(report.info.inherited, ranges[i][2]);
        unlink(part);
        free(part);
    }
}

static void the_whole_trace_cut_is_the_same_file(void **state)
{
    (void)state;
    size_t n;
    struct ab_cut_report report;
    uint8_t *data = test_trace_mixed(70000, &n, NULL), *copy = malloc(n + 1);
    char *path = test_trace_file(data, n);
    char *part = cut(path, 0, UINT64_MAX, true, &report);
    FILE *f = fopen(part, "rb");
    assert_int_equal(fread(copy, 1, n + 1, f), n);
    assert_memory_equal(copy, data, n);
    assert_int_equal(report.n_kept + report.n_dropped, 0);
    fclose(f);
    unlink(part);
    unlink(path);
    free(part);
    free(path);
    free(copy);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_random_trace_is_what_it_should_be),
        cmocka_unit_test(inherited_blocks_stay_so_where_the_part_begins_with_them),
        cmocka_unit_test(the_whole_trace_cut_is_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
