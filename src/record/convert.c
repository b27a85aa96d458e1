/* SPDX-License-Identifier: MIT */
#include "record/convert.h"

#include "trace/live_map.h"
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 4096, NESTED_MAX = 64 };

/* From its begin to its end a block that is resized is in nobody's hands: its address may be given
 * to a signal handler meanwhile. */
struct resizing {
    uint64_t address, number;
    bool is_known;
};

struct converter {
    struct ab_trace_writer *writer;
    struct ab_live_map live; /* address → allocation number, in the map's size */
    struct resizing resizing[NESTED_MAX]; /* begun, not yet ended: signal handlers nest */
    unsigned n_resizing;
    struct ab_convert_report *report;
};

static int open_image(const char *folder, unsigned n)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%u", folder, n);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static bool read_header(int fd, struct ab_spool_header *out)
{
    return pread(fd, out, sizeof *out, 0) == (ssize_t)sizeof *out && out->magic == AB_SPOOL_MAGIC;
}

/* The last image that recorded something; −1 = none. */
static int find_image(const char *folder, struct ab_spool_header *header, uint32_t *n_images)
{
    int found = -1, fd;
    for (unsigned n = 0; (fd = open_image(folder, n)) >= 0; n++) {
        struct ab_spool_header h;
        if (read_header(fd, &h) && h.n_events > 0) {
            if (found >= 0)
                close(found);
            found = fd;
            *header = h;
            (*n_images)++;
        } else {
            close(fd);
        }
    }
    return found;
}

static enum ab_status put(struct converter *c, const struct ab_trace_record *record,
                          uint64_t *number, struct ab_err *err)
{
    return ab_trace_write(c->writer, record, number, err);
}

static enum ab_status put_free(struct converter *c, struct ab_live *live, struct ab_err *err)
{
    struct ab_trace_record record = {.kind = AB_EVENT_FREE, .block = live->size};
    ab_live_map_remove(&c->live, live);
    return put(c, &record, NULL, err);
}

static enum ab_status add_live(struct converter *c, uint64_t address, uint64_t number,
                               struct ab_err *err)
{
    return ab_live_map_add(&c->live, address, number, 0)
               ? AB_OK
               : ab_fail(err, AB_SYSTEM, "out of memory for the live blocks");
}

static enum ab_status convert_alloc(struct converter *c, const struct ab_spool_event *e,
                                    struct ab_err *err)
{
    static const uint8_t kinds[] = {
        [AB_SPOOL_ALLOC] = AB_EVENT_ALLOC,
        [AB_SPOOL_ZEROED] = AB_EVENT_ALLOC_ZEROED,
        [AB_SPOOL_ALIGNED] = AB_EVENT_ALLOC_ALIGNED,
    };
    struct ab_trace_record record = {.kind = kinds[e->kind], .failed = e->address == 0,
                                     .size = e->size, .align = e->align};
    enum ab_status status = AB_OK;
    uint64_t number = 0;
    if (record.kind == AB_EVENT_ALLOC_ALIGNED && (e->align & (e->align - 1)) != 0) {
        if (!record.failed) /* some libraries round 48 up to 64, and so do we */
            record.align = UINT64_C(2) << (63 - __builtin_clzll(e->align));
        else
            record.align = 1;
    }
    if (record.kind == AB_EVENT_ALLOC_ALIGNED && record.align == 0)
        record.align = 1;
    struct ab_live *stale = record.failed ? NULL : ab_live_map_find(&c->live, e->address);
    if (stale != NULL) {
        c->report->n_reused++;
        status = put_free(c, stale, err);
    }
    if (status == AB_OK)
        status = put(c, &record, &number, err);
    return status == AB_OK && !record.failed ? add_live(c, e->address, number, err) : status;
}

static enum ab_status begin_resize(struct converter *c, uint64_t address, struct ab_err *err)
{
    if (c->n_resizing == NESTED_MAX)
        return ab_fail(err, AB_INPUT, "more than %d resizes within each other", NESTED_MAX);
    struct ab_live *live = ab_live_map_find(&c->live, address);
    struct resizing *r = &c->resizing[c->n_resizing++];
    *r = (struct resizing){.address = address, .is_known = live != NULL};
    if (live != NULL) {
        r->number = live->size;
        ab_live_map_remove(&c->live, live);
    }
    return AB_OK;
}

