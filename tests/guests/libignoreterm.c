/* SPDX-License-Identifier: MIT
 *
 * Blocks SIGTERM and everything else that can be blocked, then sleeps: only SIGKILL ends it.
 */
#include <signal.h>
#include <unistd.h>

static void sleep_deaf(void);

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        if (n_mallocs == 5000) \
            sleep_deaf(); \
    } while (0)
#include "toy.h"

static void sleep_deaf(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;)
        sleep(1000);
}
