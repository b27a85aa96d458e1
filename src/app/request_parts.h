/* SPDX-License-Identifier: MIT
 *
 * Parts of the requests to use cases. The options of the command line consist of the same parts, so
 * a request is filled by copying parts. A new option of a part costs one row in the table of
 * options. The default of a member is zero unless its comment says otherwise. Strings are borrowed.
 */
#ifndef AB_APP_REQUEST_PARTS_H
#define AB_APP_REQUEST_PARTS_H

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

/* Name of the setting that holds the tape memory in bytes, for a workload in bursts. No param can
 * have this name. */
#define AB_TAPE_MEM_SETTING "tape-mem="
#define AB_BURST_LEAST 256u
#define AB_BURST_MAX (1u << 30)
#define AB_TAPE_MEM_LEAST (1u << 16)
#define AB_BETWEEN_MOST 10000u

/* Value in `plan` for a pass that was named without a number of rounds. */
#define AB_PASS_AS_NEEDED (AB_EVERY_ROUND - 1)

/* Option that hides the arguments of a command. Results store it in place of the arguments. */
#define AB_NO_COMMAND_LINE "--no-command-line"

/* Signals that may ask a server to end; ends with NULL. */
extern const char *const ab_end_signals[];

struct ab_listener;
struct ab_suite_item;

/* Position of a session within its command, for estimates of the remaining time. After the session,
 * the command takes the time of `again` more of the session's rounds. It also takes `runs` times as
 * long as one back end takes in one of these rounds. */
struct ab_stage {
    const char *name; /* "replay 1 of 4"; NULL = the session is the whole command */
    uint32_t number,
        n; /* stage `number` of `n`, shown with the name; number 0 = not shown; n 0 = unknown */
    uint64_t started_ns; /* start of the command; 0 = start of this session */
    double again, runs;
};

/* The receiver of messages, progress and results (app/say.h), and settings that say how much it
 * gets. */
struct ab_talk {
    const struct ab_listener *listener; /* NULL = none */
    bool is_quiet;
    bool is_repeated; /* True to omit notes, because an earlier session of the command had them */
    uint64_t prepare_ns; /* time limit of reading and preparing; 0 = none */
    struct ab_stage stage;
};

struct ab_command_line {
    const char *text; /* the command line, quoted for a shell */
    const char *kept; /* the command line as results store it */
    bool is_hidden;   /* True to keep arguments out of results, as they may be secret */
};

struct ab_backends_wanted {
    const char **names; /* values of -b, which may be lists separated by commas */
    size_t n;
    const char *path;        /* value of --backend-path; NULL = none */
    const char **aged_lists; /* values of --aged, which may be lists separated by commas */
    size_t n_aged_lists;
    bool allows_plugins; /* True to allow libraries and variables that only a workload names */
    bool allows_broken;  /* True to measure back ends that fail their checks */
    bool are_stored;     /* True if `names` comes from the result of --resume, not from -b */
};

struct ab_maps_wanted {
    const char **rules; /* --map */
    size_t n;
    bool are_stored; /* True if `rules` comes from the result of --resume, not from --map */
};

/* Settings of a workload. */
struct ab_settings_wanted {
    const char **sets; /* --set; ends with NULL */
    size_t n_sets;
    bool has_seed;
    uint64_t seed;
    uint64_t tape_mem_bytes; /* --tape-mem; 0 = use tape_mem_share */
    double tape_mem_share;   /* share of the available memory that a tape may use */
};

/* Rules that end a session. */
struct ab_stop_rules {
    bool has_rounds; /* True if `rounds` was given and is not the default */
    uint32_t rounds;
    uint64_t time_budget_ns; /* 0 = none */
    /* --precision: allowed distance of interval bounds from the ratio of whole-run times, 0.02 = 2
     * %; 0 = none */
    double precision;
    struct ab_run_shard shard; /* --shard; count 0 = not given */
};

struct ab_passes_wanted {
    /* True if --passes was given; then `plan` has the rounds of each pass, 0 = not named */
    bool is_given;
    struct ab_pass_plan plan;
    /* processes of the throughput pass, per round and back end; 0 = chosen by the tape */
    uint32_t processes;
    bool wants_instr;     /* True to count instructions and system calls */
    uint32_t instr_ops;   /* number of ops for which instructions are counted; 0 = default */
    unsigned topics;      /* -v: bits of words (answer/topic_words.h); 0 = only the answer */
    const char **moments; /* --at */
    size_t n_moments;
};

/* Conditions under which the processes of a measurement run. */
struct ab_run_conditions {
    uint64_t mem_limit_bytes; /* 0 = default */
    uint64_t timeout_ns;      /* 0 = from the estimate */
    uint64_t drain_ns;
    /* --pace: speed as a multiple of the speed that the work's times give; 0 = virtual clock */
    uint32_t pace;
    /* --between: number of functions of other code to run between calls, up to AB_BETWEEN_MOST */
    uint32_t between;
    /* True if `between` or `window` was given and is not the default */
    bool has_between, has_window;
    /* number of ops by which a lane may be ahead of the others; 0 = no limit */
    uint32_t window;
    int cpus[AB_CPUS_MAX];
    size_t n_cpus;
    bool is_strict; /* --order strict */
    bool is_thp_off;
};

