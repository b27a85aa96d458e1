/* SPDX-License-Identifier: MIT
 *
 * Converts calls of foreign files to events of a trace. Also contains the table of formats, and
 * the import.
 */
#include "exchange/intake.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TELL_EVERY = 1 << 16 };

static enum ab_status open_writer(struct ab_intake *in, struct ab_err *err)
{
    struct ab_trace_writer_options options = {.program = in->program, .has_time = in->has_time};
    return in->writer != NULL ? AB_OK
                              : ab_trace_writer_open_with(in->to, &options, &in->writer, err);
}

/* Returns the time in µs since the first event. Raises it to that of the event before if it is
 * less, because times of a trace do not decrease. */
static uint64_t time_of(struct ab_intake *in, const struct ab_foreign_call *call)
{
    if (!in->has_time)
        return 0;
    if (!in->has_first)
        in->first_ns = call->time_ns;
    in->has_first = true;
    bool is_before = call->time_ns < in->first_ns;
    uint64_t us = is_before ? 0 : (call->time_ns - in->first_ns) / 1000;
    in->is_late = us < in->last_us || is_before;
    if (us > in->last_us)
        in->last_us = us;
    return in->last_us;
}

static uint32_t find_thread(struct ab_intake *in, uint64_t named)
{
    struct ab_mapped *known = ab_block_map_find(&in->threads, named + 1);
    if (known != NULL)
        return (uint32_t)known->number;
    ab_block_map_set(&in->threads, named + 1, in->n_threads);
    return in->n_threads++;
}

static enum ab_status put(struct ab_intake *in, const struct ab_foreign_call *call,
                          struct ab_event *event, uint64_t *number, struct ab_err *err)
{
    event->thread = find_thread(in, call->thread);
    event->time_us = time_of(in, call);
    enum ab_status status = ab_trace_write(in->writer, event, number, err);
    return status == AB_INPUT ? ab_feed_blame(in->from, err) : status;
}

static enum ab_status put_free(struct ab_intake *in, const struct ab_foreign_call *call,
                               struct ab_mapped *block, struct ab_err *err)
{
    struct ab_event event = {.kind = AB_EVENT_FREE, .block = block->number};
    ab_block_map_remove(&in->live, block);
    return put(in, call, &event, NULL, err);
}

/* Frees the block whose address is given out again, because its free was not seen. */
static enum ab_status free_stale(struct ab_intake *in, const struct ab_foreign_call *call,
                                 struct ab_err *err)
{
    struct ab_mapped *stale = ab_block_map_find(&in->live, call->address);
    if (stale == NULL)
        return AB_OK;
    in->report.n_reused++;
    return put_free(in, call, stale, err);
}

static enum ab_status take_alloc(struct ab_intake *in, const struct ab_foreign_call *call,
                                 struct ab_err *err)
{
    uint64_t number = 0;
    struct ab_event event = {
        .kind = call->kind, .size = call->size, .align = call->align, .failed = call->address == 0};
    /* a resize of NULL, or of a block whose allocation was not seen, becomes an allocation */
    if (call->kind == AB_EVENT_RESIZE)
        event.kind = AB_EVENT_ALLOC;
    if (call->kind == AB_EVENT_ALLOC_ALIGNED && call->align == 0)
        event.kind = AB_EVENT_ALLOC;
    if (call->address != 0)
        AB_TRY(free_stale(in, call, err));
    AB_TRY(put(in, call, &event, &number, err));
    if (call->address != 0)
        ab_block_map_set(&in->live, call->address, number);
    return AB_OK;
}

static enum ab_status take_free(struct ab_intake *in, const struct ab_foreign_call *call,
                                struct ab_err *err)
{
    struct ab_mapped *block = call->old == 0 ? NULL : ab_block_map_find(&in->live, call->old);
    if (block != NULL)
        return put_free(in, call, block, err);
    if (call->old == 0)
        in->report.n_null_frees++;
    else
        in->report.n_unknown_frees++;
    return AB_OK;
}

static enum ab_status take_resize(struct ab_intake *in, const struct ab_foreign_call *call,
                                  struct ab_err *err)
{
    if (call->old == 0)
        return take_alloc(in, call, err);
    struct ab_mapped *block = ab_block_map_find(&in->live, call->old);
    if (block == NULL) {
        in->report.n_unknown_resizes++;
        return call->address != 0 ? take_alloc(in, call, err) : AB_OK;
    }
    struct ab_event event = {.kind = AB_EVENT_RESIZE,
                             .size = call->size,
                             .block = block->number,
                             .failed = call->address == 0 && call->size > 0,
                             .released = call->address == 0 && call->size == 0};
    if (event.released || (call->address != 0 && call->address != call->old))
        ab_block_map_remove(&in->live, block);
    if (call->address != 0 && call->address != call->old)
        AB_TRY(free_stale(in, call, err));
    AB_TRY(put(in, call, &event, &(uint64_t){0}, err));
    if (call->address != 0)
        ab_block_map_set(&in->live, call->address, event.block);
    return AB_OK;
}

