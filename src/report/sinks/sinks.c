/* SPDX-License-Identifier: MIT
 *
 * The table of output formats, expanded from sinks.def.
 */
#include "report/sinks/sinks.h"

#define OF_SUITE(function) function
#define EACH NULL
const struct ab_sink ab_sinks[AB_SINK_COUNT] = {
#define AB_SINK(id, name, arg, help, function, suite, help_of) \
    {.option = name, .write = function, .write_suite = suite},
#define AB_SINK_OF_HISTOGRAMS(id, name, arg, help, function) \
    {.option = name, .write_histogram = function},
#define AB_SINK_OF_FIGURES(id, name, arg, help, function) \
    {.option = name, .write_figures = function},
#define AB_SINK_OF_LINES(id, name, help, function, suite) \
    {.option = name, .write = function, .write_suite = suite, .is_of_lines = true},
#define AB_SINK_OF_VERDICTS AB_SINK
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_HISTOGRAMS
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_LINES
};
