/* SPDX-License-Identifier: MIT
 *
 * A timer whose signal ends the process when making the tape takes too long.
 */
#include "cli/build_limit.h"

#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static char message[1024]; /* ready before it is needed: a handler may not make one */
static size_t n_message;

static void on_timeout(int signal)
{
    (void)signal;
    ssize_t ignored = write(STDERR_FILENO, message, n_message);
    (void)ignored;
    _exit(ab_status_exit_code(AB_SYSTEM));
}

static void set_timer(uint64_t ns)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
                                           .tv_usec = (suseconds_t)(ns / 1000 % 1000000)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void ab_build_limit_begin(const struct ab_options *o, const char *what)
{
    struct sigaction action = {.sa_handler = on_timeout};
    char shown[600], limit[32];
    if (o->timeout_ns == 0)
        return;
    int n = snprintf(message, sizeof message,
                     "%sallocbench: %s: reading it and preparing the run takes longer than "
                     "--timeout %s\n",
                     isatty(STDERR_FILENO) ? "\r\033[K" : "",
                     ab_text_printable(shown, sizeof shown, what),
                     ab_units_time(limit, sizeof limit, (double)o->timeout_ns));
    n_message = n > 0 && (size_t)n < sizeof message ? (size_t)n : 0;
    sigaction(SIGALRM, &action, NULL);
    set_timer(o->timeout_ns);
}

void ab_build_limit_end(void)
{
    set_timer(0);
    signal(SIGALRM, SIG_DFL);
}
