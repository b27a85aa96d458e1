/* SPDX-License-Identifier: MIT
 *
 * -v [TOPIC,…]: what of a session is printed beyond the answer. The topic may be left out; the word
 * behind -v is one only if all of it is topics, so that `run -v config.yaml` takes the file.
 */
#ifndef AB_CLI_OPTIONS_OPTION_TOPIC_H
#define AB_CLI_OPTIONS_OPTION_TOPIC_H

#include "app/options.h"

/* All topics; ends with NULL. */
extern const char *const ab_option_topics[];

bool ab_option_is_topic(const char *word);
/* value NULL = the usual topics. AB_USAGE with the list and the nearest. */
enum ab_status ab_option_topic(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err);

#endif
