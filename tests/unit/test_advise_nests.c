/* SPDX-License-Identifier: MIT
 *
 * Nested scopes of one thread among several, and of sizes where call sites are not known.
 */
#include "advise/nests.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME = 1, NODE, NAME, OTHER, N_PLACES = OTHER };
enum { SCOPES = 40, DOCUMENTS = 8, KEPT = 20, NODES = 64 };
static const uint64_t sizes[] = {0, 500, 480, 40, 3000};

static struct { /* a trace in the making */
    struct ab_trace_writer *w;
    struct ab_rng rng;
    bool has_sites;
    uint64_t calls, ends[SCOPES];
    uint32_t freed_by;        /* the thread that frees names */
    uint32_t second;          /* of odd scopes' names: who asks for them, and frees them */
    uint64_t kept[KEPT];      /* of thread 1 */
    uint64_t nodes[NODES];    /* of a document */
    uint32_t of_place[NODES]; /* likewise */
    size_t n_nodes;
} made;

static struct ab_err err;
static struct ab_advice advice;

static void write_event(const struct ab_event *e, uint64_t *block)
{
    if (ab_trace_write(made.w, e, block, &err) != AB_OK)
        fail_msg("%s", err.text);
    made.calls++;
}

static uint64_t give(uint32_t place, uint32_t thread)
{
    uint64_t block;
    write_event(&(struct ab_event){.kind = AB_EVENT_ALLOC,
                                   .thread = thread,
                                   .size = sizes[place],
                                   .site = made.has_sites ? place : 0},
                &block);
    return block;
}

static void take(uint64_t block, uint32_t thread)
{
    write_event(&(struct ab_event){.kind = AB_EVENT_FREE, .thread = thread, .block = block}, NULL);
}

static void disturb(void)
{
    uint64_t *kept = &made.kept[ab_rng_below(&made.rng, KEPT)];
    if (*kept != 0)
        take(*kept, 1);
    *kept = give(OTHER, 1);
}

static void add(uint32_t place, uint32_t thread)
{
    made.of_place[made.n_nodes] = place;
    made.nodes[made.n_nodes++] = give(place, thread);
}

static void make_document(uint32_t names_by)
{
    made.n_nodes = 0;
    for (uint64_t n = 10 + ab_rng_below(&made.rng, 10); n > 0; n--) {
        add(NODE, 0);
        if (ab_rng_below(&made.rng, 2) == 0)
            add(NAME, names_by);
        if (ab_rng_below(&made.rng, 8) == 0)
            disturb();
    }
    for (size_t i = 0; i < made.n_nodes; i++)
        take(made.nodes[i], made.of_place[i] != NAME ? 0
                            : names_by != 0          ? names_by
                                                     : made.freed_by);
}

static void make_trace(void)
{
    for (int scope = 0; scope < SCOPES; scope++) {
        uint64_t frame[10];
        for (int i = 0; i < 10; i++)
            frame[i] = give(FRAME, 0);
        for (int i = 0; i < DOCUMENTS; i++)
            make_document(scope % 2 == 1 ? made.second : 0);
        for (int i = 0; i < 10; i++)
            take(frame[i], 0);
        made.ends[scope] = made.calls;
    }
}

static void know_places(struct ab_site_table *t)
{
    uint32_t module, number;
    module = ab_site_know_module(t, "/opt/game/bin/game", 18, NULL, 0);
    for (uint64_t i = 1; i <= N_PLACES; i++) {
        struct ab_site_frame frames[] = {{i, module}, {99, module}};
        number = ab_site_know_stack(t, frames, 2, AB_SITE_WHOLE);
        assert_int_equal(number, i);
    }
}

static void advise(void)
{
    struct ab_site_table t = {0};
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    know_places(&t);
    struct ab_trace_writer_options options = {.program = "game",
                                              .sites = made.has_sites ? &t : NULL};
    assert_int_equal(ab_trace_writer_open_with(to, &options, &made.w, &err), AB_OK);
    make_trace();
    assert_int_equal(ab_trace_writer_close(made.w, NULL, &err), AB_OK);
    fclose(to);
    const struct ab_advise_plan plan = {
        .path = path, .scopes = &(struct ab_scopes){.ends = made.ends, .n = SCOPES}};
    ab_advice_fini(&advice);
    if (ab_advise(&plan, &advice, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(advice.n_threads, 2);
    ab_site_table_fini(&t);
    unlink(path);
    free(path);
}

static const struct ab_advice_group *group(uint32_t place)
{
    char key[64];
    if (made.has_sites)
        snprintf(key, sizeof key, "site:game+0x%x", place);
    else
        snprintf(key, sizeof key, "size:%llu", (unsigned long long)sizes[place]);
    for (size_t i = 0; i < advice.n_groups; i++)
        if (strcmp(advice.groups[i].key, key) == 0)
            return &advice.groups[i];
    fail_msg("no group %s", key);
    return NULL;
}

static void expect(uint32_t place, enum ab_advice_kind kind)
{
    const struct ab_advice_group *g = group(place);
    if (g->kind != kind)
        fail_msg("%s: %s (%s), not %s", g->key, ab_advice_kind_name(g->kind), g->why,
                 ab_advice_kind_name(kind));
}

static void begin(uint64_t seed, bool has_sites)
{
    memset(&made, 0, sizeof made);
    made.has_sites = has_sites;
    ab_rng_init(&made.rng, seed, 5);
}

static void one_of_several_threads_has_nested_scopes_of_its_own(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        begin(seed, true);
        advise();
        expect(NODE, AB_ADVICE_NESTED);
        expect(NAME, AB_ADVICE_NESTED);
        expect(FRAME, AB_ADVICE_FRAME);
        expect(OTHER, AB_ADVICE_POOL);
        const struct ab_advice_heap *h = &advice.heaps[group(NODE)->heap];
        assert_int_equal(group(NAME)->heap, group(NODE)->heap);
        assert_int_equal(h->n_nested, SCOPES * DOCUMENTS);
        assert_int_equal(h->n_threads, 1);
        assert_null(strstr(h->backend, "threads=")); /* no other thread enters it */
    }
}

static void what_another_thread_frees_is_in_no_nested_scope(void **state)
{
    (void)state;
    begin(1, true);
    made.freed_by = 1;
    advise();
    expect(NODE, AB_ADVICE_NESTED);
    expect(NAME, AB_ADVICE_FRAME);
    const struct ab_advice_heap *h = &advice.heaps[group(NAME)->heap];
    assert_non_null(strstr(h->backend, "threads=local"));
}

static void what_two_threads_ask_for_is_in_no_nested_scope(void **state)
{
    (void)state;
    begin(1, true);
    made.second = 1;
    advise();
    expect(NODE, AB_ADVICE_NESTED);
    expect(NAME, AB_ADVICE_FRAME);
}

static void without_call_sites_sizes_have_nested_scopes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        begin(seed, false);
        advise();
        assert_false(advice.has_sites);
        expect(NODE, AB_ADVICE_NESTED);
        expect(NAME, AB_ADVICE_NESTED);
        expect(FRAME, AB_ADVICE_FRAME);
        assert_int_equal(advice.heaps[group(NODE)->heap].n_nested, SCOPES * DOCUMENTS);
    }
}

static int release(void **state)
{
    (void)state;
    ab_advice_fini(&advice);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_threads_has_nested_scopes_of_its_own),
        cmocka_unit_test(what_another_thread_frees_is_in_no_nested_scope),
        cmocka_unit_test(what_two_threads_ask_for_is_in_no_nested_scope),
        cmocka_unit_test(without_call_sites_sizes_have_nested_scopes),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
