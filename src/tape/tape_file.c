/* SPDX-License-Identifier: MIT
 *
 * Writes the bursts of a tape one after the other, then the data about all of them.
 */
#include "tape/tape_file.h"

#include "base/bits.h"
#include "base/search.h"
#include "core/alloc.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
    free(f->steps);
    *f = (struct ab_tape_file){0};
}

static enum ab_status append(struct ab_tape_file *f, const void *from, size_t n, uint64_t *offset,
                             struct ab_err *err)
{
    return ab_shared_file_append(&f->file, from, n, ROW, offset, err);
}

/* Appends both arrays, if there are any. `before` is the number of places in earlier bursts. */
static enum ab_status append_places(struct ab_tape_file *f, const struct ab_tape *tape,
                                    const struct ab_tape_places *from, uint64_t before,
                                    struct ab_burst_places *to, struct ab_err *err)
{
    size_t n_begins = (size_t)tape->n_phases * tape->facts.lanes + 1;
    *to = (struct ab_burst_places){.first = (uint32_t)before, .n = from->n};
    if (from->n == 0)
        return AB_OK;
    AB_TRY(append(f, from->at, from->n * sizeof from->at[0], &to->at_offset, err));
    return append(f, from->begin, n_begins * sizeof from->begin[0], &to->begin_offset, err);
}

/* True if a recorded thread of lane 0 ends in the burst. */
static bool ends_first(const struct ab_tape *tape)
{
    const uint32_t *begin = tape->thread_ends.begin;
    bool has_any = false;
    for (uint32_t p = 0; p < tape->n_phases && tape->thread_ends.n > 0; p++)
        has_any = has_any || (tape->phases[p].renew == 0 &&
                              begin[p * tape->facts.lanes] < begin[p * tape->facts.lanes + 1]);
    return has_any;
}

/* Adds the steps of a burst after those of earlier ones. */
static void add_steps(struct ab_tape_file *f, const struct ab_tape *tape)
{
    for (uint32_t i = 0; i < tape->n_steps; i++) {
        AB_GROW(f->steps, f->cap_steps, f->n_steps);
        f->steps[f->n_steps] = tape->steps[i];
        f->steps[f->n_steps++].position += (uint32_t)f->n_ops;
    }
}

static enum ab_status append_marks(struct ab_tape_file *f, const struct ab_tape *tape,
                                   bool as_it_lies, struct ab_op_marks *out, struct ab_err *err)
{
    size_t n_words = (size_t)tape->n_ops / 64 + 1,
           n_rows = (size_t)tape->n_ops / AB_OP_MARKS_ROW + 1;
    uint64_t *bits = ab_alloc_zeroed(n_words, sizeof bits[0]);
    uint32_t *before = ab_alloc_zeroed(n_rows, sizeof before[0]), n = (uint32_t)f->n_counted;
    ab_tape_mark_ops(tape, as_it_lies, bits);
    for (size_t i = 0; i < n_words; i++) {
        if (i % (AB_OP_MARKS_ROW / 64) == 0)
            before[i / (AB_OP_MARKS_ROW / 64)] = n;
        n += (uint32_t)__builtin_popcountll(bits[i]);
    }
    enum ab_status status = append(f, bits, n_words * sizeof bits[0], &out->bits_offset, err);
    if (status == AB_OK)
        status = append(f, before, n_rows * sizeof before[0], &out->before_offset, err);
    free(bits);
    free(before);
    return status;
}

