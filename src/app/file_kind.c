/* SPDX-License-Identifier: MIT
 *
 * Recognizes the kind of a file by its first bytes. An unknown file is left to the command that
 * reads it, whose own error message says more.
 */
#include "app/file_kind.h"

#include "exchange/intake.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_MOST = 1 << 16 };

const char *const ab_file_kind_names[AB_FILE_KINDS] = {
    [AB_FILE_UNKNOWN] = "",
    [AB_FILE_WORKLOAD] = "a workload",
    [AB_FILE_TRACE] = "a trace",
    [AB_FILE_RESULT] = "a result",
    [AB_FILE_REPORT] = "an HTML document",
    [AB_FILE_BINARY] = "a program or a library",
    [AB_FILE_SUITE] = "a result of several workloads",
    [AB_FILE_SPOOL] = "a raw recording",
};

/* True if the first line that is neither empty nor a comment begins with "allocbench:", as in every
 * workload. */
static bool is_workload(const char *text)
{
    static const char key[] = "allocbench:";
    for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *begin = line + strspn(line, " \t\r");
        if (*begin != '#' && *begin != 0 && *begin != '\n' && strncmp(begin, "---", 3) != 0)
            return strncmp(begin, key, sizeof key - 1) == 0;
    }
    return false;
}

/* True if the text begins with {"schema": "allocbench/N", as all JSON of allocbench does. */
static bool has_schema(const char *text, const char *family)
{
    const char *const tokens[] = {"{", "\"schema\"", ":", family};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, tokens[i], strlen(tokens[i])) != 0)
            return false;
        text += strlen(tokens[i]);
    }
    return true;
}

static bool is_html(const char *text)
{
    text += strspn(text, " \t\r\n");
    return strncasecmp(text, "<!doctype html", 14) == 0 || strncasecmp(text, "<html", 5) == 0;
}

static enum ab_file_kind kind_of_text(char *head, size_t n)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    head[n] = 0;
    if (n >= 4 && memcmp(head,
                         "\x89"
                         "ABT",
                         4) == 0)
        return AB_FILE_TRACE;
    if (n >= 4 && memcmp(head,
                         "\x7f"
                         "ELF",
                         4) == 0)
        return AB_FILE_BINARY;
    const char *text = strncmp(head, byte_order_mark, 3) == 0 ? head + 3 : head;
    return has_schema(text, "\"allocbench/")         ? AB_FILE_RESULT
           : has_schema(text, "\"allocbench-suite/") ? AB_FILE_SUITE
           : is_html(text)                           ? AB_FILE_REPORT
           : is_workload(text)                       ? AB_FILE_WORKLOAD
                                                     : AB_FILE_UNKNOWN;
}

/* True if the folder was left by `record --no-convert`, or by a `record` that was killed. */
static bool is_spool(const char *folder)
{
    static const char *const controls[] = {"control", "spool/control"};
    char path[4096];
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, controls[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

enum ab_file_kind ab_file_kind_of(const char *path)
{
    static char head[HEAD_MOST + 1];
    struct stat st;
    if (stat(path, &st) != 0)
        return AB_FILE_UNKNOWN;
    if (S_ISDIR(st.st_mode))
        return is_spool(path) ? AB_FILE_SPOOL : AB_FILE_UNKNOWN;
    if (!S_ISREG(st.st_mode))
        return AB_FILE_UNKNOWN;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return AB_FILE_UNKNOWN;
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<HEAD_MOST; n += got> 0 ? (size_t)got : 0)
        got = read(fd, head + n, HEAD_MOST - n);
    close(fd);
    return kind_of_text(head, n);
}

const char *ab_foreign_format_of(const char *path)
{
    struct stat st;
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    const struct ab_format *format = is_file ? ab_format_recognize(path) : NULL;
    return format != NULL ? format->name : NULL;
}
