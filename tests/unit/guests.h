/* SPDX-License-Identifier: MIT
 *
 * Where the shared objects of tests/guests are: build/VARIANT/guests, beside the tests.
 */
#ifndef AB_TESTS_UNIT_GUESTS_H
#define AB_TESTS_UNIT_GUESTS_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* buf has 4096 bytes; returned. */
static inline const char *guest_path(char *buf, const char *file)
{
    char self[2048];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *tests = strstr(self, "/tests/");
    if (tests != NULL)
        *tests = 0;
    snprintf(buf, 4096, "%s/guests/%s", self, file);
    return buf;
}

#endif
