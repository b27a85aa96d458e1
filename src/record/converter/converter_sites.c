/* SPDX-License-Identifier: MIT
 *
 * Numbers of a stream become numbers of the table. A signal handler may make known and use sites in
 * the middle of what it interrupted, but wholly: stacks that are half known and sites whose call
 * has not come are kept last in, first out. One that a handler left by longjmp never comes.
 */
#include "record/converter/converter_sites.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum { HALF_KNOWN = 8, PENDING = 32 }; /* as deep as handlers nest; beyond, the oldest goes */

struct half_known { /* a stack */
    uint32_t number;
    unsigned n;
    struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
};

struct module_text {
    uint8_t *bytes;
    uint32_t number; /* in the table; 0 = not yet */
};

struct ab_stream_sites {
    struct half_known half_known[HALF_KNOWN];
    unsigned n_half_known;
    uint32_t pending[PENDING];
    unsigned n_pending;
    uint32_t *stacks; /* by number in the stream: in the table */
    size_t cap_stacks;
    struct module_text *modules; /* by number in the stream */
    size_t cap_modules;
};

void ab_stream_sites_free(struct ab_stream_sites *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->cap_modules; i++)
        free(s->modules[i].bytes);
    free(s->modules);
    free(s->stacks);
    free(s);
}

static enum ab_status no_memory(struct ab_err *err)
{
    return ab_fail(err, AB_SYSTEM, "out of memory for the call sites");
}

static enum ab_status malformed(struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "the spool holds a call site that cannot be read");
}

/* ---- modules ---- */

/* All of its text is there when the last word of it is. */
static enum ab_status end_module(struct module_text *m, uint32_t place, struct ab_site_table *table,
                                 struct ab_err *err)
{
    size_t n_id = m->bytes[0], n_path = m->bytes[1] | (size_t)m->bytes[2] << 8;
    if (n_id > AB_SPOOL_BUILD_ID_MAX || n_path > AB_SPOOL_PATH_MAX)
        return malformed(err);
    if (place != (3 + n_id + n_path - 1) / 8 || m->number != 0)
        return AB_OK;
    return ab_site_know_module(table, (const char *)m->bytes + 3 + n_id, n_path, m->bytes + 3, n_id,
                               &m->number)
               ? AB_OK
               : no_memory(err);
}

static enum ab_status take_module(struct ab_stream_sites *s, const struct ab_spool_event *e,
                                  struct ab_site_table *table, struct ab_err *err)
{
    uint32_t number = AB_SPOOL_MODULE_NUMBER(e), place = AB_SPOOL_MODULE_PLACE(e);
    if (place > AB_SPOOL_MODULE_TEXT / 8)
        return malformed(err);
    if (!AB_GROW_ZEROED(s->modules, s->cap_modules, number))
        return no_memory(err);
    struct module_text *m = &s->modules[number];
    if (m->bytes == NULL && (m->bytes = calloc(1, AB_SPOOL_MODULE_TEXT + 8)) == NULL)
        return no_memory(err);
    memcpy(m->bytes + place * 8, &e->size, 8);
    return end_module(m, place, table, err);
}

/* ---- stacks ---- */

static struct half_known *find_half_known(struct ab_stream_sites *s, uint32_t number,
                                          unsigned place)
{
    for (unsigned i = s->n_half_known; i > 0; i--)
        if (s->half_known[i - 1].number == number)
            return &s->half_known[i - 1];
    if (place != 0)
        return NULL;
    if (s->n_half_known == HALF_KNOWN) {
        memmove(&s->half_known[0], &s->half_known[1], (HALF_KNOWN - 1) * sizeof s->half_known[0]);
        s->n_half_known--;
    }
    struct half_known *h = &s->half_known[s->n_half_known++];
    h->number = number;
    h->n = 0;
    return h;
}

static enum ab_status end_stack(struct ab_stream_sites *s, struct half_known *h, unsigned end,
                                struct ab_site_table *table, struct ab_err *err)
{
    if (end > AB_SITE_END_COUNT)
        return malformed(err);
    if (!AB_GROW_ZEROED(s->stacks, s->cap_stacks, h->number) ||
        !ab_site_know_stack(table, h->frames, h->n, end - 1, &s->stacks[h->number]))
        return no_memory(err);
    struct half_known *last = &s->half_known[--s->n_half_known];
    if (h != last)
        *h = *last;
    return AB_OK;
}

static enum ab_status take_frame(struct ab_stream_sites *s, const struct ab_spool_event *e,
                                 struct ab_site_table *table, struct ab_err *err)
{
    enum { NUMBERS_MAX = 1 << 28 }; /* a GiB of them */
    uint32_t module = AB_SPOOL_FRAME_MODULE(e), number = AB_SPOOL_FRAME_STACK(e);
    unsigned place = AB_SPOOL_FRAME_PLACE(e), end = AB_SPOOL_FRAME_END(e);
    if (number >= NUMBERS_MAX)
        return AB_OK; /* its calls have no known site */
    struct half_known *h = find_half_known(s, number, place);
    if (h == NULL)
        return AB_OK; /* its begin was pushed out */
    if (place != h->n || place >= AB_SITE_DEPTH_MAX)
        return malformed(err);
    struct ab_site_frame *frame = &h->frames[h->n++];
    *frame = (struct ab_site_frame){0, 0};
    if (module < s->cap_modules && s->modules[module].number != 0)
        *frame = (struct ab_site_frame){e->address, s->modules[module].number};
    return end != 0 ? end_stack(s, h, end, table, err) : AB_OK;
}

/* ---- calls ---- */

static void take_site(struct ab_stream_sites *s, const struct ab_spool_event *e)
{
    if (s->n_pending == PENDING) {
        memmove(&s->pending[0], &s->pending[1], (PENDING - 1) * sizeof s->pending[0]);
        s->n_pending--;
    }
    s->pending[s->n_pending++] = e->size < s->cap_stacks ? s->stacks[e->size] : 0;
}

uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s)
{
    return s != NULL && s->n_pending > 0 ? s->pending[--s->n_pending] : 0;
}

void ab_stream_sites_end_thread(struct ab_stream_sites *s)
{
    if (s != NULL)
        s->n_pending = s->n_half_known = 0;
}

enum ab_status ab_stream_sites_take(struct ab_stream_sites **at, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err)
{
    if (*at == NULL && (*at = calloc(1, sizeof **at)) == NULL)
        return no_memory(err);
    switch (AB_SPOOL_KIND(e)) {
    case AB_SPOOL_SITE:
        take_site(*at, e);
        return AB_OK;
    case AB_SPOOL_FRAME:
        return take_frame(*at, e, table, err);
    default:
        return take_module(*at, e, table, err);
    }
}
