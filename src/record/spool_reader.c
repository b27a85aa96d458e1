/* SPDX-License-Identifier: MIT
 *
 * Lists the images of a spool. Reads the stream of a thread slot from its packed chunks and its
 * mapped halves, with bounded memory.
 */
#include "record/spool_reader.h"

#include "core/alloc.h"
#include "core/text.h"
#include "record/preload/spool_codec.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void ab_spool_slot_path(char *out, size_t cap, const char *folder,
                        const struct ab_spool_entry *image, uint32_t slot)
{
    snprintf(out, cap, "%s/%u.%u.%u", folder, image->image.pid, image->generation, slot);
}

/* Reads up to `bytes` bytes of a file from offset `at` on. Returns the number of bytes read. */
static size_t read_some(const char *path, void *out, size_t bytes, uint64_t at)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    ssize_t n = pread(fd, out, bytes, (off_t)at);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Reads exactly `bytes` bytes. Returns false if the file is missing or too short. */
static bool read_at(const char *path, void *out, size_t bytes, uint64_t at)
{
    return read_some(path, out, bytes, at) == bytes;
}

static bool read_tail(const char *folder, const struct ab_spool_entry *image, uint32_t slot,
                      struct ab_spool_tail *out)
{
    char path[PATH_MAX];
    ab_spool_slot_path(path, sizeof path, folder, image, slot);
    return read_at(path, out, sizeof *out, 0) && out->magic == AB_SPOOL_MAGIC;
}

static bool read_head(const char *folder, uint32_t pid, uint32_t generation,
                      struct ab_spool_image *out)
{
    char path[PATH_MAX];
    AB_FIT(path, "%s/%u.%u", folder, pid, generation);
    if (!read_at(path, out, sizeof *out, 0) || out->magic != AB_SPOOL_MAGIC || out->pid != pid)
        return false;
    out->program[sizeof out->program - 1] = 0;
    out->comm[sizeof out->comm - 1] = 0;
    if (out->n_slots > AB_SPOOL_SLOTS_MAX)
        out->n_slots = AB_SPOOL_SLOTS_MAX;
    return true;
}

bool ab_spool_look_again(const char *folder, struct ab_spool_entry *image)
{
    struct ab_spool_image head;
    bool is_read = read_head(folder, image->image.pid, image->generation, &head);
    if (is_read)
        image->image = head;
    return is_read;
}

bool ab_spool_find(const char *folder, uint32_t pid, uint32_t generation,
                   struct ab_spool_entry *out)
{
    *out = (struct ab_spool_entry){.generation = generation};
    if (!read_head(folder, pid, generation, &out->image))
        return false;
    for (uint32_t slot = 0; slot < out->image.n_slots; slot++) {
        struct ab_spool_tail tail;
        if (!read_tail(folder, out, slot, &tail))
            continue;
        out->n_events += tail.n_events;
        out->n_calls += tail.n_asides < tail.n_events ? tail.n_events - tail.n_asides : 0;
    }
    return true;
}

static bool read_image(const char *folder, const char *name, struct ab_spool_entry *out)
{
    unsigned pid, generation;
    int n = 0;
    return sscanf(name, "%u.%u%n", &pid, &generation, &n) == 2 && name[n] == 0 &&
           ab_spool_find(folder, pid, generation, out);
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
        AB_GROW(entries, cap, used);
        entries[used++] = entry;
    }
    closedir(dir);
    if (used > 0)
        qsort(entries, used, sizeof entries[0], by_process);
    *out = entries;
    *n = used;
    return AB_OK;
}

struct ab_spool_control *ab_spool_read_control(const char *folder)
{
    char path[PATH_MAX];
    struct ab_spool_control *control = ab_alloc(sizeof *control);
    AB_FIT(path, "%s/" AB_SPOOL_CONTROL, folder);
    if (read_at(path, control, sizeof *control, 0) && control->magic == AB_SPOOL_MAGIC)
        return control;
    free(control);
    return NULL;
}

uint32_t ab_spool_read_end(const char *folder)
{
    struct ab_spool_control *control = ab_spool_read_control(folder);
    uint32_t end = control != NULL ? control->stop : AB_SPOOL_RUNNING;
    free(control);
    return end;
}

