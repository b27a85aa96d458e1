/* SPDX-License-Identifier: MIT
 *
 * Leaves errno changed by every malloc and free that succeeds.
 */
#define TOY_ON_MALLOC(size) ((void)(size), errno = ENOTTY)
#define TOY_OWN_FREE
#include "toy.h"

void free(void *p)
{
    toy_free(p);
    errno = EBADF;
}