/* Writes the end of a thread. Drops the end of a thread without calls, because that thread is not
 * in the trace. */
static enum ab_status take_thread_end(struct ab_intake *in, const struct ab_foreign_call *call,
                                      struct ab_err *err)
{
    struct ab_mapped *known = ab_block_map_find(&in->threads, call->thread + 1);
    struct ab_event event = {.kind = AB_EVENT_THREAD_END};
    if (known == NULL)
        return AB_OK;
    AB_TRY(put(in, call, &event, NULL, err));
    ab_block_map_remove(&in->threads, known);
    return AB_OK;
}

/* Rounds an alignment up to a power of two, as malloc libraries do. */
static enum ab_status check_align(const struct ab_intake *in, struct ab_foreign_call *call,
                                  struct ab_err *err)
{
    uint64_t align = 1;
    if (call->kind != AB_EVENT_ALLOC_ALIGNED || call->align == 0)
        return AB_OK;
    if (call->align > UINT64_C(1) << 63)
        return ab_feed_bad(in->from, err, "an alignment of %llu bytes",
                           (unsigned long long)call->align);
    while (align < call->align)
        align *= 2;
    call->align = align;
    return AB_OK;
}

static enum ab_status take(struct ab_intake *in, const struct ab_foreign_call *call,
                           struct ab_err *err)
{
    switch (call->kind) {
    case AB_EVENT_THREAD_END:
        return take_thread_end(in, call, err);
    case AB_EVENT_FREE:
        return take_free(in, call, err);
    case AB_EVENT_RESIZE:
        return take_resize(in, call, err);
    default:
        return take_alloc(in, call, err);
    }
}

enum ab_status ab_intake_take(struct ab_intake *in, const struct ab_foreign_call *call,
                              struct ab_err *err)
{
    struct ab_foreign_call own = *call;
    AB_TRY(check_align(in, &own, err));
    AB_TRY(open_writer(in, err));
    in->is_late = false;
    in->report.n_calls += own.kind != AB_EVENT_THREAD_END;
    if (in->report.n_calls % TELL_EVERY == 0 && in->progress != NULL)
        in->progress(in->user, in->report.n_calls);
    uint64_t n_unknown = in->report.n_unknown_frees + in->report.n_unknown_resizes;
    enum ab_status status = take(in, &own, err);
    in->is_unknown = in->report.n_unknown_frees + in->report.n_unknown_resizes > n_unknown;
    in->report.n_late += in->is_late;
    return status;
}

/* Closes the trace. Returns AB_INPUT if the file had no call. */
static enum ab_status intake_end(struct ab_intake *in, struct ab_err *err)
{
    if (in->writer == NULL || in->n_threads == 0)
        return ab_feed_bad(in->from, err, "no call that a trace can hold; no trace was written");
    in->report.is_cut = ab_feed_end(in->from) == AB_FEED_CUT;
    in->report.is_last_in_doubt = ab_feed_end(in->from) == AB_FEED_IN_DOUBT;
    if (in->report.is_last_in_doubt && in->is_unknown)
        return ab_feed_bad(in->from, err,
                           "the file ends within this line: its block is not live (--partial "
                           "leaves it out)");
    enum ab_status status = ab_trace_writer_close(in->writer, &in->report.info, err);
    in->writer = NULL;
    return status;
}

static void intake_fini(struct ab_intake *in)
{
    ab_trace_writer_abandon(in->writer);
    ab_block_map_fini(&in->live);
    ab_block_map_fini(&in->threads);
    *in = (struct ab_intake){0};
}

/* ---- calls in lines ---- */

static bool scan_block(const char **at, uint64_t *out)
{
    const char *p = *at;
    if (!ab_scan_text(&p, "#"))
        return ab_scan_pointer(at, out);
    if (!ab_scan_decimal(&p, out))
        return false;
    *at = p;
    return true;
}

static bool scan_field(const char **at, char field, struct ab_foreign_call *c, uint64_t *n)
{
    switch (field) {
    case 's':
        return ab_scan_decimal(at, &c->size);
    case 'a':
        return ab_scan_decimal(at, &c->align);
    case 'n':
        return ab_scan_decimal(at, n);
    case 'b':
        return scan_block(at, &c->address);
    case 'o':
        return scan_block(at, &c->old);
    default:
        return *(*at)++ == field;
    }
}

