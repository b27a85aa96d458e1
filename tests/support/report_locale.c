/* SPDX-License-Identifier: MIT */
#include "report_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static bool build_locale(const char *directory)
{
    char command[256];
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >/dev/null 2>&1", directory);
    bool built = system(command) == 0 && setenv("LOCPATH", directory, 1) == 0 &&
                 setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 && built;
}

bool fake_german_locale(void)
{
    char directory[] = "/tmp/allocbench-test-XXXXXX";
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL)
        return true;
    return mkdtemp(directory) != NULL && build_locale(directory);
}
