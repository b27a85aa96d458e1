/* SPDX-License-Identifier: MIT
 *
 * Lowers the limit that its variable LIMIT names as it is loaded: files, space or data.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "toy.h"

__attribute__((constructor)) static void lower(void)
{
    const char *name = getenv("LIMIT");
    struct rlimit none = {0, 0};
    if (name == NULL)
        return;
    if (strcmp(name, "files") == 0)
        setrlimit(RLIMIT_NOFILE, &none);
    else if (strcmp(name, "space") == 0)
        setrlimit(RLIMIT_AS, &none);
    else
        setrlimit(RLIMIT_DATA, &none);
}