/* Reads the next call of a line. If the number of objects times the size overflows 64 bits, the
 * call must have failed; otherwise returns false. */
bool ab_scan_call(const char **at, const struct ab_call_form *forms, size_t n,
                  struct ab_foreign_call *out)
{
    uint64_t n_objects = 1;
    const struct ab_call_form *form = forms;
    while (form < forms + n && !ab_scan_text(at, form->name))
        form++;
    if (form == forms + n)
        return false;
    out->kind = form->kind;
    out->align = form->align;
    for (const char *field = form->fields; *field != 0; field++)
        if (!scan_field(at, *field, out, &n_objects))
            return false;
    if (!__builtin_mul_overflow(n_objects, out->size, &out->size))
        return true;
    out->size = UINT64_MAX;
    return out->address == 0;
}

/* ---- the formats ---- */

#define AB_FORMAT(id, name, ...) {name, ab_import_##id},
static const struct ab_format formats[] = {AB_FORMATS(AB_FORMAT)};

const struct ab_format *ab_format_at(size_t i)
{
    return i < AB_ARRAY_LEN(formats) ? &formats[i] : NULL;
}

enum ab_status ab_format_find(const char *name, const struct ab_format **out, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(formats)];
    char list[256] = "", shown[256];
    for (size_t i = 0; i < AB_ARRAY_LEN(formats); i++) {
        if (strcmp(names[i] = formats[i].name, name) == 0) {
            *out = &formats[i];
            return AB_OK;
        }
        ab_text_join(list, sizeof list, ", ", names[i]);
    }
    const char *near = ab_text_nearest(name, names, AB_ARRAY_LEN(formats));
    ab_text_printable(shown, sizeof shown, name);
    return near != NULL ? ab_fail(err, AB_USAGE, "unknown format %s; did you mean %s?", shown, near)
                        : ab_fail(err, AB_USAGE, "unknown format %s; allowed are %s", shown, list);
}

/* ---- recognizing the format of a file ---- */

/* Refuses files of tools that do not record calls, and says why. */
static enum ab_status refuse_other_kind(const struct ab_feed *from, const char *bytes, size_t n,
                                        struct ab_err *err)
{
    static const struct {
        const char *head, *what;
    } others[] = {
        {"heap profile:", "a heap profile: sums of each call site"},
        {"heap_v2/", "a heap profile of jemalloc: sums of each call site"},
        {"desc: ", "a file of massif: the heap at some moments"},
        {"{\"dhatFileVersion\"", "a file of DHAT: sums of each call site"},
    };
    if (n >= 4 && memcmp(bytes,
                         "\x89"
                         "ABT",
                         4) == 0)
        return ab_feed_bad(from, err, "this is a trace of allocbench already");
    for (size_t i = 0; i < AB_ARRAY_LEN(others); i++)
        if (n >= strlen(others[i].head) &&
            memcmp(bytes, others[i].head, strlen(others[i].head)) == 0)
            return ab_feed_bad(from, err,
                               "%s, without the calls; record the program instead: allocbench "
                               "record -- ./app",
                               others[i].what);
    return AB_OK;
}

/* Counts the calls that a format finds in bytes[0..n), the beginning of a file, up to the first
 * line that does not fit. */
static uint64_t count_calls(const struct ab_format *format, const char *bytes, size_t n)
{
    struct ab_err ignored = {0};
    struct ab_intake in = {.to = fopen("/dev/null", "w"), .from = ab_feed_open_text(bytes, n)};
    if (in.to != NULL)
        format->read(in.from, &in, &ignored);
    uint64_t n_calls = in.report.n_calls + in.report.n_other_process;
    ab_feed_close(in.from);
    if (in.to != NULL)
        fclose(in.to);
    intake_fini(&in);
    return n_calls;
}

/* Returns the format that finds most calls in these bytes; NULL = none finds any. */
static const struct ab_format *recognize(const char *bytes, size_t n)
{
    const struct ab_format *best = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(formats); i++) {
        uint64_t n_calls = count_calls(&formats[i], bytes, n);
        if (n_calls > most)
            best = &formats[i];
        most = n_calls > most ? n_calls : most;
    }
    return best;
}

