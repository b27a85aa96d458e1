/* SPDX-License-Identifier: MIT */
#include "record/stream.h"

#include "record/half_pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void slot_path(char *out, size_t cap, const char *folder,
                      const struct ab_spool_entry *image, uint32_t slot)
{
    snprintf(out, cap, "%s/%u.%u.%u", folder, image->image.pid, image->generation, slot);
}

/* False when the file is not there or not whole. */
static bool read_at(const char *path, void *out, size_t bytes, uint64_t at)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, out, bytes, (off_t)at);
    close(fd);
    return n == (ssize_t)bytes;
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
        if (read_tail(folder, out, slot, &tail))
            out->n_events += tail.n_events;
    }
    return true;
}

static int by_process(const void *a, const void *b)
{
    const struct ab_spool_entry *x = a, *y = b;
    if (x->image.pid != y->image.pid)
        return x->image.pid < y->image.pid ? -1 : 1;
    return (x->generation > y->generation) - (x->generation < y->generation);
}

enum ab_status ab_spool_list(const char *folder, struct ab_spool_entry **out, size_t *n,
                             struct ab_err *err)
{
    struct ab_spool_entry *entries = NULL, entry;
    size_t used = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return ab_fail_errno(err, AB_INPUT, "cannot read the spool %s", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!read_image(folder, e->d_name, &entry))
            continue;
        struct ab_spool_entry *grown = realloc(entries, (used + 1) * sizeof entries[0]);
        if (grown == NULL) {
            free(entries);
            closedir(dir);
            return ab_fail(err, AB_SYSTEM, "out of memory for the list of processes");
        }
        entries = grown;
        entries[used++] = entry;
    }
    closedir(dir);
    if (used > 0)
        qsort(entries, used, sizeof entries[0], by_process);
    *out = entries;
    *n = used;
    return AB_OK;
}

/* ---- one stream ---- */

/* The header of the next chunk, and where its words are. */
static bool read_chunk_head(const struct ab_stream *s, const char *path,
                            struct ab_spool_chunk *chunk, uint64_t *at)
{
    bool is_saved = s->chunks_read < s->data_bytes;
    uint64_t offset = is_saved ? s->chunks_read : s->chunks_read - s->data_bytes;
    uint64_t left = (is_saved ? s->data_bytes : s->pack_bytes) - offset;
    uint64_t head_at = (is_saved ? AB_SPOOL_DATA : AB_SPOOL_PACK) + offset;
    if (left < sizeof *chunk || !read_at(path, chunk, sizeof *chunk, head_at) ||
        chunk->bytes % 8 != 0 || chunk->bytes > AB_SPOOL_PACK_BYTES ||
        chunk->bytes > left - sizeof *chunk)
        return false;
    *at = head_at + sizeof *chunk;
    return true;
}

static bool read_words(struct ab_stream *s, const char *path, const struct ab_spool_chunk *chunk,
                       uint64_t at)
{
    uint64_t *words = malloc(AB_SPOOL_PACK_BYTES);
    bool ok = words != NULL && read_at(path, words, chunk->bytes, at) &&
              ab_half_unpack(words, chunk->bytes / 8, s->half, AB_SPOOL_HALF_EVENTS);
    free(words);
    return ok;
}

/* False when it is in no chunk that can be read. Chunks before it are passed over: those that a
 * killed recorder had saved and not yet removed from where it packed them. */
static bool read_packed(struct ab_stream *s, const char *path, uint64_t number)
{
    struct ab_spool_chunk chunk;
    uint64_t at;
    while (s->chunks_read < s->data_bytes + s->pack_bytes) {
        if (!read_chunk_head(s, path, &chunk, &at) || chunk.number > number)
            return false;
        s->chunks_read += sizeof chunk + chunk.bytes;
        if (chunk.number == number)
            return read_words(s, path, &chunk, at);
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

static enum ab_status load(struct ab_stream *s, const char *folder,
                           const struct ab_spool_entry *image, uint64_t number,
                           struct ab_err *err)
{
    char path[PATH_MAX];
    if (s->half == NULL && (s->half = malloc(AB_SPOOL_HALF)) == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the streams");
    slot_path(path, sizeof path, folder, image, s->slot);
    if (read_packed(s, path, number) || read_mapped(s, path, number)) {
        s->loaded = number + 1;
    } else { /* recording stopped before it was saved, or the file is damaged */
        s->n_unwritten += s->n_events - s->next;
        s->next = s->n_events;
    }
    return AB_OK;
}

enum ab_status ab_stream_next(struct ab_stream *s, const char *folder,
                              const struct ab_spool_entry *image, struct ab_err *err)
{
    while (s->next < s->n_events) {
        uint64_t number = s->next / AB_SPOOL_HALF_EVENTS;
        if (s->loaded != number + 1) {
            enum ab_status status = load(s, folder, image, number, err);
            if (status != AB_OK)
                return status;
            continue;
        }
        s->head = s->half[s->next++ - number * AB_SPOOL_HALF_EVENTS];
        if (AB_SPOOL_KIND(&s->head) != AB_SPOOL_NOTHING)
            return AB_OK;
        s->n_unwritten++;
    }
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
                              const struct ab_spool_entry *image, uint32_t slot,
                              struct ab_err *err)
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
    s->pack_bytes = tail.pack_bytes < AB_SPOOL_PACK_BYTES ? tail.pack_bytes : AB_SPOOL_PACK_BYTES;
    s->data_bytes = tail.data_bytes < INT64_MAX / 2 ? tail.data_bytes : INT64_MAX / 2;
    s->n_events = bound_events(&tail);
    s->n_unwritten = tail.n_events - s->n_events;
    return ab_stream_next(s, folder, image, err);
}

void ab_stream_close(struct ab_stream *s)
{
    free(s->half);
    s->half = NULL;
}
