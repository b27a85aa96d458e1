/* SPDX-License-Identifier: MIT
 *
 * Breaks text into lines for help and explanations.
 */
#include "cli/help/paragraph.h"

#include <string.h>

static int columns_of(const char *text, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80; /* a byte that begins a character */
    return columns;
}

int ab_paragraph_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* Bytes of the next word; what is in single quotes, to be copied, is one with its blanks. */
static size_t word_length(const char *text)
{
    enum { QUOTED_MAX = 50 };
    const char *end = text[0] == '\'' ? strchr(text + 1, '\'') : NULL;
    size_t quoted = end != NULL ? (size_t)(end - text) + 1 : 0;
    if (quoted > QUOTED_MAX || memchr(text, '\n', quoted) != NULL)
        quoted = 0;
    return quoted + strcspn(text + quoted, " \n");
}

/* A line break and the blanks to the column; none after the last line. */
static void begin_line(FILE *to, int indent)
{
    fprintf(to, "\n%*s", indent, "");
}

void ab_paragraph_print(FILE *to, const char *text, int indent, int at)
{
    fprintf(to, "%*s", at < indent ? indent - at : 0, "");
    for (int column = at < indent ? indent : at; *text != 0;) {
        if (*text == '\n' && text[1] == ' ') { /* this line stays as it is */
            size_t n = strcspn(++text, "\n");
            begin_line(to, indent);
            fprintf(to, "%.*s", (int)n, text);
            text += n;
            column = AB_HELP_WIDTH; /* what follows has a line of its own */
            continue;
        }
        text += *text == '\n' || *text == ' ';
        size_t n = word_length(text);
        int wide = columns_of(text, n);
        if (wide == 0)
            continue;
        if (column > indent && column + 1 + wide > AB_HELP_WIDTH) {
            begin_line(to, indent);
            column = indent;
        } else if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)n, text);
        column += wide;
        text += n;
    }
    fputc('\n', to);
}
