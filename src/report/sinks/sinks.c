/* SPDX-License-Identifier: MIT
 *
 * The table of output formats, expanded from sinks.def.
 */
#include "report/sinks/sinks.h"

#include <string.h>

/* ---- names of histograms ---- */

/* True for characters that need no escape. All others become %XX, which contains no separator of
 * the log or of a path. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("_-+=:@.", c) != NULL);
}

static void add_name(char *buf, size_t cap, size_t *n, const char *s, bool is_dot_plain)
{
    for (size_t i = 0; s[i] != 0 && *n + 4 < cap; i++) {
        if (is_plain(s[i]) && (s[i] != '.' || (is_dot_plain && i > 0)))
            *n += (size_t)snprintf(buf + *n, cap - *n, "%c", s[i]);
        else
            *n += (size_t)snprintf(buf + *n, cap - *n, "%%%02X", (unsigned char)s[i]);
    }
}

const char *ab_sink_tag(char buf[AB_TAG_BYTES], const char *backend, const char *phase,
                        const char *op)
{
    size_t n = 0;
    add_name(buf, AB_TAG_BYTES - 32, &n, backend, true);
    n += (size_t)snprintf(buf + n, AB_TAG_BYTES - n, ".");
    /* dots of the phase are escaped, so that the last two dots of a tag separate its parts */
    add_name(buf, AB_TAG_BYTES - 32, &n, phase, false);
    snprintf(buf + n, AB_TAG_BYTES - n, ".%s", op);
    return buf;
}

#define OF_SUITE(function) function
#define EACH NULL
const struct ab_sink ab_sinks[AB_SINK_COUNT] = {
#define AB_SINK(id, name, arg, help, function, suite, help_of) \
    {.option = name, .write = function, .write_suite = suite},
#define AB_SINK_OF_HISTOGRAMS(id, name, arg, help, function) \
    {.option = name, .write_histogram = function},
#define AB_SINK_OF_FIGURES(id, name, arg, help, function) \
    {.option = name, .write_figures = function},
#define AB_SINK_OF_LINES(id, name, help, function, suite) \
    {.option = name, .write = function, .write_suite = suite, .is_of_lines = true},
#define AB_SINK_OF_VERDICTS AB_SINK
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_HISTOGRAMS
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_LINES
};
