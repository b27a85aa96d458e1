/* SPDX-License-Identifier: MIT
 *
 * Holes in the files of the streams: what is behind them stays where it is, and so does what the
 * recorder knows of its file.
 */
#include "record/converter/spool_space.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

uint64_t ab_spool_free_read(struct ab_stream *s, const char *folder,
                            const struct ab_spool_entry *image)
{
    enum { LEAST = 65536 };
    char path[PATH_MAX];
    uint64_t end = s->chunks_read < s->data_bytes ? s->chunks_read : s->data_bytes;
    end -= end % AB_SPOOL_PAGE;
    if (end < s->freed_bytes + LEAST)
        return 0;
    ab_spool_slot_path(path, sizeof path, folder, image, s->slot);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    uint64_t bytes = end - s->freed_bytes;
    off_t at = (off_t)(AB_SPOOL_DATA + s->freed_bytes);
    bool is_freed = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, (off_t)bytes) ==
                    0;
    close(fd);
    if (is_freed)
        s->freed_bytes = end;
    return is_freed ? bytes : 0;
}

/* From the first chunk on: none that was written is empty. */
static bool is_slot_freed(const char *path)
{
    struct ab_spool_tail tail;
    struct ab_spool_chunk chunk;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool is_freed = pread(fd, &tail, sizeof tail, 0) == (ssize_t)sizeof tail &&
                    tail.magic == AB_SPOOL_MAGIC && tail.data_bytes > 0 &&
                    pread(fd, &chunk, sizeof chunk, AB_SPOOL_DATA) == (ssize_t)sizeof chunk &&
                    chunk.bytes == 0;
    close(fd);
    return is_freed;
}

bool ab_spool_is_freed(const char *folder, const struct ab_spool_entry *image)
{
    char path[PATH_MAX];
    for (uint32_t slot = 0; slot < image->image.n_slots; slot++) {
        ab_spool_slot_path(path, sizeof path, folder, image, slot);
        if (is_slot_freed(path))
            return true;
    }
    return false;
}
