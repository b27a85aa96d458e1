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

static void copy_tape(const struct ab_tape *tape, struct ab_tape_image *image)
{
    char *base = (char *)image;
    memcpy(base + image->ops_offset, tape->ops, (tape->n_ops + AB_TAPE_PAD) * sizeof tape->ops[0]);
    if (tape->n_wide > 0)
        memcpy(base + image->wide_offset, tape->wide, tape->n_wide * sizeof tape->wide[0]);
    memcpy(base + image->phases_offset, tape->phases, tape->n_phases * sizeof tape->phases[0]);
    memcpy(base + image->lane_begin_offset, tape->lane_begin,
           ((size_t)tape->n_phases * tape->facts.lanes + 1) * sizeof tape->lane_begin[0]);
    if (tape->n_turns > 0)
        memcpy(base + image->turns_offset, tape->turns, tape->n_turns * sizeof tape->turns[0]);
}

static struct ab_tape_image layout(const struct ab_tape *tape)
{
    struct ab_tape_image image = {
        .magic = AB_TAPE_IMAGE_MAGIC,
        .size = sizeof image,
        .n_ops = tape->n_ops,
        .n_wide = tape->n_wide,
        .n_phases = tape->n_phases,
        .n_slots = tape->n_slots,
        .n_lanes = tape->facts.lanes,
        .n_turns = tape->n_turns,
        .window = tape->window,
        .n_edges = tape->n_edges,
        .n_remote = tape->n_remote,
        .facts = tape->facts,
    };
    image.ops_offset = ab_align_up(sizeof image, 64);
    image.wide_offset =
        ab_align_up(image.ops_offset + ((size_t)tape->n_ops + AB_TAPE_PAD) * 8, 64);
    image.phases_offset =
        ab_align_up(image.wide_offset + tape->n_wide * sizeof(struct ab_wide), 64);
    image.lane_begin_offset =
        ab_align_up(image.phases_offset + tape->n_phases * sizeof(struct ab_phase), 64);
    image.turns_offset = ab_align_up(
        image.lane_begin_offset + ((size_t)tape->n_phases * image.n_lanes + 1) * 4, 64);
    image.total_bytes = image.turns_offset + (size_t)tape->n_turns * sizeof(struct ab_turn);
    return image;
}

enum ab_status ab_tape_map_open(struct ab_tape *tape, struct ab_tape_map *out, struct ab_err *err)
{
    if (tape->n_phases > AB_PHASES_MAX)
        return ab_fail(err, AB_CONFIG, "%u phases; at most %d can be measured", tape->n_phases,
                       AB_PHASES_MAX);
    struct ab_tape_image image = layout(tape);
    int fd = ab_memfd("allocbench-tape", image.total_bytes);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make the tape's mapping of %llu bytes",
                             (unsigned long long)image.total_bytes);
    struct ab_tape_image *p =
        mmap(NULL, image.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        close(fd);
        return ab_fail_errno(err, AB_SYSTEM, "cannot map the tape");
    }
    *p = image;
    copy_tape(tape, p);
    munmap(p, image.total_bytes);
    p = mmap(NULL, image.total_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
        close(fd);
        return ab_fail_errno(err, AB_SYSTEM, "cannot seal the tape");
    }
    free(tape->ops);
    free(tape->wide);
    free(tape->turns);
    tape->ops = NULL;
    tape->wide = NULL;
    tape->turns = NULL;
    *out = (struct ab_tape_map){
        .fd = fd,
        .map = p,
        .bytes = image.total_bytes,
        .image = p,
        .ops = (const uint64_t *)((char *)p + image.ops_offset),
        .wide = (const struct ab_wide *)((char *)p + image.wide_offset),
        .phases = (const struct ab_phase *)((char *)p + image.phases_offset),
    };
    return AB_OK;
}

void ab_tape_map_close(struct ab_tape_map *m)
{
    if (m->map == NULL)
        return;
    munmap(m->map, m->bytes);
    close(m->fd);
    *m = (struct ab_tape_map){0};
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
