/* SPDX-License-Identifier: MIT
 *
 * Closes descriptors it does not own, 3 to 20, as daemons do, in the 100th malloc.
 */
#include <unistd.h>

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        for (int fd = 3; n_mallocs == 100 && fd <= 20; fd++) \
            close(fd); \
    } while (0)
#include "toy.h"
