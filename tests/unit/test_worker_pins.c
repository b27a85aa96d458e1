/* SPDX-License-Identifier: MIT
 *
 * Who pins the pages, of blocks at random places in memory that this test writes itself: each number is
 * counted a second time, byte by byte.
 * tests: sort.c
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "wire/pins_report.h"
#include "worker/memory_pass.h"
#include "worker/pins.h"
#include "worker/sort.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SLOTS = 4000, OWNERS = 9, PAGES = 2048 /* 8 MiB */, RUNS = 4096 };
#define STRETCH (UINT64_C(1) << AB_STRETCH_LOG2)
#define BYTES ((uint64_t)PAGES * PAGE)

struct run {
    struct ab_run_page page;
    struct ab_pins_report pins;
};

struct fixture {
    struct run *run;
    struct ab_tape_image image;
    struct ab_phase phases[1];
    struct ab_memory_report report;
    struct ab_memory_pass m;
    struct ab_worker w;
    struct ab_block_entry entries[SLOTS];
    struct ab_page_run runs[RUNS];
    uint32_t owners[SLOTS];
    char *room; /* aligned to a stretch */
    void *mapped;
};

enum { PLACES = 3, MAP_AT = 1 << 20 };
static bool has_stacks; /* what blocks have are stacks then, each of which belongs to a place */

static uint32_t place_of(uint32_t owner)
{
    return has_stacks ? owner % PLACES : owner;
}

static void write_map(struct ab_pins_report *r)
{
    r->n_owners = PLACES;
    r->n_stacks = OWNERS;
    r->map_at = MAP_AT;
    for (uint32_t o = 0; o < OWNERS; o++) {
        uint32_t place = place_of(o);
        assert_int_equal(
            pwrite(AB_WORKER_FD_OWNERS, &place, sizeof place, MAP_AT + (off_t)(o * sizeof place)),
            sizeof place);
    }
}

static int open_pins(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    f->run = calloc(1, sizeof *f->run);
    f->run->page.request.pass = AB_PASS_MEMORY;
    f->run->page.request.pins_offset = offsetof(struct run, pins);
    f->run->pins.by = AB_PINS_BY_FILE;
    f->run->pins.n_owners = OWNERS;
    f->image.facts.live_peak_bytes = BYTES;
    f->image.n_slots = SLOTS;
    f->phases[0] = (struct ab_phase){.is_measured = true, .end = 100};
    f->w = (struct ab_worker){.image = &f->image, .page = &f->run->page};
    f->m.report = &f->report;
    f->m.phases = f->phases;
    f->m.n_phases = 1;
    f->m.baseline = (struct ab_page_runs){f->runs, 0, RUNS};
    f->m.book = (struct ab_block_book){.entries = f->entries, .n_slots = SLOTS};
    memset(&f->report.marks, 0xff, sizeof f->report.marks);
    ab_residency_open(&f->m.residency);
    int fd = memfd_create("owners", 0);
    assert_true(fd >= 0 && dup2(fd, AB_WORKER_FD_OWNERS) >= 0);
    close(fd);
    if (has_stacks)
        write_map(&f->run->pins);
    ab_pins_open(&f->w, &f->m);
    assert_int_equal(ftruncate(AB_WORKER_FD_OWNERS, 0), 0); /* put() appends what blocks have */
    f->mapped = mmap(NULL, BYTES + STRETCH, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(f->mapped, MAP_FAILED);
    madvise(f->mapped, BYTES + STRETCH, MADV_NOHUGEPAGE);
    f->room = (char *)(((uintptr_t)f->mapped + STRETCH - 1) & ~(STRETCH - 1));
    return 0;
}

static int close_pins(void **state)
{
    struct fixture *f = *state;
    munmap(f->mapped, BYTES + STRETCH);
    free(f->run);
    free(f);
    return 0;
}

static void put(struct fixture *f, uint32_t slot, uint64_t at, uint64_t size, uint64_t usable,
                uint32_t owner)
{
    struct ab_given given = {.at = (uintptr_t)f->room + at, .size = size, .usable = usable};
    ab_book_put(&f->m.book, slot, &given);
    assert_int_equal(write(AB_WORKER_FD_OWNERS, &owner, sizeof owner), sizeof owner);
    ab_pins_take(f->m.book.pins, slot, &given, slot);
    f->owners[slot] = owner;
}

static uint64_t n_looks = UINT64_C(1) << 40;

/* The state of the end of the phase. */
static const struct ab_pins_state *look(struct fixture *f)
{
    struct ab_memory_state s = {.footprint_bytes = 123456, .is_checked = 1};
    struct ab_page_split split;
    memset(&split, 0xff, sizeof split);
    split.external = n_looks += 1 << 20; /* each is the worst so far */
    f->report.marks.worst_external_bytes = 0;
    f->m.clock = 100;
    f->run->pins.n_states = AB_PINS_END;
    ab_pins_visit(&f->m, &s, &split, true);
    assert_false(f->run->pins.is_lost);
    assert_int_equal(f->run->pins.n_states, AB_PINS_END + 1);
    return &f->run->pins.states[AB_PINS_END];
}

static const struct ab_pins_row *row_of(const struct ab_pins_state *s, uint32_t owner)
{
    for (uint32_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].owner == owner)
            return &s->rows[i];
    return NULL;
}

