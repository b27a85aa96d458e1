/* SPDX-License-Identifier: MIT
 *
 * Maps a tape file in the parent, and finds ops in it by their position.
 */
#include "runner/tape/tape_image.h"

#include "runner/tape/tape_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int ab_memfd(const char *name, size_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err)
{
    struct ab_tape_file file = {0};
    enum ab_status status;
    if ((status = ab_tape_file_begin(true, &file, err)) != AB_OK ||
        (status = ab_tape_file_add(&file, tape, err)) != AB_OK ||
        (status = ab_tape_file_end(&file, tape, out, err)) != AB_OK) {
        ab_tape_file_abandon(&file);
        return status;
    }
    free(tape->ops);
    free(tape->wide);
    free(tape->turns);
    tape->ops = NULL;
    tape->wide = NULL;
    tape->turns = NULL;
    return AB_OK;
}

void ab_tape_map_close(struct ab_tape_map *m)
{
    if (m->image == NULL)
        return;
    munmap((void *)m->image, m->image->total_bytes);
    close(m->fd);
    *m = (struct ab_tape_map){0};
}

uint32_t ab_tape_map_find(const struct ab_tape_map *m, uint32_t position)
{
    uint32_t low = 0, high = m->image->n_bursts;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (ab_tape_burst(m->image, middle)->first <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position)
{
    struct ab_tape_part part = ab_tape_part(m->image, ab_tape_map_find(m, position));
    uint32_t n_lanes = m->image->n_lanes, lane = 0, at = position - part.first;
    const uint32_t *begin = part.lane_begin + (size_t)phase * n_lanes;
    while (lane + 1 < n_lanes && at >= begin[lane + 1])
        lane++;
    if (n_lanes <= 1 || begin[lane + 1] == begin[lane])
        return position;
    double done = (double)(at - begin[lane]) / (double)(begin[lane + 1] - begin[lane]);
    return part.first + begin[0] + (uint32_t)(done * (begin[n_lanes] - begin[0]));
}