static bool has_image(const struct ab_spool_start *start, const struct ab_spool_entry *images,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (images[i].image.pid == start->pid && images[i].generation >= start->generation)
            return true;
    return false;
}

static void count(struct ab_unseen *all, size_t *n, const struct ab_spool_start *start)
{
    size_t i = 0;
    while (i < *n && (all[i].why != start->why || all[i].user != start->user ||
                      strcmp(all[i].path, start->path) != 0))
        i++;
    if (i == *n) {
        all[i] = (struct ab_unseen){.why = start->why, .user = start->user};
        AB_COPY(all[i].path, start->path);
        ++*n;
    }
    all[i].n++;
}

size_t ab_spool_read_unseen(const char *folder, const struct ab_spool_entry *images,
                            size_t n_images, struct ab_unseen **out, uint64_t *n_lost)
{
    struct ab_spool_control *control = ab_spool_read_control(folder);
    struct ab_unseen *all = ab_alloc_zeroed(AB_SPOOL_STARTS, sizeof all[0]);
    size_t used = 0;
    for (size_t i = 0; control != NULL && i < AB_SPOOL_STARTS; i++) {
        struct ab_spool_start *start = &control->starts[i];
        start->path[sizeof start->path - 1] = 0;
        if (start->state == AB_SPOOL_START_NOTED &&
            (start->why != AB_SPOOL_RUNNING || !has_image(start, images, n_images)))
            count(all, &used, start);
    }
    *out = all;
    *n_lost = control != NULL ? control->n_starts_lost : 0;
    free(control);
    return used;
}

/* ---- one stream ---- */

enum { WINDOW = AB_SPOOL_PACK_BYTES + sizeof(struct ab_spool_chunk) };

/* Returns the next n bytes of the chunks without consuming them; NULL if the file does not have
 * them. */
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

/* Returns the words of the next chunk and sets *chunk to its header; NULL if there is no complete
 * chunk. */
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

/* Reads half `number` from a chunk. Returns false if no readable chunk has it. Skips chunks of
 * earlier halves, which a killed recorder had saved but not yet removed from the pack area. */
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

/* Reads half `number` from its mapped buffer. Only for halves without a chunk, because the buffer
 * of a packed half may be partly cleared. */
static bool read_mapped(struct ab_stream *s, const char *path, uint64_t number)
{
    for (unsigned half = 0; half < 2; half++)
        if (s->half_number[half] == number + 1)
            return read_at(path, s->half, AB_SPOOL_HALF,
                           AB_SPOOL_TAIL + half * (uint64_t)AB_SPOOL_HALF);
    return false;
}

/* Allocates the buffers of the stream, and writes the path of its file to `path`. */
static void make_room(struct ab_stream *s, char path[PATH_MAX])
{
    if (s->half == NULL)
        s->half = ab_alloc(AB_SPOOL_HALF);
    if (s->window == NULL)
        s->window = ab_alloc(WINDOW);
    ab_spool_slot_path(path, PATH_MAX, s->folder, s->image, s->slot);
}

/* Loads half `number` and sets s->at to its first event. */
static void load(struct ab_stream *s, uint64_t number)
{
    char path[PATH_MAX];
    uint64_t left = s->n_events - number * AB_SPOOL_HALF_EVENTS;
    make_room(s, path);
    s->n_loaded = number + 1;
    s->at = s->end = s->half;
    if (read_packed(s, path, number) || read_mapped(s, path, number)) {
        s->end += left < AB_SPOOL_HALF_EVENTS ? left : AB_SPOOL_HALF_EVENTS;
    } else { /* recording stopped before this half was saved, or the file is damaged */
        s->n_unwritten += left;
        s->n_events = number * AB_SPOOL_HALF_EVENTS;
        s->is_cut = true;
    }
}

/* ---- a stream that is being written ---- */

struct live_view { /* state of a stream; if two views are equal, no half became full between them */
    uint64_t half_number[2], data_bytes, pack_bytes;
    uint32_t is_turning;
};

