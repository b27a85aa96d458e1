/* SPDX-License-Identifier: MIT
 *
 * Writes the bursts of a tape to a sealed memfd or to a file without a name, and protects it from
 * then on.
 */
#include "runner/tape/tape_file.h"

#include "base/bits.h"
#include "core/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROW = 64 };

int ab_unnamed_file(const char **folder)
{
    const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -1;
    *folder = NULL;
    for (size_t i = 0; i < AB_ARRAY_LEN(places) && fd < 0; i++) {
        *folder = places[i];
        if (places[i] != NULL)
            fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    return fd;
}

enum ab_status ab_tape_file_begin(bool is_held, struct ab_tape_file *out, struct ab_err *err)
{
    struct ab_tape_file f = {.is_held = is_held, .end = PAGE};
    _Static_assert(sizeof(struct ab_tape_image) <= PAGE, "the head has a page");
    f.fd = is_held ? memfd_create("allocbench-tape", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                   : ab_unnamed_file(&f.folder);
    if (f.fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make %s",
                             is_held ? "the tape's mapping"
                                     : "a file for the tape in $TMPDIR, /var/tmp or /tmp");
    *out = f;
    return AB_OK;
}

void ab_tape_file_abandon(struct ab_tape_file *f)
{
    if (f->end != 0)
        close(f->fd);
    free(f->bursts);
    *f = (struct ab_tape_file){0};
}

static enum ab_status no_room(const struct ab_tape_file *f, struct ab_err *err)
{
    if (f->is_held)
        return ab_fail_errno(err, AB_SYSTEM, "cannot hold the tape in memory");
    return ab_fail_errno(err, AB_SYSTEM,
                         "no space in %s for the tape after %llu bytes; set TMPDIR to another "
                         "folder, or --tape-mem to use more memory",
                         f->folder, (unsigned long long)f->end);
}

static enum ab_status write_at(const struct ab_tape_file *f, uint64_t at, const void *from,
                               size_t n, struct ab_err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pwrite(f->fd, (const char *)from + done, n - done, (off_t)(at + done));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return no_room(f, err);
        done += (size_t)k;
    }
    return AB_OK;
}

/* Behind what there is; *offset says where. */
static enum ab_status append(struct ab_tape_file *f, const void *from, size_t n, uint64_t *offset,
                             struct ab_err *err)
{
    *offset = ab_align_up(f->end, ROW);
    enum ab_status status = write_at(f, *offset, from, n, err);
    f->end = *offset + n;
    return status;
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
    if (!AB_GROW(f->bursts, f->cap_bursts, f->n_bursts))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    b.offset = f->end = ab_align_up(f->end, PAGE);
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
    if (!f->is_held) /* to disk while the next burst is made, not while something is measured */
        sync_file_range(f->fd, (off_t)b.offset, (off_t)(f->end - b.offset), SYNC_FILE_RANGE_WRITE);
    if (f->end - b.offset > f->most_bytes)
        f->most_bytes = f->end - b.offset;
    f->bursts[f->n_bursts++] = b;
    f->n_ops += tape->n_ops;
    f->n_turns += tape->n_turns;
    f->n_iterations += tape->n_iterations;
    return AB_OK;
}

/* From here on it can only be read: a memfd is sealed (F_SEAL_WRITE would forbid shared mappings that
 * read, too, on kernels before 6.7); of a file no descriptor is left but one that reads. */
static enum ab_status protect(struct ab_tape_file *f, struct ab_err *err)
{
    char path[64];
    if (f->is_held) {
        int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
        return fcntl(f->fd, F_ADD_SEALS, seals) == 0
                   ? AB_OK
                   : ab_fail_errno(err, AB_SYSTEM, "cannot seal the tape");
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot open the tape's file to read");
    close(f->fd);
    f->fd = fd;
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
        .cache_bytes = total->cache_bytes,
        .stretch_bytes = total->stretch_bytes,
        .facts = total->facts,
    };
}

static enum ab_status map_file(int fd, size_t bytes, struct ab_tape_map *out, struct ab_err *err)
{
    const struct ab_tape_image *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return ab_fail_errno(err, AB_SYSTEM, "cannot map the tape");
    struct ab_tape_part first = ab_tape_part(p, 0);
    *out = (struct ab_tape_map){
        .fd = fd,
        .image = p,
        .phases = ab_tape_phases(p),
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
    image.total_bytes = ab_align_up(f->end > last ? f->end : last, PAGE);
    if (ftruncate(f->fd, (off_t)image.total_bytes) != 0)
        return no_room(f, err);
    if ((status = write_at(f, 0, &image, sizeof image, err)) != AB_OK ||
        (status = protect(f, err)) != AB_OK ||
        (status = map_file(f->fd, image.total_bytes, out, err)) != AB_OK)
        return status;
    f->end = 0; /* the descriptor is the map's */
    ab_tape_file_abandon(f);
    return AB_OK;
}
