/* SPDX-License-Identifier: MIT
 *
 * Writes the reports. Numbers are formatted here, because stdio may allocate.
 */
#include "paged_report.h"

enum { REPORT_NAME = 24, REPORT_COLUMN = 12, REPORT_LINE = 200 };

struct report_line {
    char text[REPORT_LINE];
    size_t n;
};

static void report_put(struct report_line *line, const char *text, size_t n, size_t width)
{
    for (size_t i = n; i < width && line->n < REPORT_LINE - 1; i++)
        line->text[line->n++] = ' ';
    for (size_t i = 0; i < n && line->n < REPORT_LINE - 1; i++)
        line->text[line->n++] = text[i];
}

static void report_number(struct report_line *line, uint64_t value, unsigned base, size_t width)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    report_put(line, digits + at, sizeof digits - at, width);
}

/* Writes text left-aligned in its column, cut off at the end of the column. */
static void report_name(struct report_line *line, const char *name)
{
    size_t n = strlen(name), width = REPORT_NAME;
    n = n < width ? n : width;
    report_put(line, name, n, 0);
    report_put(line, "", 0, width - n);
}

static void report_end(struct report_line *line, ab_paged_write *write, void *context)
{
    line->text[line->n++] = '\n';
    write(line->text, line->n, context);
    line->n = 0;
}

static void report_titles(struct report_line *line, ab_paged_write *write, void *context)
{
    static const char *const titles[] = {"blocks", "bytes", "peak", "allocated", "align"};
    report_name(line, "tag");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        report_put(line, titles[i], strlen(titles[i]), REPORT_COLUMN);
    report_end(line, write, context);
}

void ab_paged_arena_report(const struct ab_paged_arena *arena, ab_paged_write *write, void *context)
{
    struct report_line line;
    line.n = 0;
    report_titles(&line, write, context);
    for (unsigned tag = 1; tag < ab_paged_arena_tags(arena); tag++) {
        const struct ab_paged_tag_count *c = ab_paged_arena_tag_count(arena, tag);
        uint64_t columns[] = {c->n_blocks, c->bytes, c->peak_bytes, c->n_all, c->align};
        if (c->n_all == 0)
            continue;
        report_name(&line, c->name != NULL ? c->name : "(no name)");
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            report_number(&line, columns[i], 10, REPORT_COLUMN);
        report_end(&line, write, context);
    }
    report_name(&line, "arena, used of held");
    report_number(&line, ab_paged_arena_used(arena), 10, REPORT_COLUMN);
    report_number(&line, arena->held_bytes, 10, REPORT_COLUMN);
    report_end(&line, write, context);
}

void ab_paged_pool_report(const struct ab_paged_pool *pool, ab_paged_write *write, void *context)
{
    struct report_line line;
    line.n = 0;
    report_name(&line, pool->name);
    report_number(&line, pool->live_blocks, 10, REPORT_COLUMN);
    report_number(&line, pool->live_bytes, 10, REPORT_COLUMN);
    report_number(&line, ab_paged_pool_size(pool), 10, REPORT_COLUMN);
    report_end(&line, write, context);
}

struct report_leaks {
    ab_paged_write *write;
    void *context;
    size_t n;
};

static void report_leak(void *block, size_t bytes, unsigned tag, void *context)
{
    struct report_leaks *leaks = (struct report_leaks *)context;
    struct report_line line;
    line.n = 0;
    leaks->n++;
    report_put(&line, "0x", 2, 0);
    report_number(&line, (uintptr_t)block, 16, 0);
    report_number(&line, bytes, 10, REPORT_COLUMN);
    report_number(&line, tag, 10, REPORT_COLUMN);
    report_end(&line, leaks->write, leaks->context);
}

size_t ab_paged_pool_leaks(struct ab_paged_pool *pool, ab_paged_write *write, void *context)
{
    struct report_leaks leaks = {write, context, 0};
    ab_paged_pool_visit(pool, report_leak, &leaks);
    return leaks.n;
}
