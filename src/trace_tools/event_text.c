/* SPDX-License-Identifier: MIT
 *
 * Formats one event as a line of `trace dump`.
 */
#include "trace_tools/event_text.h"

#include "base/digits.h"

#include <string.h>

const char *const ab_event_kind_names[AB_EVENT_KIND_COUNT] = {"alloc", "alloc_zeroed",
                                                              "alloc_aligned", "resize", "free"};

static char *put_u64(char *p, uint64_t v)
{
    char buf[AB_DIGITS_BYTES], *d = ab_digits(buf, v, 10);
    size_t n = (size_t)(buf + sizeof buf - 1 - d);
    memcpy(p, d, n);
    return p + n;
}

static char *put_word(char *p, const char *word)
{
    size_t n = strlen(word);
    memcpy(p, word, n);
    return p + n;
}

static char *put_optional(char *p, bool has_value, uint64_t v)
{
    *p++ = ' ';
    if (has_value)
        return put_u64(p, v);
    *p++ = '-';
    return p;
}

char *ab_event_text(char *p, bool has_time, uint64_t number, const struct ab_event *e,
                    const struct ab_live_block *block)
{
    p = put_u64(p, number);
    p = put_optional(p, true, e->thread);
    *p++ = ' ';
    p = put_word(p, ab_event_kind_names[e->kind]);
    p = put_optional(p, e->kind != AB_EVENT_FREE, e->size);
    p = put_optional(p, e->kind == AB_EVENT_ALLOC_ALIGNED, e->align);
    p = put_optional(p, block->is_live, block->number);
    p = put_word(p, e->failed ? " failed" : e->released ? " released" : " ok");
    if (has_time)
        p = put_optional(p, true, e->time_us);
    *p++ = '\n';
    return p;
}
