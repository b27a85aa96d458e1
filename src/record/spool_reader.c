/* SPDX-License-Identifier: MIT
 *
 * Lists the images of a spool, and reads the stream of a thread slot from its packed chunks and
 * its mapped buffers, a bounded piece at a time.
 */
#include "record/spool_reader.h"

#include "base/bits.h"
#include "core/grow.h"
#include "record/preload/spool_codec.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void slot_path(char *out, size_t cap, const char *folder, const struct ab_spool_entry *image,
                      uint32_t slot)
{
    snprintf(out, cap, "%s/%u.%u.%u", folder, image->image.pid, image->generation, slot);
}

/* How many of the bytes there are. */
static size_t read_some(const char *path, void *out, size_t bytes, uint64_t at)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    ssize_t n = pread(fd, out, bytes, (off_t)at);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* False when the file is not there or not whole. */
static bool read_at(const char *path, void *out, size_t bytes, uint64_t at)
{
    return read_some(path, out, bytes, at) == bytes;
}

static bool read_tail(const char *folder, const struct ab_spool_entry *image, uint32_t slot,
                      struct ab_spool_tail *out)
{
    char path[PATH_MAX];
    slot_path(path, sizeof path, folder, image, slot);
    return read_at(path, out, sizeof *out, 0) && out->magic == AB_SPOOL_MAGIC;
}

static bool read_image(const char *folder, const char *name, struct ab_spool_entry *out)
{
    char path[PATH_MAX];
    unsigned pid, generation;
    int n = 0;
    if (sscanf(name, "%u.%u%n", &pid, &generation, &n) != 2 || name[n] != 0)
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *out = (struct ab_spool_entry){.generation = generation};
    if (!read_at(path, &out->image, sizeof out->image, 0) || out->image.magic != AB_SPOOL_MAGIC ||
        out->image.pid != pid)
        return false;
    out->image.program[sizeof out->image.program - 1] = 0;
    out->image.comm[sizeof out->image.comm - 1] = 0;
    if (out->image.n_slots > AB_SPOOL_SLOTS_MAX)
        out->image.n_slots = AB_SPOOL_SLOTS_MAX;
    for (uint32_t slot = 0; slot < out->image.n_slots; slot++) {
        struct ab_spool_tail tail;
        if (!read_tail(folder, out, slot, &tail))
            continue;
        out->n_events += tail.n_events;
        out->n_calls += tail.n_asides < tail.n_events ? tail.n_events - tail.n_asides : 0;
    }
    return true;
}

static int by_process(const void *a, const void *b)
{
    const struct ab_spool_entry *x = a, *y = b;
    int pid = AB_COMPARE(x->image.pid, y->image.pid);
    return pid != 0 ? pid : AB_COMPARE(x->generation, y->generation);
}

enum ab_status ab_spool_list(const char *folder, struct ab_spool_entry **out, size_t *n,
                             struct ab_err *err)
{
    struct ab_spool_entry *entries = NULL, entry;
    size_t used = 0, cap = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return ab_fail_errno(err, AB_INPUT, "cannot read the spool %s", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!read_image(folder, e->d_name, &entry))
            continue;
        if (!AB_GROW(entries, cap, used)) {
            free(entries);
            closedir(dir);
            return ab_fail(err, AB_SYSTEM, "out of memory for the list of processes");
        }
        entries[used++] = entry;
    }
    closedir(dir);
    if (used > 0)
        qsort(entries, used, sizeof entries[0], by_process);
    *out = entries;
    *n = used;
    return AB_OK;
}

bool ab_spool_read_control(const char *folder, struct ab_spool_control *out)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" AB_SPOOL_CONTROL, folder);
    return read_at(path, out, sizeof *out, 0) && out->magic == AB_SPOOL_MAGIC;
}

uint32_t ab_spool_read_end(const char *folder)
{
    struct ab_spool_control *control = malloc(sizeof *control);
    bool is_read = control != NULL && ab_spool_read_control(folder, control);
    uint32_t end = is_read ? control->stop : AB_SPOOL_RUNNING;
    free(control);
    return end;
}

/* ---- one stream ---- */

enum { WINDOW = AB_SPOOL_PACK_BYTES + sizeof(struct ab_spool_chunk) };

/* The next n bytes of the chunks, without passing over them; NULL when they are not there. */
static const uint8_t *peek(struct ab_stream *s, const char *path, size_t n)
{
    bool is_saved = s->chunks_read < s->data_bytes;
    uint64_t offset = is_saved ? s->chunks_read : s->chunks_read - s->data_bytes;
    uint64_t left = (is_saved ? s->data_bytes : s->pack_bytes) - offset;
    if (n > left)
        return NULL;
    if (s->chunks_read < s->window_at || s->chunks_read + n > s->window_at + s->window_bytes) {
        uint64_t bytes = left < WINDOW ? left : WINDOW;
        s->window_bytes = read_some(path, s->window, bytes,
                                    (is_saved ? AB_SPOOL_DATA : AB_SPOOL_PACK) + offset);
        s->window_at = s->chunks_read;
    }
    uint64_t begin = s->chunks_read - s->window_at;
    return s->window_bytes - begin >= n ? s->window + begin : NULL;
}

