/* SPDX-License-Identifier: MIT
 *
 * Prints the text of `--version`.
 */
#include "cli/version.h"

#include <cyaml/cyaml.h>
#include <jansson.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

void ab_version_print(FILE *to)
{
    fprintf(to, "allocbench %s\ncompiler %s\nflags %s\n", AB_VERSION, __VERSION__, AB_FLAGS);
    fprintf(to, "libcyaml %s, libyaml %s, zstd %s, zlib %s, jansson %s\n", cyaml_version_str,
            yaml_get_version_string(), ZSTD_versionString(), zlibVersion(), JANSSON_VERSION);
}
