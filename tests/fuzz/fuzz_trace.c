/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a trace file, through the reader and the tape builder. Built with
 * AB_TRACE_UNCHECKED the block checksums are not compared, so that the fuzzer gets behind them.
 */
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    struct ab_err err = {.text = ""};
    struct ab_tape tape;
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = AB_TOUCH_PAGE};
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
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
