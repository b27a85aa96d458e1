/* SPDX-License-Identifier: MIT
 *
 * Owns the folder in which a test makes up the files of a system.
 */
#include "support/system_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/cmocka.h"

char fake_system_root[64];

int fake_system_make(void **state)
{
    (void)state;
    strcpy(fake_system_root, "/tmp/allocbench-test-XXXXXX");
    return mkdtemp(fake_system_root) == NULL;
}

int fake_system_remove(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", fake_system_root);
    return system(command);
}

void fake_system_put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", fake_system_root, path);
    for (char *slash = strchr(full + strlen(fake_system_root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}
