/* SPDX-License-Identifier: MIT
 *
 * --color, then NO_COLOR (no-color.org), CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, then whether it is
 * a terminal at all. Width: the terminal's, then COLUMNS, then 80.
 */
#include "cli/terminal.h"

#include "base/nearest.h"
#include "core/text.h"

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
    setlocale(LC_CTYPE, ""); /* never LC_NUMERIC: numbers keep their '.' */
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct ab_table_style ab_terminal_style(const struct ab_options *o)
{
    return (struct ab_table_style){
        .width = ab_terminal_width(STDOUT_FILENO),
        .color = wants_color(o),
        .utf8 = !o->is_ascii && ab_terminal_has_utf8(),
        .is_verbose = o->is_verbose,
        .topics = o->topics,
        .phase = o->topic_phase,
    };
}

enum ab_status ab_terminal_check_phase(const struct ab_options *o, const struct ab_session *session,
                                       struct ab_err *err)
{
    struct ab_text list = {0};
    char shown[300];
    if (o->topic_phase == NULL)
        return AB_OK;
    for (uint32_t i = 0; i < session->n_phases; i++) {
        if (strcmp(session->phases[i], o->topic_phase) == 0) {
            ab_text_fini(&list);
            return AB_OK;
        }
        ab_text_addf(&list, "%s%s", i == 0 ? "" : ", ",
                     ab_text_printable(shown, sizeof shown, session->phases[i]));
    }
    const char *near = ab_text_nearest(o->topic_phase, session->phases, session->n_phases);
    char given[300], nearest[300];
    ab_fail(err, AB_USAGE, "--verbose phase=%s: no such phase among %s%s%s%s",
            ab_text_printable(given, sizeof given, o->topic_phase),
            list.s != NULL ? list.s : "the measured ones", near != NULL ? "; did you mean " : "",
            near != NULL ? ab_text_printable(nearest, sizeof nearest, near) : "",
            near != NULL ? "?" : "");
    ab_text_fini(&list);
    return AB_USAGE;
}