/* The words of the next chunk; NULL when there is none that is whole. */
static const uint64_t *peek_chunk(struct ab_stream *s, const char *path,
                                  struct ab_spool_chunk *chunk)
{
    const uint8_t *head = peek(s, path, sizeof *chunk);
    if (head == NULL)
        return NULL;
    memcpy(chunk, head, sizeof *chunk);
    if (chunk->bytes % 8 != 0 || chunk->bytes > AB_SPOOL_PACK_BYTES)
        return NULL;
    const uint8_t *whole = peek(s, path, sizeof *chunk + chunk->bytes);
    return whole != NULL ? (const uint64_t *)(const void *)(whole + sizeof *chunk) : NULL;
}

/* False when it is in no chunk that can be read. Chunks before it are passed over: those that a
 * killed recorder had saved and not yet removed from where it packed them. */
static bool read_packed(struct ab_stream *s, const char *path, uint64_t number)
{
    struct ab_spool_chunk chunk = {0};
    while (s->chunks_read < s->data_bytes + s->pack_bytes) {
        const uint64_t *words = peek_chunk(s, path, &chunk);
        if (words == NULL || chunk.number > number)
            return false;
        s->chunks_read += sizeof chunk + chunk.bytes;
        if (chunk.number == number)
            return ab_half_unpack(words, chunk.bytes / 8, s->half, AB_SPOOL_HALF_EVENTS);
    }
    return false;
}

/* Only what is in no chunk: a half that was packed may be half emptied since. */
static bool read_mapped(struct ab_stream *s, const char *path, uint64_t number)
{
    for (unsigned half = 0; half < 2; half++)
        if (s->half_number[half] == number + 1)
            return read_at(path, s->half, AB_SPOOL_HALF,
                           AB_SPOOL_TAIL + half * (uint64_t)AB_SPOOL_HALF);
    return false;
}

static bool make_room(struct ab_stream *s)
{
    if (s->half == NULL)
        s->half = malloc(AB_SPOOL_HALF);
    if (s->window == NULL)
        s->window = malloc(WINDOW);
    return s->half != NULL && s->window != NULL;
}

/* Goes to the first place of half `number`. */
static enum ab_status load(struct ab_stream *s, const char *folder,
                           const struct ab_spool_entry *image, uint64_t number, struct ab_err *err)
{
    char path[PATH_MAX];
    uint64_t left = s->n_events - number * AB_SPOOL_HALF_EVENTS;
    if (!make_room(s))
        return ab_fail(err, AB_SYSTEM, "out of memory for the streams");
    slot_path(path, sizeof path, folder, image, s->slot);
    s->n_loaded = number + 1;
    s->at = s->end = s->half;
    if (read_packed(s, path, number) || read_mapped(s, path, number)) {
        s->end += left < AB_SPOOL_HALF_EVENTS ? left : AB_SPOOL_HALF_EVENTS;
    } else { /* recording stopped before it was saved, or the file is damaged */
        s->n_unwritten += left;
        s->n_events = number * AB_SPOOL_HALF_EVENTS;
        s->is_cut = true;
    }
    return AB_OK;
}

enum ab_status ab_stream_seek(struct ab_stream *s, const char *folder,
                              const struct ab_spool_entry *image, struct ab_err *err)
{
    for (;;) {
        for (; s->at < s->end; s->at++, s->n_unwritten++)
            if (AB_SPOOL_KIND(s->at) != AB_SPOOL_NOTHING)
                return AB_OK;
        if (s->n_loaded * AB_SPOOL_HALF_EVENTS >= s->n_events)
            break;
        enum ab_status status = load(s, folder, image, s->n_loaded, err);
        if (status != AB_OK)
            return status;
    }
    ab_stream_close(s); /* there may be many */
    s->is_done = true;
    return AB_OK;
}

/* What lies in halves that were begun; places beyond were taken after recording had stopped. */
static uint64_t bound_events(const struct ab_spool_tail *tail)
{
    uint64_t halves = tail->half_number[0] > tail->half_number[1] ? tail->half_number[0]
                                                                  : tail->half_number[1];
    uint64_t most = halves < UINT64_MAX / AB_SPOOL_HALF ? halves * AB_SPOOL_HALF_EVENTS : 0;
    return tail->n_events < most ? tail->n_events : most;
}

enum ab_status ab_stream_open(struct ab_stream *s, const char *folder,
                              const struct ab_spool_entry *image, uint32_t slot, struct ab_err *err)
{
    struct ab_spool_tail tail;
    *s = (struct ab_stream){.slot = slot};
    if (!read_tail(folder, image, slot, &tail)) {
        s->is_done = true; /* the thread died while it was made */
        return AB_OK;
    }
    s->half_number[0] = tail.half_number[0];
    s->half_number[1] = tail.half_number[1];
    s->turn_ticks = tail.turn_ticks;
    s->site_ticks = tail.site_ticks;
    s->n_timed_sites = tail.n_timed_sites;
    s->pack_bytes = tail.pack_bytes < AB_SPOOL_PACK_BYTES ? tail.pack_bytes : AB_SPOOL_PACK_BYTES;
    s->data_bytes = tail.data_bytes < INT64_MAX / 2 ? tail.data_bytes : INT64_MAX / 2;
    s->n_events = bound_events(&tail);
    s->n_unwritten = tail.n_events - s->n_events;
    return ab_stream_seek(s, folder, image, err);
}

void ab_stream_close(struct ab_stream *s)
{
    free(s->half);
    free(s->window);
    s->half = NULL;
    s->window = NULL;
    s->at = s->end = NULL;
}
