/* SPDX-License-Identifier: MIT
 *
 * Reads an image in order, once, with memory O(live blocks). The recorded program shared the
 * mapping and may have scribbled over it, so the file is believed no more than any other input.
 */
#include "record/convert.h"

#include "core/bits.h"
#include "trace/live_map.h"
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 8192, NESTED_MAX = 64 };

struct image {
    int fd;
    uint64_t n_events;
    struct ab_spool_header header;
};

struct pending { /* a resize that has begun */
    struct ab_trace_record record;
    uint64_t address;
    bool is_seen;
};

struct converter {
    struct ab_trace_writer *writer;
    struct ab_live_map blocks; /* address → number of its allocation, kept in `size` */
    struct pending pending[NESTED_MAX]; /* more than one only when signal handlers resize too */
    unsigned n_pending;
    uint64_t position;
    struct ab_conversion result;
};

/* ---- images ---- */

static enum ab_status read_at(int fd, void *to, size_t n, uint64_t offset, struct ab_err *err)
{
    for (size_t got = 0; got < n;) {
        ssize_t r = pread(fd, (char *)to + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return ab_fail_errno(err, AB_SYSTEM, "cannot read the recording");
        if (r == 0)
            return ab_fail(err, AB_INPUT, "the recording is cut off");
        got += (size_t)r;
    }
    return AB_OK;
}

/* fd -1 and no events when there is no such image or it never got going. */
static void open_image(const char *dir, uint32_t number, struct image *out)
{
    char path[PATH_MAX];
    struct stat st;
    *out = (struct image){.fd = -1};
    snprintf(path, sizeof path, AB_SPOOL_IMAGE_FORMAT, dir, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    struct ab_spool_header *h = &out->header;
    if (fstat(fd, &st) != 0 || st.st_size < AB_SPOOL_HEADER_BYTES ||
        read_at(fd, h, sizeof *h, 0, NULL) != AB_OK || h->magic != AB_SPOOL_MAGIC ||
        h->version != AB_SPOOL_VERSION) {
        close(fd);
        return;
    }
    uint64_t room = ((uint64_t)st.st_size - AB_SPOOL_HEADER_BYTES) / sizeof(struct ab_spool_event);
    h->program[AB_SPOOL_PROGRAM_MAX] = 0;
    out->fd = fd;
    out->n_events = h->n_taken < room ? h->n_taken : room;
}

static enum ab_status read_control(const char *dir, struct ab_spool_control *out,
                                   struct ab_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, AB_SPOOL_CONTROL_NAME);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read the recording");
    enum ab_status status = read_at(fd, out, sizeof *out, 0, err);
    close(fd);
    return status;
}

/* The last image that recorded anything; fd -1 when none did. */
static void find_image(const char *dir, uint32_t n, struct image *out, uint32_t *n_with_events)
{
    *out = (struct image){.fd = -1};
    *n_with_events = 0;
    for (uint32_t i = 0; i < n && i < AB_SPOOL_IMAGES_MAX; i++) {
        struct image image;
        open_image(dir, i, &image);
        if (image.n_events == 0) {
            if (image.fd >= 0)
                close(image.fd);
            continue;
        }
        if (out->fd >= 0)
            close(out->fd);
        *out = image;
        ++*n_with_events;
    }
}

static enum ab_status check_image(const struct ab_spool_control *control,
                                  const struct image *image, struct ab_err *err)
{
    if (control->stop_errno != 0)
        return ab_fail(err, AB_SYSTEM, "recording could not begin: %s",
                       strerror((int)control->stop_errno));
    if (image->fd < 0 && control->n_images == 0)
        return ab_fail(err, AB_INPUT,
                       "nothing was recorded: the recorder was not loaded into the program; a "
                       "wrapper may have emptied LD_PRELOAD, or the program is one that ignores it");
    if (image->fd < 0)
        return ab_fail(err, AB_INPUT,
                       "nothing was recorded: the program never called malloc and its kin, or has "
                       "an allocator of its own linked in");
    if (image->header.stop_errno != 0)
        return ab_fail(err, AB_SYSTEM,
                       "recording stopped after %llu events while the program went on: %s",
                       (unsigned long long)image->n_events,
                       strerror((int)image->header.stop_errno));
    if (image->header.n_threads > 1)
        return ab_fail(err, AB_INPUT,
                       "%u threads of the program allocate; this version records single-threaded "
                       "programs only",
                       image->header.n_threads);
    return AB_OK;
}

/* ---- events ---- */

static struct ab_live *find_block(struct converter *c, uint64_t address)
{
    return ab_live_map_find(&c->blocks, address);
}

static enum ab_status add_block(struct converter *c, uint64_t address, uint64_t number,
                                struct ab_err *err)
{
    if (address == UINT64_MAX || find_block(c, address) != NULL)
        return ab_fail(err, AB_INPUT,
                       "the recording contradicts itself at event %llu: a block begins where one "
                       "is live; the program frees memory by ways that cannot be recorded",
                       (unsigned long long)c->position);
    return ab_live_map_add(&c->blocks, address, number, 0)
               ? AB_OK
               : ab_fail(err, AB_SYSTEM, "out of memory for the live blocks");
}

static enum ab_status take_alloc(struct converter *c, const struct ab_spool_event *e,
                                 struct ab_err *err)
{
    static const uint8_t kinds[] = {
        [AB_SPOOL_ALLOC] = AB_EVENT_ALLOC,
        [AB_SPOOL_ALLOC_ZEROED] = AB_EVENT_ALLOC_ZEROED,
        [AB_SPOOL_ALLOC_ALIGNED] = AB_EVENT_ALLOC_ALIGNED,
    };
    uint64_t number = 0;
    struct ab_trace_record r = {.kind = kinds[AB_SPOOL_KIND(e->what)],
                                .failed = e->address == 0,
                                .size = e->size};
    if (r.kind == AB_EVENT_ALLOC_ALIGNED)
        r.align = (uint64_t)1 << (AB_SPOOL_LOG2(e->what) & 63);
    enum ab_status status = ab_trace_write(c->writer, &r, &number, err);
    if (status != AB_OK || r.failed)
        return status;
    return add_block(c, e->address, number, err);
}

static enum ab_status take_free(struct converter *c, const struct ab_spool_event *e,
                                struct ab_err *err)
{
    struct ab_live *block = find_block(c, e->address);
    if (block == NULL) {
        c->result.unseen++;
        return AB_OK;
    }
    struct ab_trace_record r = {.kind = AB_EVENT_FREE, .block = block->size};
    ab_live_map_remove(&c->blocks, block);
    return ab_trace_write(c->writer, &r, NULL, err);
}

static enum ab_status begin_resize(struct converter *c, const struct ab_spool_event *e,
                                   struct ab_err *err)
{
    if (c->n_pending == NESTED_MAX)
        return ab_fail(err, AB_INPUT, "the recording contradicts itself at event %llu: %u resizes "
                       "within each other", (unsigned long long)c->position, NESTED_MAX);
    struct ab_live *block = find_block(c, e->address);
    struct pending *p = &c->pending[c->n_pending++];
    *p = (struct pending){.address = e->address, .is_seen = block != NULL};
    p->record.kind = AB_EVENT_RESIZE;
    if (block == NULL)
        return AB_OK;
    p->record.block = block->size;
    ab_live_map_remove(&c->blocks, block);
    return AB_OK;
}

static enum ab_status end_resize(struct converter *c, const struct ab_spool_event *e,
                                 struct ab_err *err)
{
    if (c->n_pending == 0) {
        c->result.lost++;
        return AB_OK;
    }
    struct pending *p = &c->pending[--c->n_pending];
    if (!p->is_seen) {
        c->result.unseen++;
        return AB_OK;
    }
    p->record.size = e->size;
    p->record.released = e->address == 0 && e->size == 0;
    p->record.failed = e->address == 0 && e->size != 0;
    enum ab_status status = ab_trace_write(c->writer, &p->record, NULL, err);
    if (status != AB_OK || p->record.released)
        return status;
    return add_block(c, p->record.failed ? p->address : e->address, p->record.block, err);
}

static enum ab_status take(struct converter *c, const struct ab_spool_event *e, struct ab_err *err)
{
    c->position++;
    switch (AB_SPOOL_KIND(e->what)) {
    case AB_SPOOL_HOLE:
        c->result.lost++;
        return AB_OK;
    case AB_SPOOL_ALLOC:
    case AB_SPOOL_ALLOC_ZEROED:
    case AB_SPOOL_ALLOC_ALIGNED:
        return take_alloc(c, e, err);
    case AB_SPOOL_FREE:
        return take_free(c, e, err);
    case AB_SPOOL_RESIZE_BEGIN:
        return begin_resize(c, e, err);
    case AB_SPOOL_RESIZE_END:
        return end_resize(c, e, err);
    default:
        return ab_fail(err, AB_INPUT, "the recording is damaged at event %llu: kind %u",
                       (unsigned long long)c->position, AB_SPOOL_KIND(e->what));
    }
}

static enum ab_status take_all(struct converter *c, const struct image *image, struct ab_err *err)
{
    struct ab_spool_event *events = malloc(BATCH * sizeof events[0]);
    enum ab_status status = events == NULL ? ab_fail(err, AB_SYSTEM, "out of memory") : AB_OK;
    for (uint64_t done = 0; status == AB_OK && done < image->n_events;) {
        uint64_t left = image->n_events - done;
        size_t n = left < BATCH ? (size_t)left : BATCH;
        status = read_at(image->fd, events, n * sizeof events[0],
                         AB_SPOOL_HEADER_BYTES + done * sizeof events[0], err);
        for (size_t i = 0; status == AB_OK && i < n; i++)
            status = take(c, &events[i], err);
        done += n;
    }
    c->result.lost += c->n_pending; /* ended within a resize: it never came about */
    free(events);
    return status;
}

/* Any bytes are a file name; a trace keeps what can be printed anywhere. */
static void make_printable(char *s)
{
    for (; *s != 0; s++)
        if (*s < ' ' || *s > '~')
            *s = '?';
}

enum ab_status ab_spool_convert(const char *dir, FILE *to, struct ab_conversion *out,
                                struct ab_err *err)
{
    struct ab_spool_control control;
    struct converter c = {0};
    struct image image = {.fd = -1};
    enum ab_status status = read_control(dir, &control, err);
    if (status != AB_OK)
        return status;
    find_image(dir, control.n_images, &image, &c.result.n_images);
    if ((status = check_image(&control, &image, err)) != AB_OK)
        goto out;
    make_printable(image.header.program);
    if ((status = ab_trace_writer_open(to, image.header.program, &c.writer, err)) != AB_OK ||
        (status = take_all(&c, &image, err)) != AB_OK)
        goto out;
    status = ab_trace_writer_close(c.writer, &c.result.info, err);
    c.writer = NULL;
    if (status == AB_OK && c.result.info.events == 0)
        status = ab_fail(err, AB_INPUT, "nothing was recorded: no call was completed");
    if (status == AB_OK)
        *out = c.result;
out:
    if (c.writer != NULL)
        ab_trace_writer_abandon(c.writer);
    ab_live_map_fini(&c.blocks);
    if (image.fd >= 0)
        close(image.fd);
    return status;
}