static void bytes_of_a_page_are_shared_by_the_bytes_on_it(void **state)
{
    struct fixture *f = *state;
    f->room[0] = f->room[PAGE] = 1;
    put(f, 0, 0, 100, 100, 1);
    put(f, 1, 200, 50, 100, 2);
    put(f, 2, PAGE, 10, 16, 3);
    const struct ab_pins_state *s = look(f);
    assert_int_equal(row_of(s, 1)->external, (PAGE - 200) / 2);
    assert_int_equal(row_of(s, 2)->external, (PAGE - 200) / 2);
    assert_int_equal(row_of(s, 2)->internal, 50);
    assert_int_equal(row_of(s, 3)->external, PAGE - 16);
    assert_int_equal(s->external, 2 * PAGE - 216);
    assert_int_equal(s->external_2m, STRETCH - 216);
    put(f, 3, 400, 1, 1, 4); /* 3,895 bytes by 201 parts: two to the largest remainders */
    s = look(f);
    assert_int_equal(row_of(s, 1)->external, 1938);
    assert_int_equal(row_of(s, 2)->external, 1938);
    assert_int_equal(row_of(s, 4)->external, 19);
}

static void a_page_without_blocks_is_its_last_owner_s(void **state)
{
    struct fixture *f = *state;
    memset(f->room, 1, 4 * PAGE);
    put(f, 0, 0, 100, 100, 1);
    put(f, 1, 200, 100, 100, 2);
    put(f, 2, PAGE, 2 * PAGE, 2 * PAGE, 3); /* the fourth page has never had one */
    ab_book_drop(&f->m.book, 0);
    ab_book_drop(&f->m.book, 1);
    ab_book_drop(&f->m.book, 2);
    const struct ab_pins_state *s = look(f);
    assert_null(row_of(s, 1));
    assert_int_equal(row_of(s, 2)->retained, PAGE);
    assert_int_equal(row_of(s, 3)->retained, 2 * PAGE);
    assert_int_equal(row_of(s, 3)->blocks, 0);
    madvise(f->room + PAGE, PAGE, MADV_DONTNEED);
    assert_int_equal(row_of(look(f), 3)->retained, PAGE);
}

static void medians_are_of_live_blocks(void **state)
{
    struct fixture *f = *state;
    f->room[0] = 1;
    for (uint32_t i = 0; i < 5; i++)
        put(f, 10 + i, i * 64, 10 * (i + 1), 60, 1);
    ab_book_drop(&f->m.book, 10);
    const struct ab_pins_row *row = row_of(look(f), 1);
    assert_int_equal(row->blocks, 4);
    assert_int_equal(row->median_size, 30);
    assert_int_equal(row->median_birth, 12);
}

/* ---- any book, counted by bytes ---- */

static uint8_t owner_at[PAGES * PAGE]; /* + 1, of the byte; 0 = no block's */
static bool is_requested[PAGES * PAGE], is_there[PAGES];
static uint8_t last_owner[PAGES];

struct expected {
    uint64_t live, internal, external, retained, external_2m, pages;
};

/* Whole bytes by the largest remainder, one at a time. */
static void share(const uint64_t *by, uint64_t used, uint64_t external, uint64_t *to)
{
    uint64_t remainders[OWNERS], left = external;
    for (unsigned o = 0; o < OWNERS; o++) {
        to[o] = by[o] * external / used;
        remainders[o] = by[o] * external - to[o] * used;
        left -= to[o];
    }
    for (; left > 0; left--) {
        unsigned best = OWNERS;
        for (unsigned o = 0; o < OWNERS; o++)
            if (by[o] > 0 && remainders[o] != UINT64_MAX &&
                (best == OWNERS || remainders[o] > remainders[best]))
                best = o;
        to[best]++;
        remainders[best] = UINT64_MAX;
    }
}

