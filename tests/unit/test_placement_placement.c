/* SPDX-License-Identifier: MIT
 *
 * A placement: which heap each request goes to, what each heap has to serve, which resets empty one;
 * over one lane and over two, by group, size and lane.
 * tests: placement/placement.c
 */
#include "placement/placement.h"
#include "support/cmocka.h"
#include "support/tape.h"
#include "tape/tape_file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGION = 0, OTHER = 1 }; /* groups, and the heaps that they go to */

static struct ab_err err;
static const struct ab_placement_heap two[2] = {
    {.source = AB_SOURCE_BUILTIN, .name = "arena", .builtin = "arena"},
    {.source = AB_SOURCE_BUILTIN, .name = "pool", .builtin = "pool"}};

#define BY(range, from, to, to_heap) \
    { \
        .ranges = {[range] = {true, from, to}}, .heap = (to_heap), .odd_heap = (to_heap) \
    }
#define REST(to_heap) \
    { \
        .heap = (to_heap), .odd_heap = (to_heap) \
    }
static const struct ab_placement_rule by_group[] = {
    BY(AB_PLACEMENT_GROUP, REGION, REGION, 0),
    REST(1),
};

static void alloc(struct ab_tape_builder *b, uint32_t group, uint32_t slot, uint64_t size)
{
    struct ab_request r = {.size = size};
    ab_tape_group(b, group);
    assert_int_equal(ab_tape_alloc(b, slot, &r, &err), AB_OK);
}

static void resize(struct ab_tape_builder *b, uint32_t group, uint32_t slot, uint64_t size)
{
    struct ab_request r = {.size = size};
    ab_tape_group(b, group);
    assert_int_equal(ab_tape_resize(b, slot, &r, &err), AB_OK);
}

static struct ab_tape_builder *begin(void)
{
    struct ab_tape_builder *b = ab_tape_begin();
    assert_int_equal(ab_tape_phase(b, "work", true, &err), AB_OK);
    return b;
}

static void end(struct ab_tape_builder *b, struct ab_tape *tape, struct ab_tape_map *map)
{
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(tape, map, &err), AB_OK);
}

static void placement(const struct ab_placement_rule *rules, size_t n, const struct ab_tape *tape,
                      const struct ab_tape_map *map, struct ab_placement *out)
{
    const struct ab_placement_plan plan = {
        .rules = rules, .n_rules = n, .heaps = two, .n_heaps = 2};
    assert_int_equal(ab_placement_make(&plan, map, tape->groups, out, &err), AB_OK);
}

static const uint8_t *choices(const struct ab_placement *r, uint32_t lane)
{
    return ab_placement_choices(r->image, 0, lane);
}

static uint16_t reset_mask(const struct ab_placement *r, uint32_t i)
{
    return ab_placement_resets(r->image, 0, 0)[i];
}

static void close_all(struct ab_placement *r, struct ab_tape *tape, struct ab_tape_map *map)
{
    ab_placement_close(r);
    ab_tape_map_close(map);
    ab_tape_fini(tape);
}

static void a_reset_empties_its_heap_while_others_live(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, REGION, 0, 100);
    alloc(b, OTHER, 1, 48);
    alloc(b, REGION, 2, 200);
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){0, 2}, 2, &err), AB_OK);
    alloc(b, REGION, 0, 8);
    alloc(b, REGION, 3, 8);
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){0}, 1, &err), AB_OK); /* 3 lives on */
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){3, 1}, 2, &err), AB_OK);
    end(b, &tape, &map);
    placement(by_group, 2, &tape, &map, &r);
    assert_memory_equal(choices(&r, 0), "\0\1\0\0\0", 5);
    assert_int_equal(reset_mask(&r, 0), 1);
    assert_int_equal(reset_mask(&r, 1), 0);
    assert_int_equal(reset_mask(&r, 2), 3);
    const struct ab_placement_heap *heap = ab_placement_heap_at(r.image, 0);
    assert_int_equal(heap->facts.live_peak_blocks, 2);
    assert_int_equal(heap->facts.live_peak_bytes, 300);
    assert_int_equal(heap->facts.total_blocks, 4);
    assert_int_equal(heap->facts.total_bytes, 316);
    assert_int_equal(heap->facts.largest_bytes, 200);
    assert_int_equal(heap->facts.kinds, 1u << AB_OP_ALLOC | 1u << AB_OP_FREE);
    heap = ab_placement_heap_at(r.image, 1);
    assert_int_equal(heap->facts.total_blocks, 1);
    assert_int_equal(heap->facts.live_peak_bytes, 48);
    close_all(&r, &tape, &map);
}

