/* SPDX-License-Identifier: MIT
 *
 * Reads the totals at the end of a file, where it can be sought.
 */
#include "trace/end_mark.h"

#include "base/bytes.h"
#include "trace/checksum.h"
#include "trace/format.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK = AB_TRACE_CHUNK_HEADER + AB_TRACE_SUMMARY_BYTES };

static bool read_last(const char *path, uint8_t mark[MARK])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool done = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= MARK &&
                pread(fd, mark, MARK, st.st_size - MARK) == MARK;
    if (fd >= 0)
        close(fd);
    return done;
}

bool ab_trace_read_end(const char *path, struct ab_trace_info *info)
{
    uint8_t mark[MARK];
    const uint8_t *fields = mark + AB_TRACE_CHUNK_HEADER;
    if (!read_last(path, mark) || ab_get_u32(mark) != AB_TRACE_CHUNK_MAGIC ||
        ab_get_u32(mark + 4) != AB_TRACE_CHUNK_END ||
        ab_trace_chunk_checksum(mark, fields, AB_TRACE_SUMMARY_BYTES) !=
            ab_get_u64(mark + AB_TRACE_CHUNK_CHECKED))
        return false;
    *info = (struct ab_trace_info){
        /* in the order of ab_trace_summary_encode */
        .events = ab_get_u64(fields),
        .threads = ab_get_u64(fields + 8),
        .live_peak_bytes = ab_get_u64(fields + 16),
        .live_peak_blocks = ab_get_u64(fields + 24),
    };
    return true;
}
