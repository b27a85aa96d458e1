/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a trace file, through the reader, whole and partial, and the tape
 * builder. Built with AB_TRACE_UNCHECKED the block checksums are not compared, so that the fuzzer
 * gets behind them.
 */
#include "fuzz/input_file.h"
#include "trace/reader.h"
#include "trace_tools/to_tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Everything that a reader can be asked for; *n_events counts ends of threads too. */
static enum ab_status read_all(const char *path, bool is_partial, uint64_t *n_events)
{
    struct ab_site_table sites = {0};
    struct ab_mark_table marks = {0}, requests = {0};
    struct ab_trace_options options = {.is_partial = is_partial,
                                       .sites = &sites,
                                       .marks = &marks,
                                       .requests = &requests,
                                       .has_thread_ends = true,
                                       .has_digest = true,
                                       .live_blocks_max = 1 << 20};
    struct ab_err err = {.text = ""};
    struct ab_trace_reader *r;
    struct ab_event events[300];
    *n_events = 0;
    enum ab_status status = ab_trace_open_with(path, &options, &r, &err);
    if (status != AB_OK)
        return status;
    for (size_t k = 1; status == AB_OK && k > 0;) {
        k = 0;
        status = ab_trace_next(r, events, 300, &k, &err);
        *n_events += k;
        for (size_t i = 0; i < k; i++)
            if (events[i].site > sites.n_stacks)
                abort(); /* handed out a site that is not defined */
    }
    const struct ab_trace_info *info = ab_trace_reader_info(r);
    if (status == AB_OK && info->events + info->thread_ends != *n_events)
        abort(); /* handed out others than it counted */
    if (status == AB_OK && info->is_partial && !is_partial)
        abort();
    for (size_t i = 0; status == AB_OK && i < marks.n; i++)
        if (marks.marks[i].name >= marks.n_names || marks.marks[i].call > info->events ||
            (i > 0 && marks.marks[i].call < marks.marks[i - 1].call))
            abort();
    for (size_t i = 0; status == AB_OK && i < requests.n; i++)
        if (requests.marks[i].name >= requests.n_names || requests.marks[i].call > info->events)
            abort();
    ab_trace_close(r);
    ab_mark_table_fini(&marks);
    ab_mark_table_fini(&requests);
    ab_site_table_fini(&sites);
    return status;
}

static void compare_partial(const char *path)
{
    uint64_t n_whole, n_partial;
    enum ab_status whole = read_all(path, false, &n_whole);
    enum ab_status partial = read_all(path, true, &n_partial);
    if (whole == AB_OK && (partial != AB_OK || n_partial != n_whole))
        abort(); /* a whole file is the same either way */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    struct ab_err err = {.text = ""};
    struct ab_tape tape;
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = AB_TOUCH_PAGE};
    int fd = input_file_open(data, n, path);
    compare_partial(path);
    if (ab_trace_to_tape(path, &options, &tape, &info, &err) == AB_OK) {
        /* a block resized to 0 that lived on has size 1 on the tape */
        if (tape.facts.live_peak_bytes < info.live_peak_bytes ||
            tape.facts.live_peak_bytes > info.live_peak_bytes + info.live_peak_blocks ||
            tape.facts.live_peak_blocks != info.live_peak_blocks)
            abort(); /* reader and builder disagree about what lives */
        ab_tape_fini(&tape);
    } else if (err.text[0] == 0) {
        abort(); /* refused without a reason */
    }
    close(fd);
    return 0;
}
