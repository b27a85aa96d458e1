/* SPDX-License-Identifier: MIT
 *
 * The names of marks, in what all recorded processes share. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_MARK_NAMES_H
#define AB_RECORD_PRELOAD_PRELOAD_MARK_NAMES_H

#include "record/preload/preload_files.h"

/* The place of a name in ab_control->mark_names + 1, which it gets if it has none; 0 = there is no
 * place left. Async-signal-safe. */
uint32_t ab_mark_name_number(const char *name) AB_HIDDEN;

#endif