static struct live_view look(const struct ab_spool_tail *tail)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    struct live_view v = {.is_turning = __atomic_load_n(&tail->is_turning, __ATOMIC_ACQUIRE)};
    for (unsigned half = 0; half < 2; half++)
        v.half_number[half] = __atomic_load_n(&tail->half_number[half], __ATOMIC_ACQUIRE);
    v.data_bytes = __atomic_load_n(&tail->data_bytes, __ATOMIC_ACQUIRE);
    v.pack_bytes = __atomic_load_n(&tail->pack_bytes, __ATOMIC_ACQUIRE);
    return v;
}

static bool is_same_view(const struct live_view *a, const struct live_view *b)
{
    return a->half_number[0] == b->half_number[0] && a->half_number[1] == b->half_number[1] &&
           a->data_bytes == b->data_bytes && a->pack_bytes == b->pack_bytes &&
           a->is_turning == b->is_turning;
}

/* Maps the file of a slot; NULL if the thread is still making the file. */
static const struct ab_spool_tail *map_slot(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_whole = fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= AB_SPOOL_DATA;
    void *p = is_whole ? mmap(NULL, AB_SPOOL_DATA, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return p != MAP_FAILED ? p : NULL;
}

/* Copies events of half `number` from `index` on, up to the first unwritten one. Returns the index
 * after the last copied event. */
static size_t copy_written(struct ab_stream *s, const struct ab_spool_tail *tail, uint64_t number,
                           size_t index)
{
    const struct ab_spool_event *from = (const void *)((const char *)tail + AB_SPOOL_TAIL +
                                                       number % 2 * AB_SPOOL_HALF);
    if (s->half_number[number % 2] != number + 1)
        return index;
    for (; index < AB_SPOOL_HALF_EVENTS; index++) {
        uint64_t stamp_kind = __atomic_load_n(&from[index].stamp_kind, __ATOMIC_ACQUIRE);
        if (stamp_kind == 0)
            break;
        s->half[index] = (struct ab_spool_event){stamp_kind, from[index].address, from[index].size};
    }
    return index;
}

/* Reads new events of half `number`, from a chunk or from its buffer. Returns the index after the
 * last one, or `index` if the half cannot be read at the moment. */
static size_t read_written(struct ab_stream *s, const char *path, const struct ab_spool_tail *tail,
                           uint64_t number, size_t index)
{
    uint64_t chunks_read = s->chunks_read;
    struct live_view before = look(tail), after;
    if (before.is_turning != 0 || before.pack_bytes > AB_SPOOL_PACK_BYTES ||
        before.data_bytes > INT64_MAX / 2)
        return index;
    s->half_number[0] = before.half_number[0];
    s->half_number[1] = before.half_number[1];
    s->data_bytes = before.data_bytes;
    s->pack_bytes = before.pack_bytes;
    size_t end = read_packed(s, path, number) ? AB_SPOOL_HALF_EVENTS
                                              : copy_written(s, tail, number, index);
    after = look(tail);
    if (is_same_view(&before, &after))
        return end;
    s->chunks_read = chunks_read;
    s->window_bytes = 0;
    return index;
}

/* Reads half `number` from the chunks saved in the file, which no thread changes any more. */
static bool read_saved(struct ab_stream *s, const char *path, uint64_t number)
{
    s->pack_bytes = 0;
    return s->chunks_read < s->data_bytes && read_packed(s, path, number);
}

static size_t read_live(struct ab_stream *s, const char *path, uint64_t number, size_t index)
{
    enum { TRIES = 3 };
    size_t end = index;
    if (read_saved(s, path, number))
        return AB_SPOOL_HALF_EVENTS;
    const struct ab_spool_tail *tail = map_slot(path);
    if (tail == NULL)
        return index;
    if (__atomic_load_n(&tail->magic, __ATOMIC_ACQUIRE) == AB_SPOOL_MAGIC) {
        uint64_t n_events = __atomic_load_n(&tail->n_events, __ATOMIC_ACQUIRE);
        s->has_gap = n_events > number * AB_SPOOL_HALF_EVENTS + index;
        for (int i = 0; i < TRIES && s->has_gap && end == index; i++)
            end = read_written(s, path, tail, number, index);
    }
    munmap((void *)tail, AB_SPOOL_DATA);
    return end;
}

/* Loads more events of the current half, or the next half. Returns false if there are no new
 * events. */
static bool load_live(struct ab_stream *s)
{
    char path[PATH_MAX];
    uint64_t number = s->is_partial ? s->n_loaded - 1 : s->n_loaded;
    size_t index = s->is_partial ? s->n_taken : 0;
    make_room(s, path);
    s->has_gap = false;
    size_t end = read_live(s, path, number, index);
    if (end <= index)
        return false;
    s->n_loaded = number + 1;
    s->n_taken = (uint32_t)end;
    s->is_partial = end < AB_SPOOL_HALF_EVENTS;
    s->at = s->half + index;
    s->end = s->half + end;
    return true;
}

void ab_stream_open_live(struct ab_stream *s, const char *folder,
                         const struct ab_spool_entry *image, uint32_t slot)
{
    *s = (struct ab_stream){
        .folder = folder, .image = image, .slot = slot, .is_live = true, .is_done = true};
}

/* ---- from one event to the next ---- */

/* Loads the rest of a half whose first events were read while it was being written. */
static void load_rest(struct ab_stream *s)
{
    uint64_t number = s->n_loaded - 1;
    s->is_partial = false;
    if (s->n_events <= number * AB_SPOOL_HALF_EVENTS + s->n_taken)
        return;
    load(s, number);
    if (s->end > s->at)
        s->at += s->n_taken;
    else
        s->n_unwritten -= s->n_taken;
}

/* Loads the next events. Returns false if the stream has no more; otherwise there may be some from
 * s->at on. */
static bool load_next(struct ab_stream *s)
{
    if (s->is_live)
        return load_live(s);
    bool is_there = s->is_partial || s->n_loaded * AB_SPOOL_HALF_EVENTS < s->n_events;
    if (s->is_partial)
        load_rest(s);
    else if (is_there)
        load(s, s->n_loaded);
    return is_there;
}

void ab_stream_seek(struct ab_stream *s)
{
    do {
        for (; s->at < s->end; s->at++, s->n_unwritten++)
            if (AB_SPOOL_KIND(s->at) != AB_SPOOL_NOTHING)
                return;
    } while (load_next(s));
    ab_stream_close(s); /* frees the buffers, because there may be many streams */
    s->is_done = true;
}

/* Returns the number of events in halves that were begun. Places beyond these halves were taken
 * after the recording had stopped. */
static uint64_t bound_events(const struct ab_spool_tail *tail)
{
    uint64_t halves = tail->half_number[0] > tail->half_number[1] ? tail->half_number[0]
                                                                  : tail->half_number[1];
    uint64_t most = halves < UINT64_MAX / AB_SPOOL_HALF ? halves * AB_SPOOL_HALF_EVENTS : 0;
    return tail->n_events < most ? tail->n_events : most;
}

void ab_stream_open(struct ab_stream *s, const char *folder, const struct ab_spool_entry *image,
                    uint32_t slot)
{
    *s = (struct ab_stream){.folder = folder, .image = image, .slot = slot, .is_done = true};
    ab_stream_settle(s);
}

void ab_stream_settle(struct ab_stream *s)
{
    struct ab_spool_tail tail;
    s->is_live = s->has_gap = false;
    if (!read_tail(s->folder, s->image, s->slot, &tail))
        return; /* the thread died while it made the file */
    s->half_number[0] = tail.half_number[0];
    s->half_number[1] = tail.half_number[1];
    s->turn_ticks = tail.turn_ticks;
    s->n_moved = tail.n_moved;
    s->site_ticks = tail.site_ticks;
    s->n_timed_sites = tail.n_timed_sites;
    s->pack_bytes = tail.pack_bytes < AB_SPOOL_PACK_BYTES ? tail.pack_bytes : AB_SPOOL_PACK_BYTES;
    s->data_bytes = tail.data_bytes < INT64_MAX / 2 ? tail.data_bytes : INT64_MAX / 2;
    s->n_events = bound_events(&tail);
    s->n_unwritten += tail.n_events - s->n_events;
    if (!s->is_done)
        return;
    s->is_done = false;
    ab_stream_seek(s);
}

void ab_stream_close(struct ab_stream *s)
{
    free(s->half);
    free(s->window);
    s->half = NULL;
    s->window = NULL;
    s->at = s->end = NULL;
    s->window_bytes = 0;
}
