/* SPDX-License-Identifier: MIT
 *
 * Writes HTML with a printf whose strings are escaped.
 */
#include "report/html/html.h"

#include "core/alloc.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Writes printable text with entities for markup characters. */
static void put_escaped(FILE *to, const char *s)
{
    for (; *s != 0; s++) {
        const char *entity = *s == '<'    ? "&lt;"
                             : *s == '>'  ? "&gt;"
                             : *s == '&'  ? "&amp;"
                             : *s == '"'  ? "&quot;"
                             : *s == '\'' ? "&#39;"
                                          : NULL;
        if (entity != NULL)
            fputs(entity, to);
        else
            fputc(*s, to);
    }
}

void ab_html_text(struct ab_html *h, const char *s)
{
    size_t cap = 4 * strlen(s) + 1; /* every byte may become \xNN */
    char small[512];
    char *room = cap <= sizeof small ? small : ab_alloc(cap);
    put_escaped(h->to, ab_text_printable(room, cap, s));
    if (room != small)
        free(room);
}

void ab_html_lines(struct ab_html *h, const char *s)
{
    char *copy = ab_strdup(s);
    for (char *line = copy; *line != 0;) {
        size_t n = strcspn(line, "\n\t");
        char end = line[n];
        line[n] = 0;
        ab_html_text(h, line);
        if (end != 0)
            fputc(end, h->to);
        line += n + (end != 0);
    }
    free(copy);
}

/* ---- conversions; callers' formats are checked at compile time by the attribute in html.h ---- */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Writes a number without trailing zeros: "12.50" becomes 12.5. */
static void put_real(FILE *to, const char *spec, double x)
{
    char text[400];
    int n = snprintf(text, sizeof text, spec, x);
    if (n > 0 && (size_t)n < sizeof text && strchr(text, '.') != NULL &&
        strchr(text, 'e') == NULL) {
        while (text[n - 1] == '0')
            text[--n] = 0;
        if (text[n - 1] == '.')
            text[--n] = 0;
    }
    fputs(strcmp(text, "-0") == 0 ? "0" : text, to);
}

static void put_integer(FILE *to, const char *spec, unsigned n_long, bool is_size, va_list *args)
{
    if (is_size)
        fprintf(to, spec, va_arg(*args, size_t));
    else if (n_long == 2)
        fprintf(to, spec, va_arg(*args, long long));
    else if (n_long == 1)
        fprintf(to, spec, va_arg(*args, long));
    else
        fprintf(to, spec, va_arg(*args, int));
}

/* Writes one conversion; `format` starts after the '%'. Returns the rest of the format. */
static const char *put_conversion(struct ab_html *h, const char *format, va_list *args)
{
    char spec[24] = "%";
    size_t n = strcspn(format, "%scduxfg");
    unsigned n_long = 0;
    bool is_size = false;
    if (format[n] == 0 || n + 3 > sizeof spec)
        return format;
    for (size_t i = 0; i < n; i++) {
        n_long += format[i] == 'l';
        is_size = is_size || format[i] == 'z';
    }
    memcpy(spec + 1, format, n + 1);
    const char *text = NULL;
    switch (format[n]) {
    case '%':
        fputc('%', h->to);
        break;
    case 's':
        text = va_arg(*args, const char *);
        if (text != NULL)
            ab_html_text(h, text);
        break;
    case 'f':
    case 'g':
        put_real(h->to, spec, va_arg(*args, double));
        break;
    default:
        put_integer(h->to, spec, n_long, is_size, args);
    }
    return format + n + 1;
}

void ab_html_f(struct ab_html *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    while (*format != 0) {
        size_t n = strcspn(format, "%");
        fwrite(format, 1, n, h->to);
        format += n;
        if (*format == '%')
            format = put_conversion(h, format + 1, &args);
    }
    va_end(args);
}

#pragma GCC diagnostic pop
