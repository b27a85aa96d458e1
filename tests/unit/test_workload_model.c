/* SPDX-License-Identifier: MIT
 *
 * Sets of kind model: what is wrong with a table, with its line; and which blocks end when, read off the
 * tape that is made of two small tables.
 * tests: model.c play.c
 */
#include "workload/model.h"

#include "support/cmocka.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS AB_MODEL_BLOCKS_HEAD "\n"
#define SEQUENCE AB_MODEL_SEQUENCE_HEAD "\n"

/* What is wrong with the text; "" = nothing. */
static const char *wrong_with(bool is_sequence, const char *given, unsigned *line)
{
    struct ab_model m = {0};
    char *text = strdup(given), *blocks = strdup(BLOCKS "8,0,0,0,0,0,0,0,calls,1,0,0\n");
    unsigned ignored = 0;
    if (is_sequence)
        assert_null(ab_model_read(&m, false, blocks, &ignored));
    *line = 0;
    const char *wrong = ab_model_read(&m, is_sequence, text, line);
    ab_model_fini(&m);
    free(text);
    free(blocks);
    return wrong != NULL ? wrong : "";
}

static void mistakes_in_tables_are_found_in_their_line(void **state)
{
    static const struct {
        bool is_sequence;
        const char *text, *wrong;
        unsigned line;
    } cases[] = {
        {false, "", "the first line must be", 0},
        {false, "size,life\n", "the first line must be", 1},
        {false, BLOCKS, "no rows", 1},
        {false, BLOCKS "8,0,0,0,0,0,0,0,calls,1,0,0\n", "", 2},
        {false, "# a comment\r\n\r\n" BLOCKS "8,0,0,0,0,0,0,0,never,0,0,0\r\n", "", 4},
        {false, BLOCKS "8,0,0,0,0,0,0,0,calls,1,0\n", "expected", 2},
        {false, BLOCKS "8,0,0,0,0,0,0,0,calls,1,0,0,0\n", "expected", 2},
        {false, BLOCKS "-8,0,0,0,0,0,0,0,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "1099511627777,0,0,0,0,0,0,0,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "99999999999999999999,0,0,0,0,0,0,0,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "8,24,0,0,0,0,0,0,calls,1,0,0\n", "align must be", 2},
        {false, BLOCKS "8,0,2,0,0,0,0,0,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "8,0,0,256,0,0,0,0,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "8,0,0,0,0,1,0,0,calls,1,0,0\n", "needs a last_size", 2},
        {false, BLOCKS "8,0,0,0,0,1,9,101,calls,1,0,0\n", "expected", 2},
        {false, BLOCKS "8,0,0,0,0,0,0,0,fifo,0,0,9\n", "need a life", 2},
        {false, BLOCKS "8,0,0,0,0,0,0,0,fifo,1,9,9\n", "from must be below to", 2},
        {true, SEQUENCE "0,0,1,0,3\n", "", 2},
        {true, SEQUENCE "0,0,0,0,3\n", "expected", 2},
        {true, SEQUENCE "0,0,2,0,3\n", "expected", 2},
        {true, SEQUENCE "0,0,1,0,0\n", "expected", 2},
        {true, SEQUENCE "0,0,1,0,3\n4096,0,1,0,3\n", "expected", 3},
        {true, SEQUENCE "1,0,1,0,3\n0,0,1,0,3\n", "sorted", 3},
        {true, SEQUENCE "1,2,1,0,3\n1,1,1,0,3\n", "sorted", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned line;
        const char *wrong = wrong_with(cases[i].is_sequence, cases[i].text, &line);
        if (strstr(wrong, cases[i].wrong) == NULL || (wrong[0] != 0) != (cases[i].wrong[0] != 0))
            fail_msg("case %zu: '%s'", i, wrong);
        assert_int_equal(line, cases[i].line);
    }
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The tape of a model with one part each 100 calls. */
static void compile(const char *blocks, const char *sequence, struct ab_tape *tape)
{
    char folder[] = "/tmp/allocbench-model-XXXXXX", path[200], *messages = NULL;
    struct ab_workload *w;
    struct ab_workload_options options = {0};
    struct ab_err err;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "b.csv", blocks);
    write_file(folder, "s.csv", sequence);
    write_file(
        folder, "w.yaml",
        "allocbench: 1\nname: w\n"
        "sets: [{name: heap, kind: model, part: 100, blocks: \"b.csv\", sequence: \"s.csv\"}]\n"
        "phases: [{name: play, do: [{play: heap}]}]\n");
    snprintf(path, sizeof path, "%s/w.yaml", folder);
    if (ab_workload_load(path, &options, &w, &messages, &err) != AB_OK)
        fail_msg("%s%s", messages != NULL ? messages : "", err.text);
    if (ab_workload_compile(w, tape, &err) != AB_OK)
        fail_msg("%s", err.text);
    ab_workload_free(w);
    free(messages);
    unlink(path);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%c.csv", folder, "bs"[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Calls of the tape without touches: "a64 f64 r80 …", a free with the size of its block. */
static void describe(const struct ab_tape *tape, char *out, size_t cap)
{
    static uint64_t sizes[1024];
    size_t at = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < tape->n_ops && at < cap; i++) {
        struct ab_op_view op = ab_op_decode(tape->ops[i], tape->wide);
        if (op.kind < 0)
            continue;
        bool is_free = op.kind == AB_OP_FREE;
        assert_true(op.slot < 1024);
        if (!is_free)
            sizes[op.slot] = op.size;
        at += (size_t)snprintf(out + at, cap - at, "%s%c%llu", at > 0 ? " " : "",
                               is_free                   ? 'f'
                               : op.kind == AB_OP_RESIZE ? 'r'
                                                         : 'a',
                               (unsigned long long)sizes[op.slot]);
    }
}

static void blocks_end_when_the_table_says(void **state)
{
    static const struct {
        const char *blocks, *sequence, *calls;
    } cases[] = {
        {BLOCKS "1,0,0,0,0,0,0,0,calls,0,0,0\n", SEQUENCE "0,0,1,0,2\n", "a1 f1 a1 f1"},
        {BLOCKS "1,0,0,0,0,0,0,0,calls,1,0,0\n2,0,0,0,0,0,0,0,never,0,0,0\n",
         SEQUENCE "0,0,1,1,1\n0,1,2,0,1\n", "a1 a2 f1"},
        /* Equal times: the youngest first. A state that has nothing left: the next one that has. */
        {BLOCKS "1,0,0,0,0,0,0,0,calls,2,0,0\n2,0,0,0,0,0,0,0,calls,1,0,0\n",
         SEQUENCE "0,0,1,1,1\n0,1,2,7,1\n0,3,1,3,1\n", "a1 a2 a1 f2 f1 f1"},
        {BLOCKS "1,0,0,0,0,2,100,100,calls,90,0,0\n", SEQUENCE "0,0,1,0,1\n", "a1 r10 r100 f100"},
        {BLOCKS "1,0,0,0,0,0,0,0,fifo,1,0,100\n2,0,0,0,0,0,0,0,fifo,1,0,100\n"
                "3,0,0,0,0,0,0,0,never,0,0,0\n",
         SEQUENCE "0,0,1,1,1\n0,1,2,0,1\n1,0,3,0,1\n", "a1 a2 a3 f1 f2"},
        {BLOCKS "1,0,0,0,0,0,0,0,lifo,1,0,100\n2,0,0,0,0,0,0,0,lifo,1,0,100\n"
                "3,0,0,0,0,0,0,0,never,0,0,0\n",
         SEQUENCE "0,0,1,1,1\n0,1,2,0,1\n1,0,3,0,1\n", "a1 a2 a3 f2 f1"},
        /* from and to: these end in the last tenth, after those of the first. */
        {BLOCKS "1,0,0,0,0,0,0,0,random,1,90,100\n2,0,0,0,0,0,0,0,random,1,0,10\n"
                "3,0,0,0,0,0,0,0,never,0,0,0\n",
         SEQUENCE "0,0,1,1,1\n0,1,2,0,1\n1,0,3,0,1\n", "a1 a2 a3 f2 f1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_tape tape;
        char calls[400];
        compile(cases[i].blocks, cases[i].sequence, &tape);
        describe(&tape, calls, sizeof calls);
        assert_string_equal(calls, cases[i].calls);
        ab_tape_fini(&tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_tables_are_found_in_their_line),
        cmocka_unit_test(blocks_end_when_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
