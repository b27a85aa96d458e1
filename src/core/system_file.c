/* SPDX-License-Identifier: MIT
 *
 * Reads such a file whole into a bounded buffer and takes it apart by hand.
 */
#include "core/system_file.h"

#include "base/units.h"
#include "core/text.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool join(char full[PATH_MAX], const char *root, const char *path)
{
    return snprintf(full, PATH_MAX, "%s%s", root, path) < PATH_MAX;
}

const char *ab_system_file(const char *root, const char *path, char buf[AB_SYSTEM_FILE_BYTES])
{
    char full[PATH_MAX];
    size_t used = 0;
    buf[0] = 0;
    if (!join(full, root, path))
        return buf;
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return buf;
    for (ssize_t n = 1; n > 0 && used<AB_SYSTEM_FILE_BYTES - 1; used += n> 0 ? (size_t)n : 0)
        n = read(fd, buf + used, AB_SYSTEM_FILE_BYTES - 1 - used);
    close(fd);
    buf[used] = 0;
    return buf;
}

bool ab_system_file_exists(const char *root, const char *path)
{
    char full[PATH_MAX];
    return join(full, root, path) && access(full, F_OK) == 0;
}

const char *ab_system_file_text(const char *root, const char *path, char *dst, size_t cap)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(root, path, buf);
    ab_system_file_trim(dst, cap, buf, strlen(buf));
    return dst;
}

double ab_system_file_number(const char *root, const char *path)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    return ab_system_file_parse(ab_system_file(root, path, buf));
}

void ab_system_file_trim(char *dst, size_t cap, const char *s, size_t n)
{
    char raw[256];
    while (n > 0 && strchr(" \t\n\"", s[0]) != NULL) {
        s++;
        n--;
    }
    while (n > 0 && strchr(" \t\n\"", s[n - 1]) != NULL)
        n--;
    n = n < sizeof raw - 1 ? n : sizeof raw - 1;
    memcpy(raw, s, n);
    raw[n] = 0;
    ab_text_printable(dst, cap, raw);
}

void ab_system_file_value(char *dst, size_t cap, const char *text, const char *key, char separator)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL && *line != 0;) {
        const char *end = strchrnul(line, '\n');
        const char *value = memchr(line, separator, (size_t)(end - line));
        if (strncmp(line, key, n) == 0 && value != NULL) {
            ab_system_file_trim(dst, cap, value + 1, (size_t)(end - value - 1));
            return;
        }
        line = *end == 0 ? NULL : end + 1;
    }
}

double ab_system_file_parse(const char *s)
{
    struct ab_number number;
    size_t n = strspn(s, "0123456789.");
    return ab_units_parse(s, n, AB_UNIT_FRACTION, &number) == NULL ? number.value : (double)NAN;
}
