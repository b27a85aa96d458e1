/* SPDX-License-Identifier: MIT
 *
 * Fills requests to use cases from the options of a command line. Several commands make these
 * requests.
 */
#ifndef AB_CLI_REQUESTS_H
#define AB_CLI_REQUESTS_H

#include "app/one_file.h"
#include "app/request.h"
#include "cli/options.h"

/* Creates a request from the options. The request borrows everything from the options. */
struct ab_measure_request ab_measure_request_of(const struct ab_options *o);

/* Returns the arguments as the files that the command reads. */
struct ab_inputs ab_inputs_of(const struct ab_options *o);

#endif
