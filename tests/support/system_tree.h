/* SPDX-License-Identifier: MIT */
#ifndef AB_TESTS_SYSTEM_TREE_H
#define AB_TESTS_SYSTEM_TREE_H

/* A made-up /proc and /sys below a temporary folder, whose path ends without a slash. */
extern char fake_system_root[64];

/* Setup and teardown of cmocka. */
int fake_system_make(void **state);
int fake_system_remove(void **state);

/* Writes a file, with the folders that it is in. `path` is that on the real system: "/proc/stat". */
void fake_system_put(const char *path, const char *text);

#endif
