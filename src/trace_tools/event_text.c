/* SPDX-License-Identifier: MIT
 *
 * Writes one event as a line of `dump` or a row of `export`.
 */
#include "trace_tools/event_text.h"

#include "base/digits.h"

#include <string.h>

const char *const ab_event_kind_names[AB_EVENT_KIND_COUNT] = {"alloc", "alloc_zeroed",
                                                              "alloc_aligned", "resize", "free"};

const char *ab_event_csv_head(unsigned layout)
{
    return (layout & AB_EVENT_TIMED) != 0 ? "event,thread,kind,size,align,block,outcome,time_us\r\n"
                                          : "event,thread,kind,size,align,block,outcome\r\n";
}

char *ab_text_put_u64(char *p, uint64_t v)
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

static char *put_optional(char *p, bool has_value, uint64_t v, unsigned layout)
{
    if (has_value)
        return ab_text_put_u64(p, v);
    if ((layout & AB_EVENT_CSV) == 0)
        *p++ = '-';
    return p;
}

char *ab_event_text(char *p, unsigned layout, uint64_t number, const struct ab_event *e,
                    const struct ab_live_block *block)
{
    char separator = (layout & AB_EVENT_CSV) != 0 ? ',' : ' ';
    p = ab_text_put_u64(p, number);
    *p++ = separator;
    p = ab_text_put_u64(p, e->thread);
    *p++ = separator;
    p = put_word(p, ab_event_kind_names[e->kind]);
    *p++ = separator;
    p = put_optional(p, e->kind != AB_EVENT_FREE, e->size, layout);
    *p++ = separator;
    p = put_optional(p, e->kind == AB_EVENT_ALLOC_ALIGNED, e->align, layout);
    *p++ = separator;
    p = put_optional(p, block->is_live, block->number, layout);
    *p++ = separator;
    p = put_word(p, e->failed ? "failed" : e->released ? "released" : "ok");
    if ((layout & AB_EVENT_TIMED) != 0) {
        *p++ = separator;
        p = ab_text_put_u64(p, e->time_us);
    }
    return put_word(p, (layout & AB_EVENT_CSV) != 0 ? "\r\n" : "\n");
}