/* From heap to heap a resize is an allocation and a free, within one a resize. */
static void a_resize_may_change_the_heap(void **state)
{
    (void)state;
    static const struct ab_placement_rule by_size[] = {
        BY(AB_PLACEMENT_SIZE, 0, 64, 0),
        REST(1),
    };
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0, 64);
    resize(b, 0, 0, 65);
    resize(b, 0, 0, 80);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    end(b, &tape, &map);
    placement(by_size, 2, &tape, &map, &r);
    assert_memory_equal(choices(&r, 0), "\0\1\1", 3);
    assert_int_equal(ab_placement_heap_at(r.image, 0)->facts.kinds,
                     1u << AB_OP_ALLOC | 1u << AB_OP_FREE);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->facts.kinds,
                     1u << AB_OP_ALLOC | 1u << AB_OP_RESIZE | 1u << AB_OP_FREE);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->facts.live_peak_blocks, 1);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->facts.live_peak_bytes, 80);
    close_all(&r, &tape, &map);
}

static void lanes_have_streams_of_their_own(void **state)
{
    (void)state;
    static const struct ab_placement_rule by_lane[] = {
        BY(AB_PLACEMENT_LANE, 1, 1, 0),
        REST(1),
    };
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0, 16);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    alloc(b, 0, 1, 32);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK); /* lane 0's */
    assert_int_equal(ab_tape_phase(b, "more", true, &err), AB_OK);
    alloc(b, 0, 2, 16);
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){2, 1}, 2, &err), AB_OK);
    end(b, &tape, &map);
    placement(by_lane, 2, &tape, &map, &r);
    assert_memory_equal(choices(&r, 0), "\1\1", 2);
    assert_memory_equal(choices(&r, 1), "\0", 1);
    assert_int_equal(reset_mask(&r, 0), 3); /* a phase of one lane */
    assert_int_equal(ab_placement_heap_at(r.image, 1)->n_lanes, 2);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->n_remote, 1);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->facts.lanes, 2);
    close_all(&r, &tape, &map);
}

/* As a program has it that keeps a heap to one thread: without a lock. */
static void what_one_lane_alone_uses_is_told_of_one(void **state)
{
    (void)state;
    static const struct ab_placement_rule by_size[] = {
        BY(AB_PLACEMENT_SIZE, 16, 16, 0),
        BY(AB_PLACEMENT_SIZE, 32, 32, 1),
        REST(2),
    };
    struct ab_placement_heap three[3] = {two[0], two[1], two[0]};
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0, 16);
    alloc(b, 0, 1, 64);
    alloc(b, 0, 2, 32);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    alloc(b, 0, 3, 64);
    assert_int_equal(ab_tape_free(b, 2, &err), AB_OK); /* lane 0's */
    end(b, &tape, &map);
    three[0].narrows = three[1].narrows = three[2].narrows = true;
    const struct ab_placement_plan plan = {
        .rules = by_size, .n_rules = 3, .heaps = three, .n_heaps = 3};
    assert_int_equal(ab_placement_make(&plan, &map, tape.groups, &r, &err), AB_OK);
    assert_int_equal(ab_placement_heap_at(r.image, 0)->facts.lanes, 1);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->facts.lanes, 2);
    assert_int_equal(ab_placement_heap_at(r.image, 2)->facts.lanes, 2);
    ab_placement_close(&r);
    three[0].narrows = false; /* its parts have the numbers of all lanes */
    assert_int_equal(ab_placement_make(&plan, &map, tape.groups, &r, &err), AB_OK);
    assert_int_equal(ab_placement_heap_at(r.image, 0)->facts.lanes, 2);
    close_all(&r, &tape, &map);
}

static void a_scope_goes_back_in_the_heaps_where_all_since_then_dies(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    uint32_t depth;
    bool is_one;
    struct ab_tape_builder *b = begin();
    alloc(b, REGION, 0, 100);
    for (uint32_t round = 0; round < 2; round++) {
        assert_int_equal(ab_tape_mark(b, &depth, &err), AB_OK);
        alloc(b, REGION, 1, 8);
        alloc(b, round == 0 ? OTHER : REGION, 2 + round, 48); /* it lives on */
        assert_int_equal(ab_tape_release(b, depth, (const uint32_t[]){1}, 1, &is_one, &err), AB_OK);
        assert_false(is_one); /* in one heap for all */
        ab_tape_forget_mark(b, depth);
    }
    end(b, &tape, &map);
    placement(by_group, 2, &tape, &map, &r);
    const uint16_t expected[] = {1, 0, 1, 0, 0, 0}; /* mark; emptied, released */
    assert_memory_equal(ab_placement_resets(r.image, 0, 0), expected, sizeof expected);
    close_all(&r, &tape, &map);
}