static uint64_t count_page(uint64_t page, struct expected *e, uint64_t on_page[OWNERS])
{
    uint64_t used = 0, shares[OWNERS];
    for (uint64_t i = page * PAGE; i < (page + 1) * PAGE; i++) {
        if (owner_at[i] == 0)
            continue;
        used++;
        on_page[owner_at[i] - 1]++;
        e[owner_at[i] - 1].live += is_requested[i];
        e[owner_at[i] - 1].internal += !is_requested[i];
    }
    if (used == 0)
        return 0;
    share(on_page, used, PAGE - used, shares);
    bool is_on_page[OWNERS] = {false};
    for (unsigned o = 0; o < OWNERS; o++) {
        e[o].external += shares[o];
        is_on_page[place_of(o)] |= on_page[o] > 0;
    }
    for (unsigned o = 0; o < OWNERS; o++)
        e[o].pages += is_on_page[o];
    return used;
}

static bool has_block(uint64_t page)
{
    for (uint64_t i = page * PAGE; i < (page + 1) * PAGE; i++)
        if (owner_at[i] != 0)
            return true;
    return false;
}

static void count_all(struct expected e[OWNERS])
{
    memset(e, 0, OWNERS * sizeof e[0]);
    for (uint64_t s = 0; s < BYTES / STRETCH; s++) {
        uint64_t used = 0, in_stretch[OWNERS] = {0}, shares[OWNERS];
        for (uint64_t page = s * STRETCH / PAGE; page < (s + 1) * STRETCH / PAGE; page++) {
            uint64_t on_page[OWNERS] = {0};
            if (is_there[page])
                used += count_page(page, e, on_page);
            if (is_there[page] && last_owner[page] != 0 && !has_block(page))
                e[last_owner[page] - 1].retained += PAGE;
            for (unsigned o = 0; o < OWNERS; o++)
                in_stretch[o] += on_page[o];
        }
        if (used == 0)
            continue;
        share(in_stretch, used, STRETCH - used, shares);
        for (unsigned o = 0; o < OWNERS; o++)
            e[o].external_2m += shares[o];
    }
}

static uint64_t up_to(struct ab_rng *rng, uint64_t n)
{
    return ab_rng_next(rng) % n;
}

static void place(struct fixture *f, struct ab_rng *rng)
{
    uint64_t at = up_to(rng, 3 * PAGE);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t size = up_to(rng, UINT64_C(1) << (1 + up_to(rng, slot % 400 == 7 ? 22 : 12)));
        uint64_t slack = up_to(rng, 3) == 0 ? 0 : up_to(rng, 1 + size / 2);
        uint32_t owner = (uint32_t)up_to(rng, OWNERS);
        if (at + size + slack + 9000 > BYTES)
            break;
        put(f, slot, at, size, size + slack, owner);
        for (uint64_t i = at; i < at + size + slack; i++) {
            owner_at[i] = (uint8_t)(owner + 1);
            is_requested[i] = i < at + size;
        }
        at += size + slack + (up_to(rng, 4) == 0 ? up_to(rng, 9000) : 16);
    }
}

static void thin(struct fixture *f, struct ab_rng *rng)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct ab_block_entry *e = &f->entries[slot];
        uint64_t at = e->at - (uintptr_t)f->room, bytes = e->usable;
        if (!e->is_live || up_to(rng, 3) == 0)
            continue;
        ab_book_drop(&f->m.book, slot);
        for (uint64_t i = at; i < at + bytes; i++) {
            owner_at[i] = 0;
            last_owner[i / PAGE] = (uint8_t)(f->owners[slot] + 1);
        }
    }
}

static void touch(struct fixture *f, struct ab_rng *rng)
{
    for (uint64_t page = 0; page < PAGES; page++) {
        is_there[page] = up_to(rng, 5) != 0;
        if (is_there[page])
            f->room[page * PAGE] = 1;
    }
}

/* The stacks at the moment with the most external bytes. */
static void compare_stacks(const struct fixture *f, const struct expected *e)
{
    const struct ab_pins_report *r = &f->run->pins;
    uint64_t before = UINT64_MAX;
    for (uint32_t i = 0; i < r->n_stack_rows; i++) {
        assert_true(r->stacks[i].stack < OWNERS && r->stacks[i].external <= before);
        assert_int_equal(r->stacks[i].external, e[r->stacks[i].stack].external);
        before = r->stacks[i].external;
    }
    assert_int_equal(r->n_stack_rows, has_stacks ? OWNERS : 0);
}