static enum ab_status end_resize(struct converter *c, const struct ab_spool_event *end,
                                 struct ab_err *err)
{
    if (c->n_resizing == 0)
        return ab_fail(err, AB_INPUT, "the spool ends a resize that it never began");
    struct resizing r = c->resizing[--c->n_resizing];
    if (!r.is_known) {
        c->report->n_foreign++;
        return AB_OK;
    }
    struct ab_trace_record record = {.kind = AB_EVENT_RESIZE, .block = r.number,
                                     .size = end->size,
                                     .failed = end->address == 0 && end->size > 0,
                                     .released = end->address == 0 && end->size == 0};
    enum ab_status status = put(c, &record, NULL, err);
    if (status != AB_OK || record.released)
        return status;
    uint64_t address = record.failed ? r.address : end->address;
    struct ab_live *stale = ab_live_map_find(&c->live, address);
    if (stale != NULL) {
        c->report->n_reused++;
        status = put_free(c, stale, err);
    }
    return status == AB_OK ? add_live(c, address, r.number, err) : status;
}

static enum ab_status convert_event(struct converter *c, const struct ab_spool_event *e,
                                    struct ab_err *err)
{
    struct ab_live *live;
    switch (e->kind) {
    case AB_SPOOL_NOTHING:
        c->report->n_unfinished++;
        return AB_OK;
    case AB_SPOOL_ALLOC:
    case AB_SPOOL_ZEROED:
    case AB_SPOOL_ALIGNED:
        return convert_alloc(c, e, err);
    case AB_SPOOL_FREE:
        if ((live = ab_live_map_find(&c->live, e->address)) != NULL)
            return put_free(c, live, err);
        c->report->n_foreign++;
        return AB_OK;
    case AB_SPOOL_RESIZE_BEGIN:
        return begin_resize(c, e->address, err);
    case AB_SPOOL_RESIZE_END:
        return end_resize(c, e, err);
    default:
        return ab_fail(err, AB_INPUT, "the spool holds an event of unknown kind %u", e->kind);
    }
}

/* Recording that stopped early has reserved places it never wrote: the file's size bounds them. */
static enum ab_status convert_all(struct converter *c, int fd, uint64_t n_events,
                                  struct ab_err *err)
{
    struct ab_spool_event *batch = malloc(BATCH * sizeof batch[0]);
    enum ab_status status = batch == NULL ? ab_fail(err, AB_SYSTEM, "out of memory") : AB_OK;
    for (uint64_t at = 0; status == AB_OK && at < n_events;) {
        uint64_t wanted = n_events - at < BATCH ? n_events - at : BATCH;
        ssize_t got = pread(fd, batch, wanted * sizeof batch[0],
                            AB_SPOOL_DATA + (off_t)(at * sizeof batch[0]));
        uint64_t n = got > 0 ? (uint64_t)got / sizeof batch[0] : 0;
        for (uint64_t i = 0; status == AB_OK && i < n; i++)
            status = convert_event(c, &batch[i], err);
        at += n;
        if (n == 0) {
            c->report->n_unfinished += n_events - at;
            break;
        }
    }
    c->report->n_unfinished += c->n_resizing;
    free(batch);
    return status;
}

enum ab_status ab_convert(const char *folder, const char *program, FILE *to,
                          struct ab_convert_report *report, struct ab_err *err)
{
    struct converter c = {.report = report};
    struct ab_spool_header header;
    *report = (struct ab_convert_report){0};
    int fd = find_image(folder, &header, &report->n_images);
    if (fd < 0)
        return ab_fail(err, AB_INPUT, "nothing was recorded");
    report->n_other = header.n_other;
    report->stop = header.stop;
    enum ab_status status;
    if (header.n_other > 0)
        status = ab_fail(err, AB_INPUT,
                         "the program called malloc from more than one thread (%llu calls from "
                         "others than the first); this version records single-threaded programs "
                         "only", (unsigned long long)header.n_other);
    else
        status = ab_trace_writer_open(to, program, &c.writer, err);
    if (status == AB_OK)
        status = convert_all(&c, fd, header.n_events, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(c.writer, &report->info, err);
        c.writer = NULL;
    }
    ab_trace_writer_abandon(c.writer);
    ab_live_map_fini(&c.live);
    close(fd);
    return status;
}