/* Heap 0 loses its block, heap 1 does not; in the last round heap 0 is empty meanwhile, and renewed. */
static void where_frees_came_one_by_one_each_heap_goes_back_by_itself(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    uint32_t depth;
    bool is_one;
    for (uint32_t renews = 0; renews < 2; renews++) {
        struct ab_tape_builder *b = begin();
        alloc(b, REGION, 0, 100);
        for (uint32_t round = 0; round < 3; round++) {
            assert_int_equal(ab_tape_mark(b, &depth, &err), AB_OK);
            alloc(b, REGION, 1, 8);
            alloc(b, OTHER, 2, 48);
            if (round == 2)
                assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
            for (uint32_t slot = 1; slot < 3; slot++)
                assert_int_equal(ab_tape_free(b, slot, &err), AB_OK);
            for (uint32_t i = 0; i < 2 && round == 2; i++) { /* empty twice */
                alloc(b, REGION, 0, 100);
                assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
            }
            assert_int_equal(ab_tape_release(b, depth, NULL, 0, &is_one, &err), AB_OK);
            assert_true(is_one);
            ab_tape_forget_mark(b, depth);
        }
        end(b, &tape, &map);
        struct ab_placement_heap heaps[2] = {two[0], two[1]};
        const struct ab_placement_plan plan = {
            .rules = by_group, .n_rules = 2, .heaps = heaps, .n_heaps = 2};
        heaps[0].renews = renews;
        assert_int_equal(ab_placement_make(&plan, &map, tape.groups, &r, &err), AB_OK);
        const uint16_t expected[] = {3, 0, 3, 3, 0, 3, renews ? 2 : 3, 0, renews ? 2 : 3};
        assert_memory_equal(ab_placement_resets(r.image, 0, 0), expected, sizeof expected);
        close_all(&r, &tape, &map);
    }
}

static void a_reset_beside_other_lanes_is_not_in_bulk(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, REGION, 0, 16);
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){0}, 1, &err), AB_OK);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    alloc(b, OTHER, 1, 16);
    end(b, &tape, &map);
    placement(by_group, 2, &tape, &map, &r);
    assert_int_equal(reset_mask(&r, 0), 0);
    close_all(&r, &tape, &map);
}

/* Among its frees then stands what waits for the other lane. */
static void a_reset_may_wait_for_other_lanes(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, REGION, 0, 16);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    alloc(b, REGION, 1, 16);
    assert_int_equal(ab_tape_lane(b, 0, &err), AB_OK);
    assert_int_equal(ab_tape_reset(b, (const uint32_t[]){0, 1}, 2, &err), AB_OK);
    end(b, &tape, &map);
    assert_true(tape.n_edges > 0);
    placement(by_group, 2, &tape, &map, &r);
    assert_int_equal(reset_mask(&r, 0), 0);
    assert_int_equal(r.uses[0][0].n_calls[AB_OP_FREE], 2);
    assert_int_equal(r.uses[0][0].n_calls[AB_OP_RESET], 0);
    close_all(&r, &tape, &map);
}

static void no_one_can_write_to_it_and_the_null_has_the_same_streams(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r, null;
    struct ab_tape_builder *b = begin();
    alloc(b, REGION, 0, 16);
    alloc(b, OTHER, 1, 24);
    end(b, &tape, &map);
    placement(by_group, 2, &tape, &map, &r);
    assert_true(pwrite(r.fd, "x", 1, 0) < 0);
    assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0) == MAP_FAILED);
    assert_false(ab_placement_has_null(&r));
    assert_int_equal(ab_placement_make_null(&r, &null, &err), AB_OK);
    assert_true(null.image->is_null && !r.image->is_null); /* it copies nothing */
    assert_true(ab_placement_has_null(&null));
    assert_memory_equal(choices(&null, 0), choices(&r, 0), 2);
    assert_int_equal(ab_placement_heap_at(null.image, 1)->facts.largest_bytes, 24);
    assert_int_equal(strlen(r.sha256), 64);
    ab_placement_close(&null);
    close_all(&r, &tape, &map);
}

