/* SPDX-License-Identifier: MIT
 *
 * Renders errors. A source line may be a megabyte long and contain tabs, escape sequences or
 * invalid UTF-8, but the caret must be under the right character. So only the part of a line around
 * the error is shown, and each character is measured as it is printed.
 */
#include "workload/diag.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* WINDOW: columns of a long line that are shown; LEAD: how many of them are before the caret */
enum { WINDOW = 96, LEAD = 64 };

struct ab_diag_entry {
    struct ab_place at;
    size_t order; /* order in which errors were added; keeps the sort stable */
    char text[700];
};

void ab_diag_vadd(struct ab_diag *d, struct ab_place at, const char *fmt, va_list args)
{
    d->n_errors++;
    if (d->n_entries >= AB_DIAG_KEPT)
        return;
    AB_GROW(d->entries, d->cap_entries, d->n_entries);
    struct ab_diag_entry *e = &d->entries[d->n_entries];
    *e = (struct ab_diag_entry){.at = at, .order = d->n_entries++};
    vsnprintf(e->text, sizeof e->text, fmt, args);
}

void ab_diag_add(struct ab_diag *d, struct ab_place at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ab_diag_vadd(d, at, fmt, args);
    va_end(args);
}

static int compare_entries(const void *a, const void *b)
{
    const struct ab_diag_entry *x = a, *y = b;
    int line = AB_COMPARE(x->at.line, y->at.line), col = AB_COMPARE(x->at.col, y->at.col);
    return line != 0 ? line : col != 0 ? col : AB_COMPARE(x->order, y->order);
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r' || c == 0;
}

/* Returns the start of a line; \n, \r\n and \r end lines, as libyaml counts them. */
static const char *find_line(const struct ab_source_text *source, uint32_t line)
{
    const char *s = source->text, *end = source->text + source->n;
    for (; line > 1 && s < end; line--) {
        while (!is_break(*s))
            s++;
        s += s < end && s[0] == '\r' && s[1] == '\n' ? 2 : 1;
    }
    return s < end ? s : end;
}

/* Returns the number of bytes of the character at `s`. In invalid UTF-8, a byte without its
 * continuation bytes counts as a character. */
static size_t char_bytes(const char *s)
{
    size_t n = 1;
    while (n < 4 && ((unsigned char)s[0] & 0xc0) == 0xc0 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Appends one character of n bytes to `out`, escaped if it is not printable. Returns the columns it
 * takes. */
static size_t add_char(struct ab_text *out, const char *s, size_t n)
{
    char one[8] = {0}, shown[40];
    memcpy(one, s, n);
    if (one[0] == '\t')
        one[0] = ' ';
    ab_text_printable(shown, sizeof shown, one);
    ab_text_add(out, shown);
    return strcmp(shown, one) == 0 ? 1 : strlen(shown);
}

void ab_diag_excerpt(struct ab_text *out, const struct ab_source_text *source, struct ab_place at)
{
    if (at.line == 0)
        return;
    const char *s = find_line(source, at.line);
    uint32_t first = at.col > LEAD ? at.col - LEAD : 1;
    size_t before = 0, under = 0;
    uint32_t col = 1;
    for (; col < first && !is_break(*s); col++)
        s += char_bytes(s);
    ab_text_addf(out, "%5u | %s", at.line, first > 1 ? "..." : "");
    before = first > 1 ? 3 : 0;
    for (; col < first + WINDOW && !is_break(*s); col++) {
        size_t n = char_bytes(s), width = add_char(out, s, n);
        if (col < at.col)
            before += width;
        else if (col < at.col + at.len)
            under += width;
        s += n;
    }
    ab_text_addf(out, "%s\n      | %*s^", is_break(*s) ? "" : "...", (int)before, "");
    for (; under > 1; under--)
        ab_text_add(out, "~");
    ab_text_add(out, "\n");
}

static void render_entry(struct ab_text *out, const struct ab_diag *d,
                         const struct ab_diag_entry *e)
{
    char file[512];
    ab_text_printable(file, sizeof file, d->source.file);
    if (e->at.line == 0)
        ab_text_addf(out, "%s: error: %s\n", file, e->text);
    else
        ab_text_addf(out, "%s:%u:%u: error: %s\n", file, e->at.line, e->at.col, e->text);
    ab_diag_excerpt(out, &d->source, e->at);
}

char *ab_diag_render(struct ab_diag *d)
{
    struct ab_text out = {0};
    qsort(d->entries, d->n_entries, sizeof d->entries[0], compare_entries);
    for (size_t i = 0; i < d->n_entries && i < AB_DIAG_SHOWN; i++)
        render_entry(&out, d, &d->entries[i]);
    if (d->n_errors > 1) {
        ab_text_addf(&out, "%zu errors in %s", d->n_errors, AB_SHOWN(512, d->source.file));
        if (d->n_errors > AB_DIAG_SHOWN)
            ab_text_addf(&out, "; the first %d are shown", AB_DIAG_SHOWN);
        ab_text_add(&out, "\n");
    }
    return out.s;
}

void ab_diag_fini(struct ab_diag *d)
{
    free(d->entries);
    d->entries = NULL;
    d->n_entries = d->n_errors = 0;
}

const char *ab_diag_quote(char *buf, size_t cap, const char *word, size_t n)
{
    char cut[48];
    bool is_cut = n >= sizeof cut;
    size_t kept = is_cut ? sizeof cut - 8 : n;
    while (is_cut && kept > 0 && ((unsigned char)word[kept] & 0xc0) == 0x80)
        kept--;
    if (kept > 0) /* word may be NULL if n is 0 */
        memcpy(cut, word, kept);
    strcpy(cut + kept, is_cut ? "..." : "");
    return ab_text_printable(buf, cap, cut);
}
