/* SPDX-License-Identifier: MIT
 *
 * Works only where ENV_WANTED is set.
 */
#include <stdlib.h>

#include "toy.h"

static __attribute__((constructor)) void look(void)
{
    if (getenv("ENV_WANTED") == NULL)
        abort();
}
