/* SPDX-License-Identifier: MIT
 *
 * Leaves two sleepers behind: a plain child, and a grandchild in a session of its own whose
 * parent is gone. Then it goes on as if nothing had happened.
 */
#include <sys/wait.h>
#include <unistd.h>

static void leave_sleepers(void);

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        if (n_mallocs == 1000) \
            leave_sleepers(); \
    } while (0)
#include "toy.h"

static void sleep_long(void)
{
    sleep(1000);
    _exit(0);
}

static void leave_sleepers(void)
{
    if (fork() == 0)
        sleep_long();
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            sleep_long();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
