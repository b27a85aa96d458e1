/* SPDX-License-Identifier: MIT
 *
 * Closes all descriptors but the standard ones as it is loaded.
 */
#include <unistd.h>

#include "toy.h"

__attribute__((constructor)) static void close_all(void)
{
    close_range(3, ~0u, 0);
}