/* Appends the marks in both orders, which are the same with one lane. */
static enum ab_status append_both_marks(struct ab_tape_file *f, const struct ab_tape *tape,
                                        struct ab_burst *b, struct ab_err *err)
{
    AB_TRY(append_marks(f, tape, true, &b->as_it_lies, err));
    b->in_order = b->as_it_lies;
    return tape->facts.lanes == 1 ? AB_OK : append_marks(f, tape, false, &b->in_order, err);
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
        (status = append_places(f, tape, &tape->iterations, f->n_iterations, &b.iterations, err)) !=
            AB_OK ||
        (status = append_places(f, tape, &tape->thread_ends, f->n_thread_ends, &b.thread_ends,
                                err)) != AB_OK ||
        (status = append(f, tape->ops, ((size_t)tape->n_ops + AB_TAPE_PAD) * sizeof tape->ops[0],
                         &b.ops_offset, err)) != AB_OK)
        return status;
    ab_shared_file_push(&f->file, b.offset);
    if (f->file.end - b.offset > f->most_bytes)
        f->most_bytes = f->file.end - b.offset;
    AB_TRY(append_both_marks(f, tape, &b, err));
    f->bursts[f->n_bursts++] = b;
    add_steps(f, tape);
    f->n_counted += ab_tape_ops(tape);
    f->n_ops += tape->n_ops;
    f->n_turns += tape->n_turns;
    f->n_iterations += tape->iterations.n;
    f->n_thread_ends += tape->thread_ends.n;
    f->has_first_ended = f->has_first_ended || ends_first(tape);
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
        .n_thread_ends = (uint32_t)f->n_thread_ends,
        .has_first_ended = f->has_first_ended,
        .n_turns = f->n_turns,
        .n_edges = total->n_edges,
        .n_remote = total->n_remote,
        .stretch_bytes = total->stretch_bytes,
        .n_sized_frees = total->n_sized_frees,
        .n_trims = total->n_trims,
        .longest_walk = total->longest_walk,
        .facts = total->facts,
        .duration_ns = total->duration_ns,
        .n_steps = (uint32_t)f->n_steps,
        .n_counted = (uint32_t)f->n_counted,
    };
}

static enum ab_status map_file(struct ab_tape_file *f, size_t bytes, struct ab_tape_map *out,
                               struct ab_err *err)
{
    const void *p = NULL;
    int fd = -1;
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
                         err)) != AB_OK ||
        (status = append(f, f->steps, f->n_steps * sizeof f->steps[0], &image.steps_offset, err)) !=
            AB_OK)
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

/* ---- memfds and unnamed files: writing and protecting ---- */

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

