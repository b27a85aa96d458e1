/* SPDX-License-Identifier: MIT
 *
 * Asks the process that measures it to end, twice, and goes on as if nothing were.
 */
#include <signal.h>
#include <unistd.h>

static void signal_parent(void);

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        if (n_mallocs == 100 || n_mallocs == 200) \
            signal_parent(); \
    } while (0)
#include "toy.h"

static void signal_parent(void)
{
    kill(getppid(), SIGTERM);
}
