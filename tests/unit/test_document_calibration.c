/* SPDX-License-Identifier: MIT
 *
 * The calibration file: what is written reads back, what is broken is refused with its place.
 */
#include "document/calibration.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/allocbench-calibration-XXXXXX";

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_calibration back,
        c = {.date = "2026-01-02T03:04:05Z",
             .version = "1",
             .fingerprint = "0123456789abcdef",
             .cpu = "a \"CPU\"",
             .kernel = "Linux",
             .workload = "churn",
             .noise = {.n = 2,
                       .rounds = 10,
                       .n_rounds = 20,
                       .entries = {{"alloc", "p99", 0.0625}, {"all", "time", 0}}}};
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    ab_calibration_write(f, &c);
    fclose(f);
    if (ab_calibration_read(path, &back, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(&back, &c, sizeof c);
    char name[64];
    ab_calibration_name(c.fingerprint, name, sizeof name);
    assert_string_equal(name, "calibration-0123456789ab.json");
}

static void refuse(const char *text, const char *why)
{
    struct ab_calibration c;
    struct ab_err err = {.text = ""};
    write_text(text);
    assert_int_equal(ab_calibration_read(path, &c, &err), AB_INPUT);
    if (strstr(err.text, why) == NULL)
        fail_msg("no \"%s\" in \"%s\"", why, err.text);
}

#define FRAME(noise) \
    "{\"schema\": \"allocbench-calibration/1\", \"date\": \"\", \"version\": \"\", \"host\": " \
    "{\"fingerprint\": \"f\", \"cpu\": \"\", \"kernel\": \"\"}, \"workload\": \"\", " \
    "\"tape_sha256\": \"\", \"rounds\": 10, \"rounds_measured\": 20, \"noise\": " noise "}"

static void what_is_broken_is_refused(void **state)
{
    (void)state;
    struct ab_calibration c;
    struct ab_err err = {.text = ""};
    refuse("", "");
    refuse("[]", "is not a calibration");
    refuse("{\"schema\": \"allocbench/2\"}", "is not a calibration");
    refuse("{\"schema\": \"allocbench-calibration/1\"}", "date: is missing");
    refuse(FRAME("7"), "noise");
    refuse(FRAME("[{\"op\": \"all\", \"metric\": \"p50\", \"p95\": -1}]"), "noise[0]");
    refuse(FRAME("[{\"op\": \"all\", \"metric\": \"p50\", \"p95\": null}]"), "p95");
    refuse(FRAME("[{\"op\": \"an op with a name that is too long\", \"metric\": \"p50\", "
                 "\"p95\": 0}]"),
           "op");
    write_text(FRAME("[{\"op\": \"all\", \"metric\": \"p50\", \"p95\": 0}]"));
    assert_int_equal(ab_calibration_read(path, &c, &err), AB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_is_broken_is_refused),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