enum ab_status ab_shared_file_begin(bool is_held, const char *what, uint64_t begin,
                                    struct ab_shared_file *out, struct ab_err *err)
{
    struct ab_shared_file f = {.is_open = true, .is_held = is_held, .what = what, .end = begin};
    f.fd = is_held ? memfd_create("allocbench", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                   : ab_unnamed_file(&f.folder);
    if (f.fd < 0 && is_held)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make a mapping for %s", what);
    if (f.fd < 0)
        return ab_fail_errno(err, AB_SYSTEM,
                             "cannot make a file for %s in $TMPDIR, /var/tmp or /tmp", what);
    *out = f;
    return AB_OK;
}

void ab_shared_file_abandon(struct ab_shared_file *f)
{
    if (f->is_open)
        close(f->fd);
    *f = (struct ab_shared_file){0};
}

static enum ab_status no_room(const struct ab_shared_file *f, struct ab_err *err)
{
    if (f->is_held)
        return ab_fail_errno(err, AB_SYSTEM, "cannot hold %s in memory", f->what);
    return ab_fail_errno(err, AB_SYSTEM,
                         "no space in %s for %s after %llu bytes; set TMPDIR to another "
                         "folder, or --tape-mem to use more memory",
                         f->folder, f->what, (unsigned long long)f->end);
}

enum ab_status ab_shared_file_write(const struct ab_shared_file *f, uint64_t at, const void *from,
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

enum ab_status ab_shared_file_append(struct ab_shared_file *f, const void *from, size_t n,
                                     uint64_t align, uint64_t *offset, struct ab_err *err)
{
    *offset = ab_align_up(f->end, align);
    enum ab_status status = ab_shared_file_write(f, *offset, from, n, err);
    f->end = *offset + n;
    return status;
}

void ab_shared_file_push(const struct ab_shared_file *f, uint64_t at)
{
    if (!f->is_held)
        sync_file_range(f->fd, (off_t)at, (off_t)(f->end - at), SYNC_FILE_RANGE_WRITE);
}

/* Makes a file read-only. A memfd is sealed. (F_SEAL_WRITE would also forbid shared read-only
 * mappings on kernels before 6.7.) For an unnamed file, only a read-only descriptor remains. */
enum ab_status ab_shared_file_protect(struct ab_shared_file *f, uint64_t bytes, struct ab_err *err)
{
    char path[64];
    if (ftruncate(f->fd, (off_t)bytes) != 0)
        return no_room(f, err);
    if (f->is_held) {
        int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
        return fcntl(f->fd, F_ADD_SEALS, seals) == 0
                   ? AB_OK
                   : ab_fail_errno(err, AB_SYSTEM, "cannot seal %s", f->what);
    }
    AB_FIT(path, "/proc/self/fd/%d", f->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot open the file of %s to read", f->what);
    close(f->fd);
    f->fd = fd;
    return AB_OK;
}

enum ab_status ab_shared_file_map(struct ab_shared_file *f, uint64_t bytes, int *fd,
                                  const void **out, struct ab_err *err)
{
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED)
        return ab_fail_errno(err, AB_SYSTEM, "cannot map %s", f->what);
    *fd = f->fd;
    *out = p;
    *f = (struct ab_shared_file){0};
    return AB_OK;
}

/* ---- mapping a tape file in the parent, and finding ops in it by position ---- */

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
    free(tape->steps);
    tape->steps = NULL;
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

void ab_tape_burst_forget(const struct ab_tape_image *image, uint32_t burst)
{
    if (image->n_bursts > 1)
        madvise((char *)image + ab_tape_burst(image, burst)->offset, image->most_bytes,
                MADV_DONTNEED);
}

static uint32_t burst_number(const struct ab_tape_image *image, uint32_t position)
{
    return (uint32_t)AB_SEARCH(i, image->n_bursts - 1,
                               ab_tape_burst(image, (uint32_t)i + 1)->first <= position);
}

uint32_t ab_tape_map_find(const struct ab_tape_map *m, uint32_t position)
{
    return burst_number(m->image, position);
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

/* ---- counting operations by the marks of the bursts ---- */

static uint32_t marked_before(const struct ab_tape_image *image, const struct ab_op_marks *marks,
                              uint32_t at)
{
    const char *file = (const char *)image;
    const uint64_t *bits = (const void *)(file + marks->bits_offset);
    uint32_t row = at / AB_OP_MARKS_ROW;
    uint32_t n = ((const uint32_t *)(const void *)(file + marks->before_offset))[row];
    for (uint32_t i = row * (AB_OP_MARKS_ROW / 64); i < at / 64; i++)
        n += (uint32_t)__builtin_popcountll(bits[i]);
    return n + (uint32_t)__builtin_popcountll(bits[at / 64] & ((UINT64_C(1) << at % 64) - 1));
}

uint32_t ab_tape_ops_before(const struct ab_tape_image *image, uint32_t position)
{
    const struct ab_burst *b = ab_tape_burst(image, burst_number(image, position));
    return position < image->n_ops ? marked_before(image, &b->in_order, position - b->first)
                                   : image->n_counted;
}

uint32_t ab_tape_ops_before_as_it_lies(const struct ab_tape_image *image, uint32_t position)
{
    const struct ab_burst *b = ab_tape_burst(image, burst_number(image, position));
    return position < image->n_ops ? marked_before(image, &b->as_it_lies, position - b->first)
                                   : image->n_counted;
}

uint32_t ab_tape_position_of(const struct ab_tape_image *image, uint32_t n_ops)
{
    return (uint32_t)AB_SEARCH(i, image->n_ops, ab_tape_ops_before(image, (uint32_t)i) < n_ops);
}