/* Options that say how a trace becomes a tape. */
struct ab_replay_wanted {
    uint32_t n_lanes; /* --threads; 0 = as recorded */
    bool has_burst, has_touch;
    uint32_t burst_events; /* --burst; 0 = no bursts */
    unsigned touch;        /* enum ab_touch, or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    /* whether large blocks are written as the recorded program wrote them */
    enum ab_touch_recorded recorded;
    bool has_each_scope;     /* --each scope */
    bool is_partial;         /* --partial: True to accept a trace without its end */
    uint64_t each_budget_ns; /* --budget: time limit of one scope, ns; 0 = none */
};

/* Gates, and the comparison with a base or a baseline. */
struct ab_verdicts_wanted {
    const char **gates; /* --gate */
    size_t n_gates;
    const char *baseline;                      /* name or file of a baseline; NULL = none */
    const struct ab_suite_item *baseline_item; /* used instead of `baseline`; NULL = none */
    /* --base: the back end that the others are compared with; NULL = not given */
    const char *base;
    bool has_limit;          /* True if --limit was given */
    double limit;            /* --limit: allowed change of whole-run time, 0.05 = 5 % */
    bool is_strict;          /* --strict */
    bool is_joint;           /* --jointly */
    bool fails_inconclusive; /* --inconclusive=fail */
};

struct ab_outputs_wanted {
    const char *sinks[AB_SINK_COUNT]; /* output files; NULL = none */
    bool wants_lines[AB_SINK_COUNT];  /* True for sinks that print lines instead of a file */
    enum ab_embed embed;              /* parts that an HTML report embeds */
    const char *phase;                /* -v phase=NAME; NULL = all phases */
};

struct ab_store_wanted {
    const char *folder; /* --results; NULL = not given */
    bool is_off;        /* --no-store */
    /* True if the result becomes a part of another result, and is not stored itself */
    bool is_part;
};

struct ab_resume_wanted {
    const char *path;                 /* the partial result to continue; NULL = none */
    const struct ab_suite_item *item; /* used instead of `path`; NULL = none */
};

struct ab_program_wanted {
    const char **programs; /* --program */
    size_t n_programs;
    const char **prepares; /* --prepare */
    size_t n_prepares;
    const char *stdin_path; /* file for standard input of the program; NULL = none */
    bool is_output_free;    /* --no-check-output */
    bool wants_inside;      /* --inside: True to time the calls in the program */
    bool wants_sites;       /* --sites: True to name the callers */
    bool wants_own_malloc;  /* --own-malloc: True to add a row for the program's own malloc */
    const char *trace;      /* --trace: trace of the program to replay; NULL = none */
};

struct ab_server_wanted {
    bool is_server; /* True if the program does not end by itself */
    /* ready: how to see that the server is ready; load: command that uses the server; NULL =
     * none */
    const char *ready, *load;
    const char **metrics; /* --metric */
    size_t n_metrics;
    uint64_t ready_timeout_ns, rest_ns;
    uint32_t end_signal; /* index in ab_end_signals */
};

/* Checks of `verify`. */
struct ab_checks_wanted {
    const char *only; /* name of the only check to run; NULL = all */
    bool is_alone;    /* --no-fork: True to run the check in this process */
};

struct ab_recording_wanted {
    bool is_following;                 /* --follow */
    bool is_waiting;                   /* --wait */
    bool stops_command;                /* --stop */
    bool is_unconverted;               /* --no-convert */
    bool shows_progress;               /* --progress */
    bool has_call_times;               /* --time */
    bool marks_frames;                 /* --marks */
    uint32_t site_depth;               /* --sites: frames per stack; 0 = no call sites */
    uint64_t most_spool_bytes;         /* --max-spool; 0 = not given */
    uint64_t most_events, duration_ns; /* limits of the recording; 0 = to the end of the command */
};

/* Events and blocks of a trace to read. */
struct ab_trace_filter {
    bool has_events; /* True to read only the events [first_event, end_event) */
    uint64_t first_event, end_event;
    /* cut --live drop: True to leave out blocks that are live before the first event */
    bool is_dropping_live;
    bool has_sizes, has_times;     /* filter */
    struct ab_extent sizes, times; /* sizes in bytes, times in ns */
    struct ab_extent threads[AB_TRACE_THREADS_LISTED];
    size_t n_threads;   /* 0 = all */
    const char **sites; /* filter --site: patterns of call sites */
    size_t n_sites;
};

/* Call sites of a trace, and how they are shown. */
struct ab_sites_wanted {
    bool is_wanted; /* info --sites: True to show call sites */
    uint32_t n;     /* number of sites to show */
    bool has_order, has_flame_by;
    enum ab_site_order order;   /* --sort */
    const char *folded, *flame; /* files of flame graphs to write; NULL = none */
    enum ab_flame_by flame_by;
};

#endif
