/* SPDX-License-Identifier: MIT
 *
 * exit(0) as it is loaded: a worker that ends "well" and has done nothing.
 */
#include <stdlib.h>

#include "toy.h"

__attribute__((constructor)) static void leave(void)
{
    exit(0);
}