const struct ab_format *ab_format_recognize(const char *path)
{
    struct ab_err ignored = {0};
    struct ab_feed *from;
    const struct ab_format *format = NULL;
    const char *bytes;
    size_t n;
    if (ab_feed_open(path, true, &from, &ignored) != AB_OK)
        return NULL;
    if (ab_feed_peek(from, &bytes, &n, &ignored) == AB_OK)
        format = recognize(bytes, n);
    ab_feed_close(from);
    return format;
}

/* Sets *format to the format of the file, unless the caller has chosen one. */
static enum ab_status settle_format(struct ab_feed *from, const struct ab_format **format,
                                    struct ab_err *err)
{
    const char *bytes;
    size_t n;
    char list[256] = "";
    AB_TRY(ab_feed_peek(from, &bytes, &n, err));
    AB_TRY(refuse_other_kind(from, bytes, n, err));
    if (*format == NULL)
        *format = recognize(bytes, n);
    if (*format != NULL)
        return AB_OK;
    for (size_t i = 0; i < AB_ARRAY_LEN(formats); i++)
        ab_text_join(list, sizeof list, ", ", formats[i].name);
    return ab_feed_bad(from, err, "no call of any format is found at its beginning; formats are %s",
                       list);
}

enum ab_status ab_import(const struct ab_import *import, struct ab_intake_report *report,
                         struct ab_err *err)
{
    struct ab_intake in = {.to = import->to, .progress = import->progress, .user = import->user};
    if (import->format != NULL)
        AB_TRY(ab_format_find(import->format, &in.report.format, err));
    AB_TRY(ab_feed_open(import->path, import->is_partial, &in.from, err));
    struct ab_feed *from = in.from;
    enum ab_status status = settle_format(from, &in.report.format, err);
    if (status == AB_OK)
        status = in.report.format->read(from, &in, err);
    if (status == AB_OK)
        status = intake_end(&in, err);
    if (status == AB_OK)
        *report = in.report;
    intake_fini(&in);
    ab_feed_close(from);
    return status;
}

/* ---- the hash map ----
 *
 * The hash is the finalizer of MurmurHash3 (Appleby, public domain) over the key and a random
 * seed. */

enum { LEAST_PLACES = 64 };

static size_t home_of(const struct ab_block_map *m, uint64_t key)
{
    uint64_t h = key ^ m->seed;
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (size_t)(h ^ h >> 33) & m->mask;
}

/* Returns the entry of a key, or the empty place for it. */
static struct ab_mapped *seek(const struct ab_block_map *m, uint64_t key)
{
    size_t i = home_of(m, key);
    while (m->places[i].key != 0 && m->places[i].key != key)
        i = (i + 1) & m->mask;
    return &m->places[i];
}

static void resize(struct ab_block_map *m, size_t n_places)
{
    struct ab_block_map old = *m;
    struct ab_mapped *fresh = ab_alloc_zeroed(n_places, sizeof fresh[0]);
    if (old.places == NULL && getrandom(&m->seed, sizeof m->seed, GRND_NONBLOCK) < 0)
        m->seed = (uintptr_t)fresh;
    m->places = fresh;
    m->mask = n_places - 1;
    for (size_t i = 0; old.places != NULL && i <= old.mask; i++)
        if (old.places[i].key != 0)
            *seek(m, old.places[i].key) = old.places[i];
    free(old.places);
}

void ab_block_map_fini(struct ab_block_map *m)
{
    free(m->places);
    *m = (struct ab_block_map){0};
}

struct ab_mapped *ab_block_map_find(const struct ab_block_map *m, uint64_t key)
{
    if (m->places == NULL)
        return NULL;
    struct ab_mapped *place = seek(m, key);
    return place->key != 0 ? place : NULL;
}

void ab_block_map_set(struct ab_block_map *m, uint64_t key, uint64_t number)
{
    if (m->places == NULL || m->n * 2 >= m->mask)
        resize(m, m->places == NULL ? LEAST_PLACES : (m->mask + 1) * 2);
    struct ab_mapped *place = seek(m, key);
    m->n += place->key == 0;
    *place = (struct ab_mapped){key, number};
}

void ab_block_map_remove(struct ab_block_map *m, struct ab_mapped *found)
{
    size_t hole = (size_t)(found - m->places);
    for (size_t i = (hole + 1) & m->mask; m->places[i].key != 0; i = (i + 1) & m->mask)
        if (((i - home_of(m, m->places[i].key)) & m->mask) >= ((i - hole) & m->mask)) {
            m->places[hole] = m->places[i];
            hole = i;
        }
    m->places[hole].key = 0;
    m->n--;
    if (m->mask + 1 > LEAST_PLACES && m->n * 32 < m->mask)
        resize(m, (m->mask + 1) / 4);
}
