/* SPDX-License-Identifier: MIT
 *
 * What is asked for, as the use cases and the commands see it; cli/option_table.c says which
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

/* In `passes`: the pass was named without a number of rounds. */
#define AB_PASS_AS_NEEDED (AB_EVERY_ROUND - 1)

/* Which part of a command a session is. What comes after it is expected to take as long as `again`
 * of its rounds, and `runs` of one back end in one of its rounds. */
struct ab_stage {
    const char *name; /* "replay 1 of 4"; NULL = all */
    uint32_t number,
        n; /* they are said ahead of the name; number 0 = nothing is; n 0 = not known */
    uint64_t started_ns; /* the command; 0 = with this session */
    double again, runs;
};

struct ab_listener;
struct ab_suite_item;

/* The option that leaves arguments out of results, as results name it. */
#define AB_NO_COMMAND_LINE "--no-command-line"

struct ab_options {
    const struct ab_listener *listener; /* who is told how it goes; NULL = nobody */
    const char *command_line;           /* as a shell takes it */
    const char *kept_command_line;      /* what results keep of it */
    bool hides_command_line;            /* arguments may be secret: results keep none */
    const char **backends;              /* of -b, still unsplit */
    size_t n_backends;
    const char **moments; /* of --at */
    size_t n_moments;
    const char **sweeps; /* of --sweep, still unsplit */
    size_t n_sweeps;
    const char **litters; /* of --litter, still unsplit */
    size_t n_litters;
    const char *backend_path; /* NULL = none */
    const char **sets;        /* of --set, ends with NULL */
    size_t n_sets;
    const char **gates; /* of --gate */
    size_t n_gates;
    const char *baseline;    /* run, replay: a name or a file; NULL = none */
    bool has_limit;          /* --limit was given */
    double limit;            /* of the time of a whole run, 0.05 = 5 % */
    bool is_strict_compare;  /* --strict */
    bool is_joint;           /* --jointly */
    bool fails_inconclusive; /* --inconclusive=fail */
    const char **args;       /* what is no option; for `record` the command and its arguments */
    size_t n_args;
    const char **maps; /* --map, n_maps */
    size_t n_maps;
    bool has_seed;
    uint64_t seed;
    uint32_t rounds;
    bool has_passes; /* --passes; rounds of each, 0 = not named */
    struct ab_pass_plan passes;
    uint64_t time_budget_ns; /* 0 = none */
    bool is_group;           /* an argument was a group of files: there may be but one */
    bool is_in_suite;        /* one of several: what all of them have is kept, not this alone */
    bool is_trial;           /* everything is checked, nothing is measured */
    const struct ab_suite_item *resumed_item, *baseline_item; /* instead of these files */
    double precision;          /* of ratios of whole-run time, 0.02 = 2 %; 0 = none */
    uint32_t processes;        /* of the throughput pass, a round and back end; 0 = by the tape */
    const char *base;          /* the others are compared with it; NULL = not named */
    const char *resume;        /* a partial result to go on with; NULL = none */
    struct ab_run_shard shard; /* --shard; count 0 = not given */
    const char *results;       /* where results are kept; NULL = not said */
    bool is_store_off;         /* --no-store */
    bool has_rounds, has_touch, has_between; /* given, not the default */
    const char
        *sinks[AB_SINK_COUNT];       /* run, replay, report: where to write; NULL = not asked for */
    bool wants_lines[AB_SINK_COUNT]; /* of those that have no file */
    const char *json, *csv;          /* the same for list, trace and verify */
    const char *output;              /* -o; NULL = not given */
    uint64_t mem_limit_bytes;        /* 0 = default */
    uint64_t timeout_ns;             /* 0 = from the estimate */
    uint64_t drain_ns;
    uint32_t pace;    /* --pace: so many times as fast as the work's times; 0 = virtual */
    uint32_t between; /* --between: functions of other code, up to AB_BETWEEN_MOST */
    int cpus[AB_CPUS_MAX];
    size_t n_cpus;
    bool is_strict;   /* --order strict */
    uint32_t n_lanes; /* --threads of replay; 0 = as recorded */
    bool has_burst;
    uint32_t burst_events;     /* --burst of replay; 0 = never in bursts */
    uint64_t tape_mem_bytes;   /* --tape-mem of replay; 0 = that share */
    double tape_mem_share;     /* of the memory that is available */
    bool has_events, has_live; /* trace: the part from first_event to before end_event */
    uint64_t first_event, end_event;
    bool is_dropping_live;         /* trace cut --live drop */
    bool has_sizes, has_times;     /* trace filter */
    struct ab_extent sizes, times; /* times in ns */
    struct ab_extent trace_threads[AB_TRACE_THREADS_LISTED];
    size_t n_trace_threads; /* 0 = all */
    bool is_serial;         /* trace merge: one after the other */
    bool keeps_functions;   /* trace share: call sites stay, as names of functions */
    bool is_partial;        /* trace, replay */
    enum ab_embed embed;    /* of an HTML report */
    bool wants_digest;      /* trace */
    bool has_window;
    uint32_t window; /* skew window of the lanes, in ops; 0 = none */
    unsigned touch;  /* replay: enum ab_touch, or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_touch_recorded recorded; /* large blocks as the trace says */
    bool has_each_scope;             /* replay --each scope */
    uint64_t each_budget_ns;         /* replay --budget; 0 = none */
    enum ab_scopes_wish scopes_wish; /* --scope */
    bool hides_failures;             /* of a replay that exec makes, which tells them itself */
    bool ignores_gates;    /* gates and claims of the workload are not read: they name other rows */
    struct ab_stage stage; /* for the progress of a command that has several */
    bool is_quiet, is_verbose, is_ascii, is_thp_off, wants_help, wants_help_all, is_following;
    unsigned topics;                   /* -v: of enum ab_topic; 0 = the answer alone */
    const char *topic_phase;           /* -v phase=NAME; NULL = all phases */
    bool is_unconverted;               /* record --no-convert */
    bool shows_progress;               /* record --progress */
    uint64_t most_spool_bytes;         /* record --max-spool; 0 = any number */
    bool is_waiting;                   /* record --wait */
    bool stops_command;                /* record --stop */
    uint64_t most_events, duration_ns; /* record; 0 = to the end */
    uint32_t site_depth;               /* record --sites: calls of each stack; 0 = none */
    bool has_call_times;               /* record --time */
    bool marks_frames;                 /* record --marks */
    bool wants_sites;                  /* trace info --sites, exec --sites */
    uint32_t n_sites;                  /* of them that are shown */
    const char **site_patterns;        /* trace filter --site */
    size_t n_site_patterns;
    bool wants_scopes;             /* trace info --scopes */
    bool has_site_order;           /* --sort */
    enum ab_site_order site_order; /* what comes first */
    const char *folded, *flame;    /* trace info: files to write; NULL = none */
    enum ab_flame_by flame_by;
    bool has_flame_by;
    enum ab_color color;
    const char *only_check;   /* verify: NULL = all */
    bool is_alone;            /* verify --no-fork */
    bool allows_broken;       /* what fails its checks is measured all the same */
    bool is_strict_doctor;    /* doctor: a warning is exit 1 */
    bool allows_plugins;      /* libraries, and variables of any name, that the workload names */
    bool has_stored_backends; /* `backends` comes from the result of --resume, not from -b */
    bool has_stored_maps;     /* `maps` does, not from --map */
    const char *prepare, *stdin_path; /* exec; NULL = none */
    bool is_output_free;              /* exec --no-check-output */
    bool wants_inside;                /* exec: time the calls in the program */
    bool wants_own_malloc;            /* exec: a row of the malloc that the program brings along */
    bool is_server;                   /* exec: the command does not end by itself */
    const char *ready, *load;         /* exec; NULL = none */
    const char **metrics;             /* exec --metric */
    size_t n_metrics;
    uint64_t ready_timeout_ns, rest_ns; /* exec */
    bool has_ready_timeout, has_rest, has_end_signal;
    uint32_t end_signal; /* exec: an index of ab_end_signals */
    const char *trace;   /* exec; NULL = none */
    const char *code;    /* advise; NULL = none */
    uint64_t budget_ns;  /* advise: of a scope; 0 = none */
    bool wants_instr;    /* run, replay: count instructions and system calls */
    uint32_t instr_ops;  /* of how many ops; 0 = default */
};

/* By which a server may be asked to end; ends with NULL. */
extern const char *const ab_end_signals[];

/* A setting of a workload in bursts, in bytes; no param has such a name. */
#define AB_TAPE_MEM_SETTING "tape-mem="
#define AB_BURST_LEAST 256u
#define AB_BURST_MAX (1u << 30)
#define AB_TAPE_MEM_LEAST (1u << 16)
#define AB_BETWEEN_MOST 10000u

#endif
