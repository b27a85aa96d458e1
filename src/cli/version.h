/* SPDX-License-Identifier: MIT */
#ifndef AB_CLI_VERSION_H
#define AB_CLI_VERSION_H

#include <stdio.h>

/* Prints "allocbench X.Y.Z", then the compiler, its flags and the libraries. */
void ab_version_print(FILE *to);

#endif
