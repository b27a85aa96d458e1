/* SPDX-License-Identifier: MIT
 *
 * Decides on colour by --color, then NO_COLOR (no-color.org), CLICOLOR_FORCE, CLICOLOR=0 and
 * TERM=dumb. If none of them decides, colour is used if standard output is a terminal. The width is
 * that of the terminal, else COLUMNS, else 80.
 */
#include "cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != 0;
}

static bool is_value(const char *name, const char *value)
{
    return is_set(name) && strcmp(getenv(name), value) == 0;
}

static bool wants_color(const struct ab_options *o)
{
    if (o->color != AB_COLOR_AUTO)
        return o->color == AB_COLOR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") && !is_value("CLICOLOR_FORCE", "0"))
        return true;
    return !is_value("CLICOLOR", "0") && !is_value("TERM", "dumb") && isatty(STDOUT_FILENO);
}

unsigned ab_terminal_width(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long n = columns == NULL ? 0 : strtol(columns, NULL, 10);
    return n >= 20 && n <= 1000 ? (unsigned)n : 80;
}

bool ab_terminal_has_utf8(void)
{
    setlocale(LC_CTYPE, ""); /* does not set LC_NUMERIC, so that numbers keep their '.' */
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct ab_table_style ab_terminal_style(const struct ab_options *o)
{
    return (struct ab_table_style){
        .width = ab_terminal_width(STDOUT_FILENO),
        .color = wants_color(o),
        .utf8 = !o->is_ascii && ab_terminal_has_utf8(),
        .is_verbose = o->is_verbose,
        .topics = o->passes.topics,
        .phase = o->outputs.phase,
    };
}
