/* SPDX-License-Identifier: MIT */
#ifndef AB_CLI_CMD_REPLAY_H
#define AB_CLI_CMD_REPLAY_H

/* The worse of two exit codes of `replay`: 4, 3, 2, 1, 5, then 0. */
int ab_replay_worse(int a, int b);

#endif
