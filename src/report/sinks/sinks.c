/* SPDX-License-Identifier: MIT
 *
 * The table of output formats, expanded from sinks.def.
 */
#include "report/sinks/sinks.h"

const struct ab_sink ab_sinks[AB_SINK_COUNT] = {
#define AB_SINK(id, option, arg, help, function) {option, function, NULL, NULL, false},
#define AB_SINK_OF_HISTOGRAMS(id, option, arg, help, function) \
    {option, NULL, function, NULL, false},
#define AB_SINK_OF_FIGURES(id, option, arg, help, function) {option, NULL, NULL, function, false},
#define AB_SINK_OF_LINES(id, option, help, function) {option, function, NULL, NULL, true},
#define AB_SINK_OF_VERDICTS AB_SINK
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_HISTOGRAMS
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_LINES
};
