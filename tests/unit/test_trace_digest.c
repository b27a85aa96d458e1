/* SPDX-License-Identifier: MIT
 *
 * The digest says which events a trace holds, however it is stored; the second reader
 * (scripts/read-trace.py) says the same of every bundled and golden trace.
 */
#include "trace/format.h"

#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_digest.h"
#include "support/trace_mix.h"

#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void digest_of(const struct test_mix *mix, const struct ab_event *records, char hex[65])
{
    struct ab_err err = {.text = ""};
    struct ab_trace_info info, read;
    size_t n;
    uint8_t *bytes = test_mix_file(mix, records, &n, &info);
    char *path = test_trace_file(bytes, n);
    if (ab_trace_digest(path, false, hex, &read, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(&read, &info, sizeof info);
    unlink(path);
    free(path);
    free(bytes);
}

static void the_size_of_blocks_does_not_matter(void **state)
{
    (void)state;
    struct test_mix mix = {.seed = 1, .n = 900, .threads = 3, .has_thread_ends = true};
    struct ab_event *records = test_mix_records(&mix);
    char one[65], other[65];
    digest_of(&mix, records, one);
    mix.chunk_events = 77;
    digest_of(&mix, records, other);
    assert_string_equal(one, other);
    free(records);
}

static void every_field_matters(void **state)
{
    (void)state;
    struct test_mix mix = {.seed = 1, .n = 4, .has_time = true};
    const struct ab_event base[] = {
        {.kind = AB_EVENT_ALLOC, .size = 8},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 8, .align = 16, .block = 1, .time_us = 3},
        {.kind = AB_EVENT_ALLOC, .size = 8, .failed = true, .time_us = 3},
        {.kind = AB_EVENT_FREE, .block = 0, .time_us = 5},
    };
    struct ab_event changed[7][4];
    char hex[8][65];
    for (size_t i = 0; i < 7; i++)
        memcpy(changed[i], base, sizeof base);
    changed[0][0].size = 9;
    changed[1][1].align = 32;
    changed[2][2].size = 9;
    changed[3][3].block = 1;
    changed[4][3].time_us = 6;
    changed[5][3].thread = 1;
    changed[6][0].kind = AB_EVENT_ALLOC_ZEROED;
    digest_of(&mix, base, hex[7]);
    for (size_t i = 0; i < 7; i++) {
        digest_of(&mix, changed[i], hex[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(hex[i], hex[k]);
        assert_string_not_equal(hex[i], hex[7]);
    }
}

static void a_record_is_what_the_document_says(void **state)
{
    (void)state;
    static const uint8_t expected[] = {10,  6,   0,   0,   3,   0, 0, 0, 255, 255, 255,
                                       255, 255, 255, 255, 255, 0, 1, 0, 0,   0,   0,
                                       0,   0,   7,   0,   0,   0, 0, 0, 0,   0};
    struct ab_event e = {.kind = AB_EVENT_ALLOC_ALIGNED,
                         .failed = true,
                         .align = 64,
                         .size = 256,
                         .thread = 3,
                         .block = AB_NO_BLOCK,
                         .time_us = 7};
    uint8_t record[AB_DIGEST_RECORD_MAX];
    assert_int_equal(ab_event_canonical(&e, false, record), 24);
    assert_memory_equal(record, expected, 24);
    assert_int_equal(ab_event_canonical(&e, true, record), 32);
    assert_memory_equal(record, expected, 32);
}

/* What the second reader prints of these files, a line each: one call for all, because starting
 * Python costs more than reading most of them. */
static FILE *ask_second_reader(const glob_t *files, const char *streams)
{
    char *command = NULL;
    size_t n;
    FILE *f = open_memstream(&command, &n);
    assert_non_null(f);
    fputs("python3 scripts/read-trace.py --quiet", f);
    for (size_t i = 0; i < files->gl_pathc; i++)
        fprintf(f, " '%s'", files->gl_pathv[i]);
    fprintf(f, " %s", streams);
    fclose(f);
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    free(command);
    return answers;
}

static void assert_at_end(FILE *answers, int exit_code)
{
    char line[1000];
    if (fgets(line, sizeof line, answers) != NULL)
        fail_msg("one answer too many: %s", line);
    int status = pclose(answers);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), exit_code);
}

static void both_readers_say_the_same(void **state)
{
    (void)state;
    glob_t found;
    if (system("python3 -c 'import ctypes; ctypes.CDLL(\"libzstd.so.1\")' 2>/dev/null") != 0)
        skip();
    assert_int_equal(glob("traces/*.abt", 0, NULL, &found), 0);
    assert_int_equal(glob("tests/golden/traces/good/*.abt", GLOB_APPEND, NULL, &found), 0);
    assert_true(found.gl_pathc >= 11);
    FILE *answers = ask_second_reader(&found, "");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ab_err err = {.text = ""};
        char ours[65], theirs[65] = "", line[100];
        if (ab_trace_digest(found.gl_pathv[i], false, ours, NULL, &err) != AB_OK)
            fail_msg("%s", err.text);
        if (fgets(line, sizeof line, answers) == NULL || sscanf(line, "digest %64s", theirs) != 1 ||
            strcmp(ours, theirs) != 0)
            fail_msg("%s: %s, read-trace.py says %s", found.gl_pathv[i], ours, theirs);
    }
    assert_at_end(answers, 0);
    globfree(&found);
}

/* The error must be the one that the file is there for. */
static void assert_expected(const char *path, const char *text)
{
    char beside[600], wanted[300] = "";
    regex_t regex;
    snprintf(beside, sizeof beside, "%.*s.expect", (int)(strlen(path) - strlen(".abt")), path);
    FILE *f = fopen(beside, "r");
    assert_non_null(f);
    assert_non_null(fgets(wanted, sizeof wanted, f));
    fclose(f);
    wanted[strcspn(wanted, "\n")] = 0;
    assert_int_equal(regcomp(&regex, wanted, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&regex, text, 0, NULL, 0) != 0)
        fail_msg("%s: no \"%s\"", text, wanted);
    regfree(&regex);
}

static void both_readers_refuse_the_same(void **state)
{
    (void)state;
    glob_t found;
    if (system("python3 -c 'import ctypes; ctypes.CDLL(\"libzstd.so.1\")' 2>/dev/null") != 0)
        skip();
    assert_int_equal(glob("tests/golden/traces/bad/*.abt", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 104);
    FILE *answers = ask_second_reader(&found, "2>&1 >/dev/null");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ab_err err = {.text = ""};
        char hex[65], line[1000] = "";
        size_t length = strlen(found.gl_pathv[i]);
        if (ab_trace_digest(found.gl_pathv[i], false, hex, NULL, &err) != AB_INPUT)
            fail_msg("%s was accepted", found.gl_pathv[i]);
        assert_expected(found.gl_pathv[i], err.text);
        if (fgets(line, sizeof line, answers) == NULL ||
            strncmp(line, found.gl_pathv[i], length) != 0 || line[length] != ':')
            fail_msg("read-trace.py does not refuse %s; it says %s", found.gl_pathv[i], line);
    }
    assert_at_end(answers, 3);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_of_blocks_does_not_matter),
        cmocka_unit_test(every_field_matters),
        cmocka_unit_test(a_record_is_what_the_document_says),
        cmocka_unit_test(both_readers_say_the_same),
        cmocka_unit_test(both_readers_refuse_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
