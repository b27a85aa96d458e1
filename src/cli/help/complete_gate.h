/* SPDX-License-Identifier: MIT
 *
 * Completion of what depends on the workload that the command line names: params and gates.
 */
#ifndef AB_CLI_HELP_COMPLETE_GATE_H
#define AB_CLI_HELP_COMPLETE_GATE_H

#include "cli/commands.h"
#include "cli/help/complete_offer.h"

/* The params of the workload among the words: NAME= */
void ab_complete_set(struct ab_offer *o, int n, char **words);
/* The gates of that workload, and step by step PHASE/, OP/, NUMBER. */
void ab_complete_gate(struct ab_offer *o, enum ab_command_id command, int n, char **words);

#endif
