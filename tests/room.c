/* SPDX-License-Identifier: MIT
 *
 * One program for all unit tests of a room: it is linked to under the name of each of them, and runs
 * the one that it is called as. ROOM_TESTS(X), from the Makefile, lists them; each was compiled with
 * a main of its own name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(name) int name##_main(void);
ROOM_TESTS(DECLARE)

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
/* clang-format off */
#define ROW(name) {#name, name##_main},
    ROOM_TESTS(ROW)
    /* clang-format on */
};

int main(void)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(tests[i].name, program_invocation_short_name) == 0)
            return tests[i].run();
    fprintf(stderr, "%s: call it by the name of one of these tests:\n",
            program_invocation_short_name);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        fprintf(stderr, "  %s\n", tests[i].name);
    return 2;
}
