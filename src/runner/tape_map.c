/* SPDX-License-Identifier: MIT */
#include "runner/tape_map.h"

#include "core/bits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

static void copy_part(struct ab_tape_image *image, uint64_t offset, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy((char *)image + offset, from, bytes);
}

/* The phases of a tape in bursts are those of the whole; only their turns are the burst's own. */
static void copy_tape(const struct ab_tape *tape, struct ab_tape_image *image)
{
    size_t n_begins = (size_t)tape->n_phases * tape->facts.lanes + 1;
    copy_part(image, image->ops_offset, tape->ops,
              (tape->n_ops + AB_TAPE_PAD) * sizeof tape->ops[0]);
    copy_part(image, image->wide_offset, tape->wide, tape->n_wide * sizeof tape->wide[0]);
    copy_part(image, image->lane_begin_offset, tape->lane_begin,
              n_begins * sizeof tape->lane_begin[0]);
    copy_part(image, image->turns_offset, tape->turns, tape->n_turns * sizeof tape->turns[0]);
}

/* Room for so many ops, and so on, which may be more than the tape has now. */
static struct ab_tape_image layout(const struct ab_tape *tape, uint32_t n_ops, uint32_t n_wide,
                                   uint32_t n_turns)
{
    struct ab_tape_image image = {
        .magic = AB_TAPE_IMAGE_MAGIC,
        .size = sizeof image,
        .n_ops = tape->n_ops,
        .n_wide = n_wide,
        .n_phases = tape->n_phases,
        .n_slots = tape->n_slots,
        .n_lanes = tape->facts.lanes,
        .n_turns = n_turns,
        .window = tape->window,
        .n_bursts = 1,
        .burst = {.n_ops = n_ops},
        .n_edges = tape->n_edges,
        .n_remote = tape->n_remote,
        .facts = tape->facts,
    };
    image.ops_offset = ab_align_up(sizeof image, 64);
    image.wide_offset = ab_align_up(image.ops_offset + ((size_t)n_ops + AB_TAPE_PAD) * 8, 64);
    image.phases_offset = ab_align_up(image.wide_offset + n_wide * sizeof(struct ab_wide), 64);
    image.lane_begin_offset =
        ab_align_up(image.phases_offset + tape->n_phases * sizeof(struct ab_phase), 64);
    image.turns_offset = ab_align_up(
        image.lane_begin_offset + ((size_t)tape->n_phases * image.n_lanes + 1) * 4, 64);
    image.total_bytes = image.turns_offset + (size_t)n_turns * sizeof(struct ab_turn);
    return image;
}

/* Nobody can map it to write any more, but for what is mapped already. */
static enum ab_status seal(int fd, struct ab_err *err)
{
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0)
        return AB_OK;
    return ab_fail_errno(err, AB_SYSTEM, "cannot seal the tape");
}

/* A mapping with the image and the phases in it; `write` copies what else there is to it. */
static enum ab_status make_map(const struct ab_tape_image *image, const struct ab_tape *tape,
                               struct ab_tape_map *out, struct ab_err *err)
{
    size_t bytes = image->total_bytes;
    int fd = ab_memfd("allocbench-tape", bytes);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make the tape's mapping of %llu bytes",
                             (unsigned long long)bytes);
    struct ab_tape_image *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        close(fd);
        return ab_fail_errno(err, AB_SYSTEM, "cannot map the tape");
    }
    *p = *image;
    copy_part(p, p->phases_offset, tape->phases, tape->n_phases * sizeof tape->phases[0]);
    *out = (struct ab_tape_map){
        .fd = fd,
        .map = p,
        .bytes = bytes,
        .image = p,
        .ops = (const uint64_t *)((char *)p + image->ops_offset),
        .wide = (const struct ab_wide *)((char *)p + image->wide_offset),
        .phases = (const struct ab_phase *)((char *)p + image->phases_offset),
        .lane_begin = (const uint32_t *)((char *)p + image->lane_begin_offset),
    };
    return AB_OK;
}

enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err)
{
    if (tape->n_phases > AB_PHASES_MAX)
        return ab_fail(err, AB_CONFIG, "%u phases; at most %d can be measured", tape->n_phases,
                       AB_PHASES_MAX);
    struct ab_tape_image image = layout(tape, tape->n_ops, tape->n_wide, tape->n_turns);
    struct ab_tape_map made;
    enum ab_status status = make_map(&image, tape, &made, err);
    if (status != AB_OK)
        return status;
    copy_tape(tape, made.map);
    if (mprotect(made.map, made.bytes, PROT_READ) != 0)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot protect the tape");
    if (status != AB_OK || (status = seal(made.fd, err)) != AB_OK) {
        ab_tape_map_close(&made);
        return status;
    }
    free(tape->ops);
    free(tape->wide);
    free(tape->turns);
    tape->ops = NULL;
    tape->wide = NULL;
    tape->turns = NULL;
    *out = made;
    return AB_OK;
}

enum ab_status ab_tape_map_open_feed(struct ab_trace_feed *feed, struct ab_tape_map *out,
                                     struct ab_err *err)
{
    struct ab_tape_image image =
        layout(&feed->total, feed->most_ops, feed->most_wide, feed->most_turns);
    struct ab_tape_map made;
    image.n_bursts = feed->n_bursts;
    enum ab_status status = make_map(&image, &feed->total, &made, err);
    if (status != AB_OK)
        return status;
    made.feed = feed;
    if ((status = seal(made.fd, err)) == AB_OK)
        *out = made;
    else
        ab_tape_map_close(&made);
    return status;
}

enum ab_status ab_tape_map_next(const struct ab_tape_map *m, struct ab_err *err)
{
    const struct ab_tape *burst;
    struct ab_tape_image *image = m->map;
    enum ab_status status = ab_trace_feed_next(m->feed, &burst, err);
    if (status != AB_OK)
        return status;
    copy_tape(burst, image);
    ((struct ab_phase *)((char *)image + image->phases_offset))->turns_end = burst->n_turns;
    image->burst.first += image->burst.n_ops;
    image->burst.n_ops = burst->n_ops;
    return AB_OK;
}

enum ab_status ab_tape_map_rewind(const struct ab_tape_map *m, struct ab_err *err)
{
    struct ab_tape_image *image = m->map;
    if (m->feed == NULL)
        return AB_OK;
    enum ab_status status = ab_trace_feed_rewind(m->feed, err);
    if (status != AB_OK)
        return status;
    image->burst = (struct ab_burst){0, 0};
    return ab_tape_map_next(m, err);
}

void ab_tape_map_close(struct ab_tape_map *m)
{
    if (m->map == NULL)
        return;
    munmap(m->map, m->bytes);
    close(m->fd);
    *m = (struct ab_tape_map){0};
}

uint32_t ab_tape_map_clock(const struct ab_tape_map *m, uint32_t phase, uint32_t position)
{
    uint32_t n_lanes = m->image->n_lanes, lane = 0;
    const uint32_t *begin = m->lane_begin + (size_t)phase * n_lanes;
    while (lane + 1 < n_lanes && position >= begin[lane + 1])
        lane++;
    if (n_lanes <= 1 || begin[lane + 1] == begin[lane])
        return position;
    double done = (double)(position - begin[lane]) / (double)(begin[lane + 1] - begin[lane]);
    return begin[0] + (uint32_t)(done * (begin[n_lanes] - begin[0]));
}

int ab_tape_map_kind(const struct ab_tape_map *m, uint32_t position, uint64_t *size)
{
    uint64_t op = m->ops[position];
    unsigned code = AB_OP_CODE(op);
    uint64_t bytes = AB_OP_SIZE(op);
    if (code == AB_CODE_WIDE) {
        const struct ab_wide *wide = &m->wide[AB_OP_SIZE(op)];
        code = wide->code;
        bytes = wide->size;
    } else if ((code & 7) == AB_CODE_ALLOC_ALIGNED && code != AB_CODE_FREE) {
        bytes = AB_ALIGNED_SIZE(AB_OP_SIZE(op));
    }
    if (size != NULL)
        *size = bytes;
    return ab_op_code_kind(code);
}