static void take_digest(const struct ab_tape *tape, const struct ab_tape_map *map,
                        const struct ab_placement_rule *rules,
                        const struct ab_placement_heap *heaps, uint32_t n_heaps, char sha256[65])
{
    struct ab_placement r;
    const struct ab_placement_plan plan = {
        .rules = rules, .n_rules = 2, .heaps = heaps, .n_heaps = n_heaps};
    assert_int_equal(ab_placement_make(&plan, map, tape->groups, &r, &err), AB_OK);
    memcpy(sha256, r.sha256, 65);
    ab_placement_close(&r);
}

/* What serves does not matter; which heap is chosen, how many there are and what is renewed does. */
static void nulls_are_the_same_by_what_the_harness_does(void **state)
{
    (void)state;
    static const struct ab_placement_rule swapped[] = {
        {.ranges[AB_PLACEMENT_GROUP] = {true, REGION, REGION}, .heap = 1}, REST(0)};
    struct ab_placement_heap heaps[3];
    struct ab_tape tape;
    struct ab_tape_map map;
    char a[65], b[65];
    struct ab_tape_builder *builder = begin();
    alloc(builder, REGION, 0, 16);
    alloc(builder, OTHER, 1, 24);
    assert_int_equal(ab_tape_free(builder, 0, &err), AB_OK);
    end(builder, &tape, &map);
    memset(heaps, 0xa5, sizeof heaps); /* what is between the members of another heap stays out */
    heaps[0] = two[1], heaps[1] = two[0], heaps[2] = two[0];
    take_digest(&tape, &map, by_group, two, 2, a);
    take_digest(&tape, &map, by_group, heaps, 2, b);
    assert_string_equal(a, b);
    take_digest(&tape, &map, by_group, heaps, 3, b);
    assert_string_not_equal(a, b);
    take_digest(&tape, &map, swapped, two, 2, b);
    assert_string_not_equal(a, b);
    heaps[0].inlined = AB_PLACEMENT_POOL;
    take_digest(&tape, &map, by_group, heaps, 2, b);
    assert_string_not_equal(a, b);
    heaps[0].inlined = AB_PLACEMENT_CALLED;
    heaps[0].renews = true;
    take_digest(&tape, &map, by_group, heaps, 2, b);
    assert_string_not_equal(a, b);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

/* ---- renewal ---- */

static const uint32_t *lives(const struct ab_placement *r, uint32_t heap)
{
    return ab_placement_lives(r->image, 0, heap);
}

static void place_renewed(uint8_t *const *groups, const struct ab_tape_map *map,
                          const uint8_t *origins, size_t n_origins, struct ab_placement *out,
                          enum ab_status expected)
{
    static const struct ab_placement_rule rules[] = {
        {.asks_site = true, .classes = 1u << 1, .heap = 0, .odd_heap = 2},
        {.asks_scope = true, .heap = 0, .odd_heap = 2},
        REST(1),
    };
    struct ab_placement_heap three[3] = {two[0], two[1], two[0]};
    three[0].renews = three[2].renews = true;
    const struct ab_placement_plan plan = {.rules = rules,
                                           .n_rules = 3,
                                           .heaps = three,
                                           .n_heaps = 3,
                                           .origins = origins,
                                           .n_origins = n_origins};
    assert_int_equal(ab_placement_make(&plan, map, groups, out, &err), expected);
}

/* By what the allocation comes from; a resize goes with its block. */
static void origins_choose_and_an_empty_heap_is_renewed(void **state)
{
    (void)state;
    static const uint8_t origins[] = {1, AB_ORIGIN_SCOPED, 2, AB_ORIGIN_SCOPED | AB_ORIGIN_ODD, 1};
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r, null;
    struct ab_tape_builder *b = begin();
    for (uint32_t slot = 0; slot < 4; slot++)
        alloc(b, 0, slot, 32);
    resize(b, 0, 1, 64);
    for (uint32_t slot = 0; slot < 4; slot++)
        assert_int_equal(ab_tape_free(b, slot, &err), AB_OK);
    alloc(b, 0, 0, 32);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    end(b, &tape, &map);
    place_renewed(tape.groups, &map, origins, 5, &r, AB_OK);
    assert_memory_equal(choices(&r, 0), "\0\0\1\2\0\0", 6);
    const uint32_t first[] = {2, 1, AB_PLACEMENT_NEVER}, third[] = {1, AB_PLACEMENT_NEVER};
    assert_int_equal(ab_placement_heap_at(r.image, 0)->n_lives, 2);
    assert_memory_equal(lives(&r, 0), first, sizeof first);
    assert_memory_equal(lives(&r, 2), third, sizeof third);
    assert_int_equal(ab_placement_heap_at(r.image, 1)->renews, 0); /* it did not ask for it */
    assert_int_equal(ab_placement_make_null(&r, &null, &err), AB_OK);
    assert_memory_equal(lives(&null, 0), first, sizeof first); /* the counting has its price */
    assert_int_equal(r.n_requests[0], 2);
    assert_int_equal(r.n_requests[1], 3);
    assert_int_equal(r.n_requests[2], 1);
    ab_placement_close(&null);
    ab_placement_close(&r);
    place_renewed(tape.groups, &map, origins, 4, &r, AB_INPUT);
    assert_non_null(strstr(err.text, "has changed"));
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

/* The burst is cut off and written. */
static void add_burst(struct ab_tape_builder *b, struct ab_tape_file *file, struct ab_tape *total)
{
    const struct ab_tape *burst;
    assert_int_equal(ab_tape_cut(b, &burst, &err), AB_OK);
    assert_int_equal(ab_tape_file_add(file, burst, &err), AB_OK);
    *total = *burst;
}

static void work_in_bursts(struct ab_tape_map *map)
{
    struct ab_tape_builder *b = begin();
    struct ab_tape_file file;
    struct ab_tape total;
    assert_int_equal(ab_tape_file_begin(false, &file, &err), AB_OK);
    alloc(b, 0, 0, 32);
    alloc(b, 0, 1, 32);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    add_burst(b, &file, &total);
    assert_int_equal(ab_tape_phase(b, "work", true, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 1, &err), AB_OK);
    alloc(b, 0, 0, 48);
    alloc(b, 0, 1, 64);
    assert_int_equal(ab_tape_free(b, 1, &err), AB_OK);
    add_burst(b, &file, &total);
    struct ab_phase phase = {.name = "work", .is_measured = true, .end = 7};
    total.phases = &phase;
    assert_int_equal(ab_tape_file_end(&file, &total, map, &err), AB_OK);
    ab_tape_abandon(b);
}

static void check_burst(const struct ab_placement *r, uint32_t burst, const char *chosen,
                        const uint32_t *frees, size_t n)
{
    assert_memory_equal(ab_placement_choices(r->image, burst, 0), chosen, 2);
    assert_memory_equal(ab_placement_lives(r->image, burst, 0), frees, n * sizeof frees[0]);
    assert_int_equal(ab_placement_part(r->image, burst) % 4096, 0);
    assert_true(ab_placement_part(r->image, burst) + r->image->most_bytes <= r->image->total_bytes);
}

/* A life that begins in one burst and ends in the next is counted from the begin of that one. */
static void a_tape_in_bursts_has_a_part_for_each(void **state)
{
    (void)state;
    static const uint8_t origins[] = {1, 1, 0, 1};
    static const uint32_t none[] = {AB_PLACEMENT_NEVER}, both[] = {1, 1, AB_PLACEMENT_NEVER};
    static const uint8_t heap_of[] = {0, 0, 0, 0, 1, 0, 0};
    struct ab_tape_map map;
    struct ab_placement r, null;
    work_in_bursts(&map);
    assert_int_equal(map.image->n_bursts, 2);
    place_renewed(NULL, &map, origins, 4, &r, AB_OK);
    assert_int_equal(ab_placement_make_null(&r, &null, &err), AB_OK);
    for (const struct ab_placement *of = &r; of != NULL; of = of == &r ? &null : NULL) {
        check_burst(of, 0, "\0\0", none, 1);
        check_burst(of, 1, "\1\0", both, 3);
        assert_int_equal(ab_placement_heap_at(of->image, 0)->renews, 1);
        assert_int_equal(ab_placement_heap_at(of->image, 0)->n_lives, 2);
        assert_int_equal(ab_placement_heap_at(of->image, 0)->facts.live_peak_bytes, 64);
        assert_true(pwrite(of->fd, "x", 1, 0) < 0);
    }
    assert_memory_equal(r.heap_of, heap_of, sizeof heap_of);
    ab_placement_forget(&r); /* it can be read again */
    assert_memory_equal(r.heap_of, heap_of, sizeof heap_of);
    assert_int_equal(r.uses[0][0].n_calls[AB_OP_FREE], 3);
    assert_int_equal(r.uses[0][0].live_peak_blocks, 2);
    ab_placement_close(&null);
    ab_placement_close(&r);
    place_renewed(NULL, &map, origins, 3, &r, AB_INPUT);
    ab_tape_map_close(&map);
}

/* What is refused in the program may be served here, and is freed then: frees tell nothing. */
static void a_heap_that_refuses_is_not_renewed(void **state)
{
    (void)state;
    static const uint8_t origins[] = {1, 1};
    const struct ab_request refused = {.size = 32, .may_fail = true};
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0, 32);
    assert_int_equal(ab_tape_alloc(b, 1, &refused, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    end(b, &tape, &map);
    place_renewed(tape.groups, &map, origins, 2, &r, AB_OK);
    assert_int_equal(ab_placement_heap_at(r.image, 0)->renews, 0);
    close_all(&r, &tape, &map);
}

/* Whether such a block is there at all, and is freed or resized then, is up to the heap. */
static void a_heap_that_resizes_blocks_of_0_bytes_is_not_renewed(void **state)
{
    (void)state;
    static const uint8_t origins[] = {1, 1};
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    for (uint64_t size = 0; size < 2; size++) {
        struct ab_tape_builder *b = begin();
        alloc(b, 0, 0, size);
        alloc(b, 0, 1, 64);
        resize(b, 0, 0, 100);
        assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
        assert_int_equal(ab_tape_free(b, 1, &err), AB_OK);
        end(b, &tape, &map);
        place_renewed(tape.groups, &map, origins, 2, &r, AB_OK);
        assert_int_equal(ab_placement_heap_at(r.image, 0)->renews, size);
        close_all(&r, &tape, &map);
    }
}

static void a_heap_of_two_lanes_is_not_renewed(void **state)
{
    (void)state;
    static const uint8_t origins[] = {1, 0, 1};
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_placement r;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0, 32);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    alloc(b, 0, 0, 32);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    alloc(b, 0, 1, 32);
    assert_int_equal(ab_tape_free(b, 1, &err), AB_OK);
    end(b, &tape, &map);
    place_renewed(tape.groups, &map, origins, 3, &r, AB_OK);
    assert_int_equal(ab_placement_heap_at(r.image, 0)->renews, 0);
    close_all(&r, &tape, &map);
}

/* The digest says what the work is, and a placement is no part of that. */
static void groups_are_in_no_digest(void **state)
{
    (void)state;
    struct ab_tape plain, grouped;
    struct ab_request request = {.size = 16};
    struct ab_tape_builder *b = begin();
    assert_int_equal(ab_tape_alloc(b, 0, &request, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &plain, &err), AB_OK);
    assert_null(plain.groups);
    b = begin();
    alloc(b, 5, 0, 16);
    assert_int_equal(ab_tape_end(b, &grouped, &err), AB_OK);
    assert_int_equal(grouped.groups[0][0], 5);
    assert_string_equal(plain.sha256, grouped.sha256);
    ab_tape_fini(&plain);
    ab_tape_fini(&grouped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_empties_its_heap_while_others_live),
        cmocka_unit_test(a_resize_may_change_the_heap),
        cmocka_unit_test(lanes_have_streams_of_their_own),
        cmocka_unit_test(what_one_lane_alone_uses_is_told_of_one),
        cmocka_unit_test(a_scope_goes_back_in_the_heaps_where_all_since_then_dies),
        cmocka_unit_test(where_frees_came_one_by_one_each_heap_goes_back_by_itself),
        cmocka_unit_test(a_reset_beside_other_lanes_is_not_in_bulk),
        cmocka_unit_test(a_reset_may_wait_for_other_lanes),
        cmocka_unit_test(no_one_can_write_to_it_and_the_null_has_the_same_streams),
        cmocka_unit_test(nulls_are_the_same_by_what_the_harness_does),
        cmocka_unit_test(origins_choose_and_an_empty_heap_is_renewed),
        cmocka_unit_test(a_tape_in_bursts_has_a_part_for_each),
        cmocka_unit_test(a_heap_that_refuses_is_not_renewed),
        cmocka_unit_test(a_heap_that_resizes_blocks_of_0_bytes_is_not_renewed),
        cmocka_unit_test(a_heap_of_two_lanes_is_not_renewed),
        cmocka_unit_test(groups_are_in_no_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