static void gather(struct expected *e)
{
    for (uint32_t o = PLACES; has_stacks && o < OWNERS; o++) {
        struct expected *to = &e[place_of(o)];
        to->live += e[o].live;
        to->internal += e[o].internal;
        to->external += e[o].external;
        to->external_2m += e[o].external_2m;
        to->retained += e[o].retained;
        e[o] = (struct expected){0};
    }
}

static void compare(struct fixture *f)
{
    struct expected e[OWNERS];
    const struct ab_pins_state *s = look(f);
    static const struct ab_pins_row none;
    count_all(e);
    compare_stacks(f, e);
    gather(e);
    for (uint32_t o = 0; o < OWNERS; o++) {
        const struct ab_pins_row *row = row_of(s, o) != NULL ? row_of(s, o) : &none;
        assert_int_equal(row->live, e[o].live);
        assert_int_equal(row->internal, e[o].internal);
        assert_int_equal(row->external, e[o].external);
        assert_int_equal(row->external_2m, e[o].external_2m);
        assert_int_equal(row->retained, e[o].retained);
        assert_int_equal(row->pages, e[o].pages);
    }
}

static void any_book_is_shared_out_as_a_count_by_byte_does(void **state)
{
    enum { SEEDS = 12 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ab_rng rng;
        if (seed > 1)
            open_pins(state);
        ((struct fixture *)*state)->report.marks.worst = 100;
        ab_rng_init(&rng, seed, 0);
        memset(owner_at, 0, sizeof owner_at);
        memset(last_owner, 0, sizeof last_owner);
        place(*state, &rng);
        touch(*state, &rng);
        compare(*state);
        thin(*state, &rng);
        compare(*state);
        has_stacks = seed % 2 != 0;
        if (seed < SEEDS)
            close_pins(state);
    }
}

static void blocks_upon_each_other_make_it_lost(void **state)
{
    struct fixture *f = *state;
    struct ab_memory_state s = {.is_checked = 1};
    struct ab_page_split split;
    memset(&split, 0xff, sizeof split);
    f->room[0] = 1;
    put(f, 0, 0, 4000, 4000, 1);
    put(f, 1, 100, 4000, 4000, 2);
    ab_pins_visit(&f->m, &s, &split, true);
    assert_true(f->run->pins.is_lost);
    assert_int_equal(f->run->pins.states[AB_PINS_END].position, AB_MEMORY_NEVER);
}

static void numbers_are_sorted(void **state)
{
    (void)state;
    struct ab_rng rng;
    static uint64_t x[5000];
    ab_rng_init(&rng, 3, 0);
    for (uint32_t n = 0; n < 5000; n = n * 2 + 1) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = up_to(&rng, 1 + up_to(&rng, 1000));
        ab_sort_ascending(x, n);
        for (uint32_t i = 1; i < n; i++)
            assert_true(x[i - 1] <= x[i]);
    }
    enum { INTERLEAVED = 200000 }; /* two series: quadratic time would be minutes */
    uint64_t *y = malloc(INTERLEAVED * sizeof *y);
    for (uint64_t i = 0; i < INTERLEAVED; i++)
        y[i] = i % 2 << 32 | i;
    ab_sort_ascending(y, INTERLEAVED);
    for (uint32_t i = 1; i < INTERLEAVED; i++)
        assert_true(y[i - 1] < y[i]);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_a_page_are_shared_by_the_bytes_on_it, open_pins,
                                        close_pins),
        cmocka_unit_test_setup_teardown(a_page_without_blocks_is_its_last_owner_s, open_pins,
                                        close_pins),
        cmocka_unit_test_setup_teardown(medians_are_of_live_blocks, open_pins, close_pins),
        cmocka_unit_test_setup_teardown(any_book_is_shared_out_as_a_count_by_byte_does, open_pins,
                                        close_pins),
        cmocka_unit_test_setup_teardown(blocks_upon_each_other_make_it_lost, open_pins, close_pins),
        cmocka_unit_test(numbers_are_sorted),
    };
    test_with_small_pages();
    struct ab_residency residency;
    ab_residency_open(&residency);
    bool is_small = residency.page_log2 == 12;
    return is_small ? cmocka_run_group_tests(tests, NULL, NULL) : 0; /* figures of 4 KiB pages */
}
