/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a file of every format, whole and as one that was cut. What is taken
 * is a trace that the reader proves, with as many calls as the report says; what is refused has a
 * reason with the file's name in it.
 */
#include "exchange/intake.h"
#include "fuzz/input_file.h"
#include "trace_tools/walk.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_trace(FILE *trace, const struct ab_intake_report *r)
{
    char path[64];
    struct ab_err err = {.text = ""};
    struct ab_trace_info info;
    struct ab_walk walk = {.end = UINT64_MAX};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(trace));
    walk.path = path;
    if (fflush(trace) != 0 || ab_trace_check(&walk, &info, &err) != AB_OK)
        abort();
    uint64_t n_least = r->n_calls + r->n_reused - r->n_unknown_frees - r->n_null_frees;
    if (info.events > n_least || info.events + r->n_unknown_resizes < n_least)
        abort(); /* a call was lost, or counted twice */
}

/* True when it was taken, and not only because a last line was believed to be whole. */
static bool import(const struct ab_format *format, const char *path, bool is_partial)
{
    struct ab_err err = {.text = ""};
    struct ab_intake_report report;
    FILE *trace = tmpfile();
    if (trace == NULL)
        abort();
    struct ab_import job = {
        .format = format->name, .path = path, .is_partial = is_partial, .to = trace};
    enum ab_status status = ab_import(&job, &report, &err);
    if (status == AB_OK)
        check_trace(trace, &report);
    else if (status == AB_INPUT && strncmp(err.text, path, strlen(path)) != 0)
        abort();
    if (status == AB_OK && report.is_cut && !is_partial)
        abort();
    fclose(trace);
    return status == AB_OK && !report.is_last_in_doubt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    int fd = input_file_open(data, n, path);
    for (size_t i = 0; ab_format_at(i) != NULL; i++)
        if (import(ab_format_at(i), path, false) && !import(ab_format_at(i), path, true))
            abort(); /* a whole file is one either way */
    close(fd);
    return 0;
}
