/* SPDX-License-Identifier: MIT
 *
 * Reads the output of glibc's mtrace(3). A line is a call: "@ CALLER + ADDRESS SIZE" is an
 * allocation, "-" a free, "<" and ">" a resize that moved a block from one address to another,
 * "!" a failed resize. CALLER may contain spaces or be missing, so that lines are read from
 * their end. mtrace records calloc and memalign as allocations, and has no threads.
 *
 * mtrace() writes "= Start" once per file. A second one comes from a forked process, whose calls
 * are mixed with its parent's, or from another log. Neither would give the trace of one program.
 */
#include "exchange/intake.h"

static const char expected[] = "a line of mtrace, such as @ ./a.out:[0x1136] + 0x55d2a0 0x64";

struct line {
    char sign;
    uint64_t address, size; /* - and < have no size */
};

static bool read_call(const char *at, struct line *out)
{
    out->sign = *at;
    if (*at == 0 || strchr("+-<>!", *at) == NULL || at[1] != ' ')
        return false;
    at += 2;
    out->size = 0;
    if (!ab_scan_pointer(&at, &out->address))
        return false;
    if (out->sign != '-' && out->sign != '<')
        return ab_scan_text(&at, " ") && ab_scan_pointer(&at, &out->size) && ab_scan_end(at);
    return ab_scan_end(at);
}

/* Reads a line. The call is the last " + ", " - " … of the line that can be parsed. */
static bool read_line(const char *text, struct line *out)
{
    if (text[0] != '@')
        return read_call(text, out);
    for (const char *at = text + strlen(text); at > text + 1; at--)
        if (at[-1] == ' ' && read_call(at, out))
            return true;
    return false;
}

static enum ab_status take(struct ab_intake *to, const struct line *l, struct ab_err *err)
{
    struct ab_foreign_call call = {.kind = AB_EVENT_ALLOC, .address = l->address, .size = l->size};
    if (l->sign == '-')
        call = (struct ab_foreign_call){.kind = AB_EVENT_FREE, .old = l->address};
    else if (l->sign == '!')
        call = (struct ab_foreign_call){
            .kind = AB_EVENT_RESIZE, .old = l->address, .size = l->size};
    return ab_intake_take(to, &call, err);
}

static enum ab_status take_mark(struct ab_feed *from, const char *text, uint64_t *n_starts,
                                struct ab_err *err)
{
    *n_starts += strncmp(text, "= Start", 7) == 0;
    if (*n_starts < 2)
        return AB_OK;
    return ab_feed_bad(
        from, err,
        "a second \"= Start\": this log holds the calls of two processes, as of a "
        "program that forks, or of two runs. Give each process a MALLOC_TRACE of its "
        "own, or record the program: allocbench record -- ./app");
}

enum ab_status ab_import_mtrace(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    struct line l, moved = {0}; /* first half of a resize */
    uint64_t n_starts = 0;
    for (char *text;;) {
        AB_TRY(ab_feed_line(from, &text, err));
        if (text == NULL && moved.sign != 0)
            return ab_feed_end_early(from, err,
                                     "the file ends within a resize: > does not follow <");
        if (text == NULL)
            return AB_OK;
        if (text[0] == '=' || text[0] == 0) { /* "= Start", "= End" */
            AB_TRY(take_mark(from, text, &n_starts, err));
            continue;
        }
        if (!read_line(text, &l))
            return ab_feed_odd_line(from, text, expected, err);
        if ((l.sign == '>') != (moved.sign != 0))
            return ab_feed_odd_line(from, text,
                                    moved.sign != 0 ? "the > that follows <" : "< before >", err);
        if (l.sign == '>') {
            struct ab_foreign_call call = {.kind = AB_EVENT_RESIZE,
                                           .old = moved.address,
                                           .address = l.address,
                                           .size = l.size};
            AB_TRY(ab_intake_take(to, &call, err));
        } else if (l.sign != '<') {
            AB_TRY(take(to, &l, err));
        }
        moved = l.sign == '<' ? l : (struct line){0};
    }
}
