/* SPDX-License-Identifier: MIT
 *
 * Models of traces: the tables of a small trace as they can be worked out on paper, those of random ones
 * by their sums, and the distance of sizes.
 * tests: trace_model.c
 */
#include "trace_tools/trace_model.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_err err;

static void make(const char *path, uint32_t parts, struct ab_trace_model *m, char *texts[2])
{
    struct ab_walk walk = {.path = path};
    size_t bytes[2];
    if (ab_trace_model_make(&walk, parts, m, &err) != AB_OK)
        fail_msg("%s", err.text);
    FILE *blocks = open_memstream(&texts[0], &bytes[0]);
    FILE *sequence = open_memstream(&texts[1], &bytes[1]);
    assert_int_equal(ab_trace_model_write(m, blocks, sequence, &err), AB_OK);
    fclose(blocks);
    fclose(sequence);
}

static uint64_t put(struct ab_trace_writer *w, struct ab_event e)
{
    uint64_t number = AB_NO_BLOCK;
    if (ab_trace_write(w, &e, &number, &err) != AB_OK)
        fail_msg("%s", err.text);
    return number;
}

/* Eight calls in two parts: one block that lives for one call between, one that is resized, calloc'ed and
 * freed by another thread in the next part, one that stays. */
static char *small_trace(void)
{
    struct ab_trace_writer *w;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open(to, "app", &w, &err), AB_OK);
    uint64_t a = put(w, (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 10});
    uint64_t b = put(w, (struct ab_event){.kind = AB_EVENT_ALLOC_ZEROED, .size = 20});
    put(w, (struct ab_event){.kind = AB_EVENT_FREE, .block = a});
    put(w, (struct ab_event){.kind = AB_EVENT_RESIZE, .size = 40, .block = b});
    put(w, (struct ab_event){.kind = AB_EVENT_ALLOC_ALIGNED, .size = 64, .align = 64, .thread = 1});
    put(w, (struct ab_event){.kind = AB_EVENT_FREE, .block = b, .thread = 1});
    put(w, (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 10, .failed = true});
    put(w, (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 10});
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    return path;
}

static void the_tables_of_a_small_trace(void **state)
{
    struct ab_trace_model m;
    char *texts[2], *path = small_trace();
    (void)state;
    make(path, 2, &m, texts);
    assert_string_equal(
        texts[0], "size,align,zeroed,lane,freed_by,resizes,last_size,grown,ends,life,from,to\n"
                  "10,0,0,0,0,0,0,0,calls,1,0,0\n"
                  "20,0,1,0,1,1,40,100,random,1,25,50\n"
                  "64,64,0,1,0,0,0,0,never,0,0,0\n"
                  "10,0,0,0,0,0,0,0,never,0,0,0\n");
    assert_string_equal(texts[1], "part,state,block,next,count\n"
                                  "0,0,1,1,1\n0,1,2,2,1\n1,0,3,1,1\n1,1,4,2,1\n");
    assert_int_equal(m.n_lanes, 2);
    assert_int_equal(m.part_calls, 4);
    assert_int_equal(m.live_peak_bytes, 104);
    ab_trace_model_fini(&m);
    free(texts[0]);
    free(texts[1]);
    unlink(path);
    free(path);
}

/* Sum of the last number of each line after the first. */
static uint64_t sum_of_counts(const char *text)
{
    uint64_t sum = 0;
    for (const char *line = strchr(text, '\n'); line != NULL && line[1] != 0;
         line = strchr(line + 1, '\n')) {
        const char *end = strchr(line + 1, '\n');
        while (end[-1] != ',')
            end--;
        sum += strtoull(end, NULL, 10);
    }
    return sum;
}

static void every_block_of_a_trace_is_counted_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct test_trace_kind kind = {
            .seed = threads, .threads = threads, .n = 20000, .has_time = threads > 1};
        struct ab_trace_info info;
        struct ab_trace_model m;
        size_t bytes;
        char *texts[2];
        uint8_t *data = test_trace_random(kind, &bytes, &info);
        char *path = test_trace_file(data, bytes);
        make(path, 16, &m, texts);
        assert_int_equal(sum_of_counts(texts[1]), m.n_allocs);
        assert_int_equal(m.n_calls, info.events);
        assert_true(m.n_lanes <= threads);
        ab_trace_model_fini(&m);
        free(texts[0]);
        free(texts[1]);
        free(data);
        unlink(path);
        free(path);
    }
}

static void the_distance_is_that_of_the_shares(void **state)
{
    static const uint64_t sizes[4] = {10, 20, 40, 41};
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_tape tape;
    struct ab_trace_model m;
    struct ab_model_distance d;
    char *texts[2], *path = small_trace();
    (void)state;
    assert_int_equal(ab_tape_phase(b, "p", true, &err), AB_OK);
    for (uint32_t i = 0; i < 4; i++) {
        struct ab_request request = {.size = sizes[i]};
        assert_int_equal(ab_tape_alloc(b, i, &request, &err), AB_OK);
    }
    assert_int_equal(ab_tape_end(b, &tape, &err), AB_OK);
    make(path, 2, &m, texts); /* 10, 10, 20, 40, 64: up to 41 all of the tape, 4 of 5 */
    ab_trace_model_take(&m, &tape);
    ab_trace_model_compare(&m, &tape, &d);
    assert_int_equal(d.calls, 4);
    assert_int_equal(d.live_peak_bytes, 111);
    assert_true(d.sizes > 0.1999 && d.sizes < 0.2001);
    ab_trace_model_fini(&m);
    ab_tape_fini(&tape);
    free(texts[0]);
    free(texts[1]);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_of_a_small_trace),
        cmocka_unit_test(every_block_of_a_trace_is_counted_once),
        cmocka_unit_test(the_distance_is_that_of_the_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
