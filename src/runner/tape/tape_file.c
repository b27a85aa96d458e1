/* SPDX-License-Identifier: MIT
 *
 * Writes the bursts of a tape one after the other, then what is known of them all.
 */
#include "runner/tape/tape_file.h"

#include "base/bits.h"
#include "core/grow.h"

#include <stdlib.h>

enum { PAGE = 4096, ROW = 64 };

enum ab_status ab_tape_file_begin(bool is_held, struct ab_tape_file *out, struct ab_err *err)
{
    _Static_assert(sizeof(struct ab_tape_image) <= PAGE, "the head has a page");
    *out = (struct ab_tape_file){0};
    return ab_shared_file_begin(is_held, "the tape", PAGE, &out->file, err);
}

void ab_tape_file_abandon(struct ab_tape_file *f)
{
    ab_shared_file_abandon(&f->file);
    free(f->bursts);
    *f = (struct ab_tape_file){0};
}

static enum ab_status append(struct ab_tape_file *f, const void *from, size_t n, uint64_t *offset,
                             struct ab_err *err)
{
    return ab_shared_file_append(&f->file, from, n, ROW, offset, err);
}

/* Both arrays, where there are iterations. */
static enum ab_status append_iterations(struct ab_tape_file *f, const struct ab_tape *tape,
                                        struct ab_burst *b, struct ab_err *err)
{
    size_t n_begins = (size_t)tape->n_phases * tape->facts.lanes + 1;
    b->first_iteration = (uint32_t)f->n_iterations;
    b->n_iterations = tape->n_iterations;
    if (tape->n_iterations == 0)
        return AB_OK;
    enum ab_status status = append(f, tape->iterations,
                                   tape->n_iterations * sizeof tape->iterations[0],
                                   &b->iterations_offset, err);
    if (status == AB_OK)
        status = append(f, tape->iteration_begin, n_begins * sizeof tape->iteration_begin[0],
                        &b->iteration_begin_offset, err);
    return status;
}

enum ab_status ab_tape_file_add(struct ab_tape_file *f, const struct ab_tape *tape,
                                struct ab_err *err)
{
    size_t n_begins = (size_t)tape->n_phases * tape->facts.lanes + 1;
    struct ab_burst b = {.first = (uint32_t)f->n_ops, .n_ops = tape->n_ops};
    enum ab_status status;
    if (f->n_ops + tape->n_ops > AB_TAPE_MAX_OPS)
        return ab_fail(err, AB_SYSTEM, "more than %u ops; `trace cut` makes shorter traces",
                       AB_TAPE_MAX_OPS);
    AB_GROW(f->bursts, f->cap_bursts, f->n_bursts);
    b.offset = f->file.end = ab_align_up(f->file.end, PAGE);
    if ((status = append(f, tape->phases, tape->n_phases * sizeof tape->phases[0], &b.phases_offset,
                         err)) != AB_OK ||
        (status = append(f, tape->lane_begin, n_begins * sizeof tape->lane_begin[0],
                         &b.lane_begin_offset, err)) != AB_OK ||
        (status = append(f, tape->turns, tape->n_turns * sizeof tape->turns[0], &b.turns_offset,
                         err)) != AB_OK ||
        (status = append(f, tape->wide, tape->n_wide * sizeof tape->wide[0], &b.wide_offset,
                         err)) != AB_OK ||
        (status = append_iterations(f, tape, &b, err)) != AB_OK ||
        (status = append(f, tape->ops, ((size_t)tape->n_ops + AB_TAPE_PAD) * sizeof tape->ops[0],
                         &b.ops_offset, err)) != AB_OK)
        return status;
    ab_shared_file_push(&f->file, b.offset);
    if (f->file.end - b.offset > f->most_bytes)
        f->most_bytes = f->file.end - b.offset;
    f->bursts[f->n_bursts++] = b;
    f->n_ops += tape->n_ops;
    f->n_turns += tape->n_turns;
    f->n_iterations += tape->n_iterations;
    return AB_OK;
}

static struct ab_tape_image head(const struct ab_tape_file *f, const struct ab_tape *total)
{
    return (struct ab_tape_image){
        .magic = AB_TAPE_IMAGE_MAGIC,
        .size = sizeof(struct ab_tape_image),
        .most_bytes = ab_align_up(f->most_bytes, PAGE),
        .n_ops = (uint32_t)f->n_ops,
        .n_phases = total->n_phases,
        .n_slots = total->n_slots,
        .n_lanes = total->facts.lanes,
        .window = total->window,
        .n_bursts = (uint32_t)f->n_bursts,
        .n_iterations = (uint32_t)f->n_iterations,
        .n_turns = f->n_turns,
        .n_edges = total->n_edges,
        .n_remote = total->n_remote,
        .stretch_bytes = total->stretch_bytes,
        .facts = total->facts,
    };
}

static enum ab_status map_file(struct ab_tape_file *f, size_t bytes, struct ab_tape_map *out,
                               struct ab_err *err)
{
    const void *p;
    int fd;
    AB_TRY(ab_shared_file_map(&f->file, bytes, &fd, &p, err));
    const struct ab_tape_image *image = p;
    struct ab_tape_part first = ab_tape_part(image, 0);
    *out = (struct ab_tape_map){
        .fd = fd,
        .image = image,
        .phases = ab_tape_phases(image),
        .ops = first.ops,
        .wide = first.wide,
        .lane_begin = first.lane_begin,
    };
    return AB_OK;
}

enum ab_status ab_tape_file_end(struct ab_tape_file *f, const struct ab_tape *total,
                                struct ab_tape_map *out, struct ab_err *err)
{
    struct ab_tape_image image = head(f, total);
    enum ab_status status;
    if (total->n_phases > AB_PHASES_MAX)
        return ab_fail(err, AB_CONFIG, "%u phases; at most %d can be measured", total->n_phases,
                       AB_PHASES_MAX);
    if ((status = append(f, total->phases, total->n_phases * sizeof total->phases[0],
                         &image.phases_offset, err)) != AB_OK ||
        (status = append(f, f->bursts, f->n_bursts * sizeof f->bursts[0], &image.bursts_offset,
                         err)) != AB_OK)
        return status;
    uint64_t last = f->bursts[f->n_bursts - 1].offset + image.most_bytes;
    image.total_bytes = ab_align_up(f->file.end > last ? f->file.end : last, PAGE);
    if ((status = ab_shared_file_write(&f->file, 0, &image, sizeof image, err)) != AB_OK ||
        (status = ab_shared_file_protect(&f->file, image.total_bytes, err)) != AB_OK ||
        (status = map_file(f, image.total_bytes, out, err)) != AB_OK)
        return status;
    ab_tape_file_abandon(f);
    return AB_OK;
}
