/* SPDX-License-Identifier: MIT
 *
 * The options of all commands, described once: parser, --help and the tests that police the table
 * all come from it. Parsing has no side effects; what it yields is validated and complete.
 */
#ifndef AB_CLI_OPTIONS_H
#define AB_CLI_OPTIONS_H

#include "core/status.h"
#include "tape/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ab_command_id {
    AB_COMMAND_RUN,
    AB_COMMAND_REPLAY,
    AB_COMMAND_REPORT,
    AB_COMMAND_RECORD,
    AB_COMMAND_TRACE,
    AB_COMMAND_CHECK,
    AB_COMMAND_LIST,
    AB_COMMAND_VERIFY,
    AB_COMMAND_COUNT
};

enum { AB_CPUS_MAX = 1024, AB_REPS_MAX = 1000 };
enum ab_color { AB_COLOR_AUTO, AB_COLOR_ALWAYS, AB_COLOR_NEVER };

struct ab_options {
    const char **backends; /* of -b, still unsplit */
    size_t n_backends;
    const char *backend_path; /* NULL = none */
    const char **sets;     /* of --set, ends with NULL */
    size_t n_sets;
    const char **gates;    /* of --gate */
    size_t n_gates;
    const char **args;     /* what is no option; for `record` the command and its arguments */
    size_t n_args;
    bool has_seed;
    uint64_t seed;
    uint32_t rounds;
    const char *resume;              /* a partial result to go on with; NULL = none */
    const char *results;             /* where results are kept; NULL = not said */
    bool is_store_off;               /* --no-store */
    bool has_rounds, has_touch;        /* given, not the default */
    const char *csv_hist, *csv_timeline, *hlog, *hgrm;
    const char *json, *csv, *output; /* NULL = not asked for */
    uint64_t mem_limit_bytes;        /* 0 = default */
    uint64_t timeout_ns;             /* 0 = from the estimate */
    uint64_t drain_ns;
    int cpus[AB_CPUS_MAX];
    size_t n_cpus;
    bool is_strict;                  /* --order strict */
    uint32_t n_lanes;                /* --threads of replay; 0 = as recorded */
    bool has_burst;
    uint32_t burst_events;           /* --burst of replay; 0 = never in bursts */
    uint64_t tape_mem_bytes;         /* --tape-mem of replay; 0 = that share */
    double tape_mem_share;           /* of the memory that is available */
    bool has_events, has_live;       /* trace: the part from first_event to before end_event */
    uint64_t first_event, end_event;
    bool is_dropping_live;           /* trace cut --live drop */
    bool is_partial;                 /* trace, replay */
    bool wants_digest;               /* trace */
    const char *live_csv;            /* trace export; NULL = not asked for */
    bool has_window;
    uint32_t window;                 /* skew window of the lanes, in ops; 0 = none */
    enum ab_touch touch;             /* replay */
    uint32_t touch_bytes;
    bool is_quiet, is_verbose, is_ascii, is_thp_off, wants_help, is_following;
    bool is_unconverted;             /* record --no-convert */
    bool is_waiting;                 /* record --wait */
    uint64_t most_events, duration_ns; /* record; 0 = to the end */
    enum ab_color color;
    const char *only_check;          /* verify: NULL = all */
    bool allows_broken;              /* what fails its checks is measured all the same */
    bool allows_plugins;             /* libraries that the workload names are loaded */
};

#define AB_BURST_LEAST 256u
#define AB_BURST_MAX (1u << 30)
#define AB_TAPE_MEM_LEAST (1u << 16)

struct ab_command {
    const char *name, *synopsis, *summary;
    const char *examples; /* lines, indented; an empty line may lead to more that --help tells */
    enum ab_status (*run)(const struct ab_options *options, int *exit_code, struct ab_err *err);
};
extern const struct ab_command ab_commands[AB_COMMAND_COUNT];

/* Reads argv[1..argc) of the command. Fails with AB_USAGE and the nearest right spelling. */
enum ab_status ab_options_parse(enum ab_command_id command, int argc, char **argv,
                                struct ab_options *out, struct ab_err *err);
void ab_options_fini(struct ab_options *o);

/* Reads what --touch takes. */
enum ab_status ab_options_set_touch(struct ab_options *o, const char *value, struct ab_err *err);

void ab_options_print_help(FILE *to, enum ab_command_id command);
/* The whole tool: commands, examples, exit codes. */
void ab_options_print_overview(FILE *to);

/* Walks the table, for tests and generated documents: NULL past the end. */
struct ab_option_info {
    const char *name, *arg, *help, *group;
    char letter;
    unsigned commands; /* bit 1 << enum ab_command_id */
};
const struct ab_option_info *ab_options_info(size_t i);

#endif
