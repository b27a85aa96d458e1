/* SPDX-License-Identifier: MIT
 *
 * Ages a heap that counts: the sizes are those of the tape, and aging happens once.
 */
#include "support/cmocka.h"
#include "support/worker.h"
#include "worker/aged_heap.h"
#include "worker/page_walk.h"

#include <stdlib.h>
#include <string.h>

enum { OPS = 300, SIZES = 3 };

static const uint64_t sizes[SIZES] = {24, 300, 5000};

static struct {
    uint64_t allocs, frees, bytes, others; /* others: of a size that the tape has not */
} heap;

/* Nothing frees the blocks that stay, so they come from an array of the test. */
static _Alignas(16) char room[32 << 20];
static size_t used;

static ab_ref allocate(struct ab_heap *h, size_t n)
{
    bool is_known = false;
    (void)h;
    for (unsigned i = 0; i < SIZES; i++)
        is_known = is_known || sizes[i] == n;
    heap.others += !is_known;
    heap.allocs++;
    heap.bytes += n;
    size_t at = used;
    used += (n + 15) / 16 * 16;
    assert_true(used <= sizeof room);
    return (ab_ref)(room + at);
}

static void give_back(struct ab_heap *h, ab_ref ref, size_t n)
{
    (void)h, (void)ref;
    heap.frees++;
    heap.bytes -= n;
}

static struct ab_heap_face face = {.alloc = allocate, .free = give_back};

struct fixture {
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_worker w;
};

static struct fixture *begin(double occupancy, uint32_t pass)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    memset(&heap, 0, sizeof heap);
    used = 0;
    assert_int_equal(ab_tape_phase(b, "run", true, &err), AB_OK);
    for (uint32_t i = 0; i < OPS; i++) {
        struct ab_request r = {.size = sizes[i % SIZES]};
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    for (uint32_t i = 0; i < OPS; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &f->tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(&f->tape, &f->map, &err), AB_OK);
    f->w.page = calloc(1, sizeof(struct ab_run_page));
    f->w.page->request.pass = pass;
    f->w.page->request.aging = (struct ab_aging_request){occupancy, 2, 1};
    test_worker_open(&f->w, &f->map);
    ab_aged_heap_open(&f->w);
    ab_lanes_open(&f->w);
    return f;
}

static void end(struct fixture *f)
{
    test_worker_close(&f->w);
    ab_tape_map_close(&f->map);
    ab_tape_fini(&f->tape);
    free(f->w.page);
    free(f);
}

static void what_is_reported_is_what_the_heap_has(void **state)
{
    (void)state;
    struct fixture *f = begin(0.75, AB_PASS_THROUGHPUT);
    const struct ab_aging_count *count = &f->w.page->report.aging;
    ab_lanes_run(&f->w, ab_pass_heap, &face, true);
    const uint64_t peak = OPS / SIZES * (24 + 300 + 5000);
    assert_true(f->map.image->facts.live_peak_bytes == peak);
    assert_true(ab_aged_heap_facts(&f->w)->live_peak_bytes == peak + count->made_bytes);
    assert_true(ab_aged_heap_facts(&f->w)->live_peak_blocks == OPS + count->made_blocks);
    assert_int_equal(heap.others, 0);
    assert_true(heap.allocs == OPS + count->made_blocks);
    assert_true(heap.frees == OPS + count->made_blocks - count->blocks);
    assert_true(heap.bytes == count->bytes); /* no more lives, and none of it was freed */
    assert_true(count->made_bytes >= 2 * peak && count->made_bytes < 2 * peak + 5000);
    assert_true((double)count->bytes <= 0.75 * (double)count->made_bytes &&
                (double)count->bytes > 0.75 * (double)count->made_bytes - 5000);
    struct ab_given given;
    uint64_t n = 0, bytes = 0;
    for (; ab_aged_heap_block(&f->w, n, &given); n++)
        bytes += given.size;
    assert_true(n == count->blocks && bytes == count->bytes);
    uint64_t allocs = heap.allocs;
    ab_aged_heap_make(&f->w.lanes[0]);
    assert_true(heap.allocs == allocs);
    end(f);
}

static void a_fresh_heap_has_none(void **state)
{
    (void)state;
    struct fixture *f = begin(0, AB_PASS_THROUGHPUT);
    assert_null(f->w.aging);
    ab_lanes_run(&f->w, ab_pass_heap, &face, true);
    assert_true(heap.allocs == OPS && heap.bytes == 0);
    end(f);
}

static void proofs_have_none(void **state)
{
    (void)state;
    struct fixture *f = begin(0.5, AB_PASS_VERIFY);
    assert_null(f->w.aging);
    assert_true(ab_aged_heap_facts(&f->w) == &f->map.image->facts);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reported_is_what_the_heap_has),
        cmocka_unit_test(a_fresh_heap_has_none),
        cmocka_unit_test(proofs_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
