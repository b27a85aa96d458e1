/* SPDX-License-Identifier: MIT
 *
 * Every process that ends by itself waits for a moment before it does, so that it can be looked at
 * while all that it had mapped is still there. No tracing: a seccomp filter, which its children and
 * whatever they execute inherit, stops exit_group and nothing else, until the listener has said
 * that it may go on. Needs Linux 5.5. What is killed by a signal does not stop.
 */
#ifndef AB_PROGRAM_EXITS_H
#define AB_PROGRAM_EXITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In a child, before its exec, with no_new_privs set: the listener, or −1 with errno where the
 * system has none or a sandbox around us listens already. */
int ab_exits_install(void);

struct ab_exit {
    uint64_t id;
    pid_t thread; /* that ends its process; /proc/THREAD shows it */
};
/* The next process that is about to end; false: there is none. To be called when the listener is
 * readable. */
bool ab_exits_next(int listener, struct ab_exit *out);
void ab_exits_go_on(int listener, const struct ab_exit *ended);

#endif
