/* SPDX-License-Identifier: MIT
 *
 * Options of a command line, as use cases and commands read them. cli/option_table.c says which
 * option sets which member. Strings are borrowed from the command line.
 */
#ifndef AB_APP_OPTIONS_H
#define AB_APP_OPTIONS_H

#include "core/status.h"
#include "report/sinks/sinks.h"
#include "result/result.h"
#include "tape/op.h"
#include "trace_tools/rewrite.h"
#include "trace_tools/scopes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_TRACE_THREADS_LISTED = 64 };
enum { AB_CPUS_MAX = 1024, AB_ROUNDS_MAX = 1000, AB_ROUNDS_DEFAULT = 10 };
enum ab_flame_by { AB_FLAME_CALLS, AB_FLAME_BYTES, AB_FLAME_LIVE, AB_FLAME_KEYS };
enum ab_site_order {
    AB_SITES_BY_CALLS,
    AB_SITES_BY_BYTES,
    AB_SITES_BY_PEAK,
    AB_SITES_BY_NEVER_FREED,
    AB_SITES_BY_TEMPORARY
};
enum ab_color { AB_COLOR_AUTO, AB_COLOR_ALWAYS, AB_COLOR_NEVER };

/* Value in `passes` for a pass that was named without a number of rounds. */
#define AB_PASS_AS_NEEDED (AB_EVERY_ROUND - 1)

/* Position of a session within its command, for estimates of the remaining time. After the session,
 * the command still takes as long as `again` of its rounds, and `runs` of one back end in one of
 * its rounds. */
struct ab_stage {
    const char *name; /* "replay 1 of 4"; NULL = the session is the whole command */
    uint32_t number,
        n; /* "number of n", shown with the name; number 0 = not shown; n 0 = unknown */
    uint64_t started_ns; /* start of the command; 0 = start of this session */
    double again, runs;
};

struct ab_listener;
struct ab_suite_item;

/* Name of the option that hides arguments, as results keep it. */
#define AB_NO_COMMAND_LINE "--no-command-line"

