/* SPDX-License-Identifier: MIT
 *
 * Table of written pages. The written pages of a block are known only when it is freed, so that a
 * chunk can refer to calls of any earlier chunk. Each chunk is sorted by call, and readers sort all
 * items together.
 */
#include "trace/written_table.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "core/alloc.h"

#include <stdlib.h>

enum { ITEMS_MOST = 65536 }; /* limit per chunk; an item has at most 20 bytes */

void ab_written_table_fini(struct ab_written_table *t)
{
    free(t->items);
    *t = (struct ab_written_table){0};
}

void ab_written_add(struct ab_written_table *t, struct ab_trace_written item)
{
    if (t->n == AB_WRITTEN_MAX)
        return;
    AB_GROW(t->items, t->cap, t->n);
    t->items[t->n++] = item;
}

static int by_call(const void *a, const void *b)
{
    const struct ab_trace_written *x = a, *y = b;
    return AB_COMPARE(x->call, y->call);
}

bool ab_written_sort(struct ab_written_table *t)
{
    if (t->n > 0)
        qsort(t->items, t->n, sizeof t->items[0], by_call);
    for (size_t i = 1; i < t->n; i++)
        if (t->items[i].call == t->items[i - 1].call)
            return false;
    return true;
}

size_t ab_written_encode(struct ab_written_table *t, size_t *done, uint8_t *raw)
{
    size_t n = t->n - *done;
    n = n < ITEMS_MOST ? n : ITEMS_MOST;
    if (n == 0)
        return 0;
    struct ab_trace_written *items = &t->items[*done];
    uint8_t *at = ab_put_varint(raw, n);
    uint64_t before = 0;
    qsort(items, n, sizeof items[0], by_call);
    for (size_t i = 0; i < n; i++) {
        at = ab_put_varint(at, items[i].call - before);
        at = ab_put_varint(at, items[i].known);
        at = ab_put_varint(at, items[i].pages);
        before = items[i].call;
    }
    *done += n;
    return (size_t)(at - raw);
}

static const char malformed[] = "malformed shares that were written";

const char *ab_written_decode(struct ab_written_table *t, const uint8_t *raw, size_t bytes)
{
    struct ab_cursor c = {raw, raw + bytes, false};
    uint64_t call = 0;
    bool is_first = true;
    for (uint64_t n = ab_read_varint(&c); n > 0; n--, is_first = false) {
        uint64_t calls = ab_read_varint(&c), known = ab_read_varint(&c), pages = ab_read_varint(&c);
        if (c.has_failed || calls > INT64_MAX - call || (calls == 0 && !is_first) || known == 0 ||
            known > UINT32_MAX || pages > known)
            return malformed;
        if (t->n == AB_WRITTEN_MAX)
            return "more blocks of which it says what was written than a trace can have";
        call += calls;
        ab_written_add(t, (struct ab_trace_written){call, (uint32_t)known, (uint32_t)pages});
    }
    return c.has_failed || c.at != c.end ? malformed : NULL;
}
