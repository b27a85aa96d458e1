/* SPDX-License-Identifier: MIT
 *
 * exit(124) as it is loaded: the status by which a worker that could not be started is known. It
 * must not take the other back ends down with it.
 */
#include <unistd.h>

#include "toy.h"

__attribute__((constructor)) static void leave(void)
{
    _exit(124);
}