struct ab_options {
    const struct ab_listener *listener; /* receives progress and results; NULL = none */
    const char *command_line;           /* quoted for a shell */
    const char *kept_command_line;      /* the form that results store */
    bool hides_command_line;            /* True to keep arguments out of results, as they may be
                                           secret */
    const char **backends;              /* -b, not split yet */
    size_t n_backends;
    const char **moments; /* --at */
    size_t n_moments;
    const char **sweeps; /* --sweep, not split yet */
    size_t n_sweeps;
    const char **litters; /* --litter, not split yet */
    size_t n_litters;
    const char *backend_path; /* NULL = none */
    const char **sets;        /* --set; ends with NULL */
    size_t n_sets;
    const char **gates; /* --gate */
    size_t n_gates;
    const char *baseline;    /* run, replay: a name or a file; NULL = none */
    bool has_limit;          /* --limit was given */
    double limit;            /* --limit on whole-run time, 0.05 = 5 % */
    bool is_strict_compare;  /* --strict */
    bool is_joint;           /* --jointly */
    bool fails_inconclusive; /* --inconclusive=fail */
    const char **args;       /* arguments; for `record` the command and its arguments */
    size_t n_args;
    const char **maps; /* --map, n_maps */
    size_t n_maps;
    bool has_seed;
    uint64_t seed;
    uint32_t rounds;
    bool has_passes; /* --passes was given; `passes` has the rounds of each, 0 = not named */
    struct ab_pass_plan passes;
    uint64_t time_budget_ns; /* 0 = none */
    bool is_group;           /* True if an argument was a group, perhaps of one file */
    bool is_in_suite;        /* True for one item of a suite: only the suite is stored */
    bool is_trial;           /* True to check everything and measure nothing */
    const struct ab_suite_item *resumed_item, *baseline_item; /* used instead of `resume` and
                                                                 `baseline`; NULL = none */
    double precision;          /* --precision, of ratios of whole-run time, 0.02 = 2 %; 0 = none */
    uint32_t processes;        /* of the throughput pass, per round and back end; 0 = chosen by
                                  the tape */
    const char *base;          /* --base, to compare the others with; NULL = not given */
    const char *resume;        /* --resume, the partial result to continue; NULL = none */
    struct ab_run_shard shard; /* --shard; count 0 = not given */
    const char *results;       /* --results, a folder; NULL = not given */
    bool is_store_off;         /* --no-store */
    bool has_rounds, has_touch, has_between; /* True if given, not the default */
    const char *sinks[AB_SINK_COUNT];        /* run, replay, report: output files; NULL = none */
    bool wants_lines[AB_SINK_COUNT];         /* True for sinks that print lines instead of a file */
    const char *json, *csv;                  /* for list, trace and verify; NULL = none */
    const char *output;                      /* -o; NULL = not given */
    uint64_t mem_limit_bytes;                /* 0 = default */
    uint64_t timeout_ns;                     /* 0 = from the estimate */
    uint64_t drain_ns;
    uint32_t pace;    /* --pace: factor to the speed of the work's times; 0 = virtual clock */
    uint32_t between; /* --between: functions of other code, up to AB_BETWEEN_MOST */
    int cpus[AB_CPUS_MAX];
    size_t n_cpus;
    bool is_strict;   /* --order strict */
    uint32_t n_lanes; /* --threads of replay; 0 = as recorded */
    bool has_burst;
    uint32_t burst_events;     /* replay --burst; 0 = no bursts */
    uint64_t tape_mem_bytes;   /* replay --tape-mem; 0 = use tape_mem_share */
    double tape_mem_share;     /* share of the available memory */
    bool has_events, has_live; /* trace: the range [first_event, end_event) */
    uint64_t first_event, end_event;
    bool is_dropping_live;         /* trace cut --live drop */
    bool has_sizes, has_times;     /* trace filter */
    struct ab_extent sizes, times; /* times in ns */
    struct ab_extent trace_threads[AB_TRACE_THREADS_LISTED];
    size_t n_trace_threads; /* 0 = all */
    bool is_serial;         /* trace merge: True to append traces, not to interleave them */
    bool keeps_functions;   /* trace share: True to keep call sites, as function names */
    bool is_partial;        /* trace, replay */
    enum ab_embed embed;    /* of an HTML report */
    bool wants_digest;      /* trace */
    bool has_window;
    uint32_t window; /* skew window of the lanes, in ops; 0 = none */
    unsigned touch;  /* replay: enum ab_touch, or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_touch_recorded recorded; /* whether large blocks are touched as recorded */
    bool has_each_scope;             /* replay --each scope */
    uint64_t each_budget_ns;         /* replay --budget; 0 = none */
    enum ab_scopes_wish scopes_wish; /* --scope */
    bool hides_failures;             /* True for replays within exec, which reports failures
                                        itself */
    bool ignores_gates;    /* True to skip the workload's gates and claims, if they name other
                              rows */
    struct ab_stage stage; /* for the progress of a command with several sessions */
    bool is_quiet, is_verbose, is_ascii, is_thp_off, wants_help, wants_help_all, is_following;
    unsigned topics;                   /* -v: bits of enum ab_topic; 0 = only the answer */
    const char *topic_phase;           /* -v phase=NAME; NULL = all phases */
    bool is_unconverted;               /* record --no-convert */
    bool shows_progress;               /* record --progress */
    uint64_t most_spool_bytes;         /* record --max-spool; 0 = not given */
    bool is_waiting;                   /* record --wait */
    bool stops_command;                /* record --stop */
    uint64_t most_events, duration_ns; /* record: limits; 0 = to the end */
    uint32_t site_depth;               /* record --sites: frames per stack; 0 = no call sites */
    bool has_call_times;               /* record --time */
    bool marks_frames;                 /* record --marks */
    bool wants_sites;                  /* trace info --sites, exec --sites */
    uint32_t n_sites;                  /* number of sites to show */
    const char **site_patterns;        /* trace filter --site */
    size_t n_site_patterns;
    bool wants_scopes;             /* trace info --scopes */
    bool has_site_order;           /* --sort */
    enum ab_site_order site_order; /* order of the sites */
    const char *folded, *flame;    /* trace info: files to write; NULL = none */
    enum ab_flame_by flame_by;
    bool has_flame_by;
    enum ab_color color;
    const char *only_check;   /* verify: NULL = all */
    bool is_alone;            /* verify --no-fork */
    bool allows_broken;       /* True to measure back ends that fail their checks */
    bool is_strict_doctor;    /* doctor: True to exit with 1 on a warning */
    bool allows_plugins;      /* True to allow a workload's own libraries and variables */
    bool has_stored_backends; /* True if `backends` comes from the result of --resume, not from
                                 -b */
    bool has_stored_maps;     /* True if `maps` comes from that result, not from --map */
    const char *prepare, *stdin_path; /* exec; NULL = none */
    bool is_output_free;              /* exec --no-check-output */
    bool wants_inside;                /* exec --inside: True to time the calls in the program */
    bool wants_own_malloc;            /* exec --own-malloc: True to add a row for the program's
                                         own malloc */
    bool is_server;                   /* exec: True if the command does not end by itself */
    const char *ready, *load;         /* exec; NULL = none */
    const char **metrics;             /* exec --metric */
    size_t n_metrics;
    uint64_t ready_timeout_ns, rest_ns; /* exec */
    bool has_ready_timeout, has_rest, has_end_signal;
    uint32_t end_signal; /* exec: index in ab_end_signals */
    const char *trace;   /* exec; NULL = none */
    const char *code;    /* advise; NULL = none */
    uint64_t budget_ns;  /* advise: budget of one scope; 0 = none */
    bool wants_instr;    /* run, replay: True to count instructions and system calls */
    uint32_t instr_ops;  /* number of ops to count them for; 0 = default */
};

/* Signals that may ask a server to end; ends with NULL. */
extern const char *const ab_end_signals[];

/* Name of the setting that holds the tape memory in bytes, for a workload in bursts. No param can
 * have such a name. */
#define AB_TAPE_MEM_SETTING "tape-mem="
#define AB_BURST_LEAST 256u
#define AB_BURST_MAX (1u << 30)
#define AB_TAPE_MEM_LEAST (1u << 16)
#define AB_BETWEEN_MOST 10000u

#endif
