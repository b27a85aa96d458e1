/* SPDX-License-Identifier: MIT
 *
 * The table of temporary files, and the signal handler that removes them before the process ends.
 */
#include "core/unfinished.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { ENTRIES = 64, NAME_BYTES = 64 };

static struct entry {
    volatile sig_atomic_t is_used; /* set last, cleared first: a handler sees whole entries only */
    int directory;
    char name[NAME_BYTES];
} entries[ENTRIES];

static pid_t owner; /* a child's copy of the table is none of its business */

void ab_unfinished_remove(void)
{
    if (owner != getpid())
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].is_used)
            unlinkat(entries[i].directory, entries[i].name, 0);
}

static void end_process(int signal_number)
{
    ab_unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* blocked in here; ends the process as the handler returns */
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = end_process}, old;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

bool ab_unfinished_enter(int directory, const char *name)
{
    size_t i = 0, n = strlen(name);
    while (i < ENTRIES && entries[i].is_used)
        i++;
    if (i == ENTRIES || n >= NAME_BYTES)
        return false;
    owner = getpid();
    catch_signals();
    entries[i].directory = directory;
    memcpy(entries[i].name, name, n + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entries[i].is_used = 1;
    return true;
}

void ab_unfinished_forget(int directory, const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].is_used && entries[i].directory == directory &&
            strcmp(entries[i].name, name) == 0) {
            entries[i].is_used = 0;
            return;
        }
}
