/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a trace file, through what `trace check`, `info` and `cut` do. What
 * the reader accepts its proof must accept too: the two keep separate books. What was surveyed must
 * sum up, and a part that was cut out must be a trace as good as the whole. Built with
 * AB_TRACE_UNCHECKED the block checksums are not compared.
 */
#include "fuzz/input_file.h"
#include "trace/mark_table.h"
#include "trace/reader.h"
#include "trace/site_table.h"
#include "trace_tools/rewrite.h"
#include "trace_tools/trace_stats.h"
#include "trace_tools/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static enum ab_status read_all(const char *path, bool is_partial, struct ab_trace_info *info)
{
    struct ab_site_table sites = {0}; /* which the proof reads, too */
    struct ab_mark_table marks = {0}, requests = {0};
    struct ab_trace_options options = {
        .is_partial = is_partial, .sites = &sites, .marks = &marks, .requests = &requests};
    struct ab_err err = {.text = ""};
    struct ab_trace_reader *r = NULL;
    struct ab_event events[300];
    enum ab_status status = ab_trace_open_with(path, &options, &r, &err);
    for (size_t k = 1; status == AB_OK && k > 0;)
        status = ab_trace_next(r, events, 300, &k, &err);
    if (r != NULL) {
        *info = *ab_trace_reader_info(r);
        ab_trace_close(r);
    }
    ab_site_table_fini(&sites);
    ab_mark_table_fini(&marks);
    ab_mark_table_fini(&requests);
    return status;
}

static enum ab_status check(const char *path, bool is_partial, struct ab_trace_info *info)
{
    struct ab_walk walk = {.path = path, .is_partial = is_partial, .end = UINT64_MAX};
    struct ab_err err = {.text = ""};
    enum ab_status status = ab_trace_check(&walk, info, &err);
    require(status == AB_OK || err.text[0] != 0, "what is refused has a reason");
    return status;
}

static void survey(const char *path, const struct ab_trace_info *info)
{
    struct ab_survey s = {.n_events = 0};
    struct ab_walk walk = {
        .path = path, .is_partial = true, .end = UINT64_MAX, .visit = ab_survey_visit, .user = &s};
    struct ab_err err;
    uint64_t events = 0;
    require(ab_trace_walk(&walk, NULL, &err) == AB_OK, "what was checked can be surveyed");
    for (size_t i = 0; i < s.n_threads; i++)
        events += s.threads[i].events;
    require(events == info->events && s.n_threads == info->threads, "each call is of a thread");
    require(s.live_blocks == info->live_end_blocks && s.live_bytes == info->live_end_bytes,
            "what lives at the end");
    require(s.n_remote_frees <= s.n_frees, "frees by other threads are frees");
    ab_survey_fini(&s);
}

static void cut(const char *path, uint64_t begin, uint64_t end, bool is_keeping_live)
{
    struct ab_walk walk = {
        .path = path, .is_partial = true, .has_thread_ends = true, .begin = begin, .end = end};
    struct ab_cut_report report;
    struct ab_trace_info info;
    struct ab_err err;
    char part[64];
    FILE *to = fdopen(input_file_open(NULL, 0, part), "w");
    require(to != NULL, "a file in memory opens");
    enum ab_status status = ab_trace_cut(&walk, is_keeping_live, to, &report, &err);
    require(status == AB_OK, "what was checked can be cut");
    require(fflush(to) == 0 && check(part, false, &info) == AB_OK, "a part is a whole trace");
    require(info.events == report.info.events && info.slots == report.info.slots, "as reported");
    require(info.events - report.n_kept + report.n_dropped == end - begin, "of all its calls");
    require(!is_keeping_live || report.n_dropped == 0, "nothing is dropped from what is kept");
    fclose(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    int fd = input_file_open(data, n, path);
    for (int is_partial = 0; is_partial < 2; is_partial++) {
        struct ab_trace_info read = {0}, checked;
        enum ab_status status = read_all(path, is_partial, &read);
        require(check(path, is_partial, &checked) == status, "check and reader agree");
        if (status != AB_OK || is_partial == 0)
            continue;
        require(checked.events == read.events && checked.file_bytes == read.file_bytes, "totals");
        survey(path, &read);
        uint64_t middle = read.events == 0 ? 0 : data[n / 2] % read.events;
        cut(path, middle, read.events, n % 2 == 0);
        if (middle > 0)
            cut(path, 0, middle, n % 2 == 1);
    }
    close(fd);
    return 0;
}
