/* SPDX-License-Identifier: MIT
 *
 * Reads the output of gperftools' debug libraries with TCMALLOC_TRACE=1. A line is a call; its
 * words are separated by tabs: name, bytes, address, thread, then the stack. A resize is a free
 * of the old block, then "realloc" with the new one. The two are joined if no other line is
 * between them. calloc appears as malloc. memalign does too, with the larger block that contains
 * the address, so that its free has another address. The size of a free is ignored.
 */
#include "exchange/intake.h"

static const char expected[] =
    "a line of gperftools, a call, bytes, address and thread, apart by tabs";

struct line {
    char call; /* 'm', 'f', 'r'; 0 = none */
    uint64_t size, address, thread;
};

static bool read_line(const char *at, struct line *out)
{
    out->call = at[0];
    return (ab_scan_text(&at, "malloc\t") || ab_scan_text(&at, "free\t") ||
            ab_scan_text(&at, "realloc\t")) &&
           ab_scan_decimal(&at, &out->size) && ab_scan_text(&at, "\t") &&
           ab_scan_pointer(&at, &out->address) && ab_scan_text(&at, "\t") &&
           ab_scan_decimal(&at, &out->thread) && out->thread >> 63 == 0 &&
           (ab_scan_end(at) || *at == '\t');
}

static enum ab_status take_free(struct ab_intake *to, struct line *freed, struct ab_err *err)
{
    struct ab_foreign_call call = {
        .kind = AB_EVENT_FREE, .old = freed->address, .thread = freed->thread};
    bool is_there = freed->call == 'f';
    freed->call = 0;
    return is_there ? ab_intake_take(to, &call, err) : AB_OK;
}

/* Processes a line. `freed` is the line before if that was a free, which may have been the first
 * half of a resize. */
static enum ab_status take(struct ab_intake *to, const struct line *l, struct line *freed,
                           struct ab_err *err)
{
    struct ab_foreign_call call = {
        .kind = AB_EVENT_ALLOC, .address = l->address, .size = l->size, .thread = l->thread};
    if (l->call == 'r' && freed->call == 'f' && freed->thread == l->thread) {
        call.kind = AB_EVENT_RESIZE;
        call.old = freed->address;
        freed->call = 0;
    }
    AB_TRY(take_free(to, freed, err));
    if (l->call != 'f')
        return ab_intake_take(to, &call, err);
    *freed = *l;
    return AB_OK;
}

enum ab_status ab_import_gperftools(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    struct line l, freed = {0};
    uint64_t n_starts = 0;
    for (char *text;;) {
        const char *at;
        AB_TRY(ab_feed_line(from, &text, err));
        if (text == NULL)
            return take_free(to, &freed, err);
        at = text;
        if (ab_scan_text(&at, "Trace started: ") && ++n_starts > 1)
            return ab_feed_bad(from, err,
                               "a second trace begins here, of another process; import each by "
                               "itself");
        if (at != text || ab_scan_text(&at, "func\t"))
            continue;
        if (!read_line(text, &l))
            return ab_feed_odd_line(from, text, expected, err);
        AB_TRY(take(to, &l, &freed, err));
    }
}
