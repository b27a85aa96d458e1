/* SPDX-License-Identifier: MIT
 *
 * The results of a measurement as plain records, the only input of reports and statistics. The
 * command that runs owns the records. Strings are borrowed from the command and live as long as the
 * session. Times are in nanoseconds, sizes in bytes. NaN means "not available": null in JSON, empty
 * in CSV, "-" on the terminal. It is never written as 0.
 */
#ifndef AB_RESULT_RESULT_H
#define AB_RESULT_RESULT_H

#include "allocators/ab_backend.h"
#include "base/aging.h"
#include "base/limits.h"
#include "core/status.h"
#include "result/hdr.h"
#include "result/heap_part.h"
#include "tape/overview.h"
#include "wire/kinds.h"
#include "wire/placement_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum ab_backend_status { /* names are frozen: results/keys.csv */
                         AB_BACKEND_OK,
                         /* some ops had no hook, so its work differs from that of the others;
                          * excluded from comparisons */
                         AB_BACKEND_PARTIAL,
                         AB_BACKEND_CRASHED,
                         AB_BACKEND_TIMEOUT,
                         AB_BACKEND_OOM,
                         AB_BACKEND_WRONG_LIBRARY,
                         AB_BACKEND_FAILED_CHECK,
                         AB_BACKEND_ABSENT,
                         /* failed its checks, but was measured because of --allow-broken */
                         AB_BACKEND_NONCONFORMING,
                         /* checked+NAME or fault+NAME; its time is not a measurement */
                         AB_BACKEND_DECORATED,
                         AB_BACKEND_STATUS_COUNT
};
extern const char *const ab_backend_status_names[AB_BACKEND_STATUS_COUNT];
const char *ab_backend_status_name(enum ab_backend_status status);
/* True if results have entries for back ends with this status: it is ok, or one of those whose
 * numbers are shown apart. */
bool ab_backend_status_has_numbers(enum ab_backend_status status);
/* True if a back end with this status has numbers but is excluded from every comparison. */
bool ab_backend_status_is_aside(enum ab_backend_status status);

enum { AB_BACKEND_NAME_BYTES = 128, AB_BACKEND_FULL_BYTES = 512 };

/* State of a setting in the environment of a library: whether the library uses it. */
enum ab_setting_state {
    /* the library does not report the setting, or its manual does not say that it has an effect */
    AB_SETTING_UNPROVEN,
    AB_SETTING_PROVEN, /* the setting is in force, as the library itself reports */
    AB_SETTING_IGNORED,
    AB_SETTING_STATE_COUNT
};
extern const char *const ab_setting_state_names[AB_SETTING_STATE_COUNT];

struct ab_setting {
    /* "MALLOC_CONF=narenas:1"; each setting in a variable has an entry of its own */
    char text[256];
    enum ab_setting_state state;
    char why[200]; /* reason for the state; "" if proven */
};
enum { AB_SETTINGS_MAX = 16, AB_VERIFY_FAILED_MAX = 32, AB_VERIFY_NAME_BYTES = 40 };

/* A row of the tables is a back end. If parameters of the workload have lists of values, it is a
 * back end in one combination of these values. Only rows of the same combination are compared. */
enum { AB_PROGRAMS_MAX = 16, AB_PROGRAM_NAME_BYTES = 32 };

struct ab_program_build { /* a program of --program; strings are borrowed */
    const char *name;     /* NAME, the first part of the names of its rows */
    const char *command;  /* the command as given */
    char sha256[65];      /* digest of the program's file; "" = unknown */
};

struct ab_backend_info {
    /* name as requested: "glibc", "slab:threads=sharded", a file's stem; if there are combinations,
     * a blank and the values follow */
    char name[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES];
    /* name with settings, "jemalloc{A=b}", if the user gave the row another name; "" = same as
     * name */
    char full_name[AB_BACKEND_FULL_BYTES];
    /* short name, see ab_backend_label(); "" = same as name */
    char label[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES];
    /* values of the combination: "n=1000 m=4"; "" = no parameter has a list */
    char values[AB_VALUES_BYTES];
    uint32_t combination; /* index in ab_session.combinations; 0 if there are none */
    const char *boundary; /* one of ab_boundary_names; NULL = unknown */
    char version[64];     /* "" = unknown */
    char path[4096];      /* "" for built-ins */
    char build_id[41];
    /* library_bytes: resident bytes that preloading the library adds to a process before its first
     * block; library_private_bytes: the private part of these. 0 = no library is preloaded, or it
     * was not measured */
    double library_bytes, library_private_bytes;
    /* package to install if the back end is absent; "" = unknown */
    char package[64];
    char settings[AB_BACKEND_FULL_BYTES]; /* "keep=8:spare=0{A=b;C=d}"; "" = none */
    /* settings in environment variables, and whether they are in force */
    struct ab_setting proofs[AB_SETTINGS_MAX];
    uint32_t n_proofs;
    enum ab_backend_status status;
    char reason[1024]; /* "" when ok */
    char caveat[160];  /* known fault of the back end that does not occur in this work; "" = none */
    /* function that serves frees with a size: "free" if a malloc library has no function for these.
     * "" = the work has no such frees, or the back end always takes the size */
    char sized_free[48];
    /* clock: the clock that the back end reads (virtual, none, real); clock_reason: why; "" = not
     * known */
    char clock[8], clock_reason[96];
    /* why --instr has no numbers, or not all; "" = all numbers are known */
    char uncounted[240];
    /* the user named the back end, so a failure ends with exit code 4; otherwise it is only a
     * warning */
    bool was_named;
    /* the row was added to show the behaviour of the machine; not stored in files */
    bool is_control;
    bool is_verified; /* this build passed `verify` before it was measured */
    /* checks that this build failed in the last `verify`; n_verify_failed 0 = none, or `verify`
     * never ran */
    char verify_failed[AB_VERIFY_FAILED_MAX][AB_VERIFY_NAME_BYTES];
    uint32_t n_verify_failed;
    bool never_frees; /* AB_TRAIT_NO_FREE */
    /* the back end has a bulk reset; otherwise a reset frees the blocks one by one */
    bool has_reset;
    /* why --inside failed in some or all rounds; "" = it did not fail, or was not requested */
    char not_inside[1024];
    /* libraries of the program whose calls bypass the preloaded library and go to the C library's
     * malloc; "" = none were seen */
    char deepbound[240];
    /* name of the program in --program; "" = all rows run one program */
    char program[AB_PROGRAM_NAME_BYTES];
    char program_sha256[65]; /* digest of the program's file in exec; "" = unknown, or no program */
    struct ab_aging_request aging; /* occupancy 0 = a fresh heap */
    /* what the aged heap really had; zeroes if no run got as far as making it */
    struct ab_aging_count aged;
    /* rules that divide requests among several heaps: "frame=arena,*=glibc"; "" = one heap */
    char map[2048];
    struct ab_mapped_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* 0 = one heap */
    struct ab_mapped_rules rules;
};

extern const char *const ab_boundary_names[AB_BOUNDARY_COUNT];
/* Names of the orders of lanes, indexed by is_strict; ends with NULL. */
extern const char *const ab_order_names[];

/* Copies the name without the values to buf, which it returns. */
const char *ab_backend_own_name(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_NAME(b) ab_backend_own_name(b, (char[AB_BACKEND_NAME_BYTES]){0})
bool ab_backend_is_named(const struct ab_backend_info *b, const char *own_name);
/* Returns the name with settings, in the syntax of -b: "jemalloc{A=b}". Returns the user's own name
 * for a library file that was named and has no settings. */
const char *ab_backend_spelling(const struct ab_backend_info *b, char buf[AB_BACKEND_FULL_BYTES]);
/* Returns the name for tables and sentences, which is short even if settings are long. */
const char *ab_backend_label(const struct ab_backend_info *b);
const char *ab_backend_own_label(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_LABEL(b) ab_backend_own_label(b, (char[AB_BACKEND_NAME_BYTES]){0})
/* Sets the labels of all rows. A name of more than 24 bytes becomes "jemalloc{narenas:1}", without
 * the settings that all rows of this allocator share. If that is still too long, it becomes
 * "jemalloc{2}". */
void ab_backends_set_labels(struct ab_backend_info *list, uint32_t n);
/* Makes the row one of a combination, by appending the values to its name. */
void ab_backend_set_values(struct ab_backend_info *b, const char *values);

/* Returns the settings in a name, which follow the back end's own name in the syntax of -b; "" =
 * none. */
const char *ab_backend_settings(const char *name);

/* Percentiles that are reported; NaN if n·(1−q) < 10. X(json key, q) */
#define AB_QUANTILES(X) \
    X("p50", 0.50) \
    X("p90", 0.90) X("p99", 0.99) X("p99.5", 0.995) X("p99.9", 0.999) X("p99.99", 0.9999)
enum { AB_QUANTILE_COUNT = 6 };
extern const char *const ab_quantile_names[AB_QUANTILE_COUNT];
extern const double ab_quantile_values[AB_QUANTILE_COUNT];
#define AB_QUANTILE_MIN_SAMPLES_BEHIND 10

/* Additional kind of a result, which covers all ops of a phase. */
#define AB_OP_ALL AB_OP_KIND_COUNT
const char *ab_result_op_name(unsigned op); /* "alloc" … "reset", "all" */

/* Limits on the metrics that the user defines, for example for the load of a server. */
enum { AB_NAMED_MAX = 16, AB_NAMED_BYTES = 64 };
struct ab_field;
struct ab_memory; /* result/numbers.h */
struct ab_result;

/* Latencies of one kind of op and one class of requested sizes, (2^(log2 − 1), 2^log2] bytes, from
 * the latency pass. */
struct ab_size_class {
    uint32_t backend;
    const char *phase;
    unsigned op;
    uint32_t round;
    unsigned log2;      /* logarithm of the largest size of the class; 0 = sizes 0 and 1 */
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
};
#define AB_SIZE_CLASS_COUNT 65

/* Number of bins in a window's histogram. There are two bins per octave, up to 60 s: 0, 1, 2, 3,
 * 4-5, 6-7, 8-11, 12-15, 16-23 … */
enum { AB_WINDOW_BINS = 72 };
unsigned ab_window_bin(uint64_t ns); /* values above 60 s belong to the last bin */
/* lowest value of the bin; defined for AB_WINDOW_BINS too */
uint64_t ab_window_bin_low(unsigned bin);

/* Latencies in one window of time: those of all kinds of ops in a stretch of the tape, in which
 * every op was timed with the same probability. */
struct ab_window {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    uint32_t begin, end;  /* numbers of ops that were done when the window begins and ends */
    uint64_t n;           /* number of ops that were timed in the latency pass */
    double p50, p99, max; /* ns; NaN if too few ops were timed */
    /* number of timed ops in each bin (ab_window_bin()). All 0 = not known */
    uint32_t counts[AB_WINDOW_BINS];
};

/* Time of one iteration. Iterations of a lane are numbered from 1, over all repetitions of their
 * phase. */
struct ab_iteration_time {
    uint64_t ns;
    uint32_t iteration, lane;
};
enum { AB_ITERATIONS_WORST_MAX = 64, AB_STRETCHES_MAX = 100 };

/* Time in the allocator per iteration, for one back end, phase and round, from the tail pass. The
 * time of the same calls in the null back end is subtracted. NaN = not known; `reason` says why. */
struct ab_iterations {
    uint32_t backend, round;
    const char *phase;
    char name[AB_PHASE_NAME_MAX + 1]; /* name of one iteration: "frame" */
    /* budget_ns: NaN = no budget; call_ns: time that was subtracted for each call */
    double budget_ns, call_ns;
    uint64_t n, n_scheduler,
        n_over_budget; /* timed iterations; those left out of all numbers because the
                                       scheduler interrupted them; those over budget */
    /* n_calls: calls in the n iterations; n_calls_most: calls in the iteration that has the most.
     * Accesses and frees that were saved do not count */
    uint64_t n_calls, n_calls_most;
    double p50, p99, max;
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
    /* `worst`: the n_worst slowest iterations of one round, slowest first. Iterations that take no
     * longer than in the null back end are not listed.
     *
     * `stretches`: the longest time of an iteration in each stretch, in ns; AB_NO_TIME = no
     * iteration of the stretch was timed. Stretch i covers `stretch` iterations of every lane, from
     * number i · stretch + 1 on. */
    uint32_t n_worst, stretch, n_stretches; /* 0 = not known */
    struct ab_iteration_time worst[AB_ITERATIONS_WORST_MAX];
    uint64_t stretches[AB_STRETCHES_MAX];
    char reason[160];
};
#define AB_NO_TIME UINT64_MAX

/* Names of the moments in a phase at which a memory record is taken. */
extern const char *const ab_memory_at_names[AB_AT_COUNT];

enum { AB_MEMORY_REASON_BYTES = 320 };

/* Names of the delays after which the footprint is read again, counted from the end of the work,
 * when all blocks are freed. */
extern const char *const ab_drain_names[AB_DRAIN_COUNT]; /* "0s" "0.1s" "1s" "10s" "purge" */

/* Subjects of the reasons in a memory record. A reason is "SUBJECT: why; SUBJECT: why …". If the
 * footprint is not known, the sums that depend on it are not known either. */
#define AB_WHY_FOOTPRINT "footprint"
#define AB_WHY_PAGES "pages" /* live, internal, external, retained, and numbers derived from them */
#define AB_WHY_INTERNAL "internal"
#define AB_WHY_RETAINED "retained"
#define AB_WHY_RATIOS "ratios"
#define AB_WHY_DRAINED "drained"
#define AB_WHY_PURGED "purged"
#define AB_WHY_OWN "allocated" /* numbers that the allocator reports */
/* memory resident only during calls, and the peak that includes it */
#define AB_WHY_DURING "during calls"

/* Kinds of numbers that are kept as a distribution over the ops of a phase: memory_dists.def. */
enum ab_memory_dist_kind {
#define AB_MEMORY_DIST(id, name, unit, step, doc) AB_DIST_##id,
#include "build/fields/memory_dists.inc"
#undef AB_MEMORY_DIST
    AB_DIST_COUNT
};

/* A distribution of one kind, for one back end, phase and round. The pages are classified at
 * samples: at least 1,000 in a phase that has that many ops. Each sample stands for the ops since
 * the previous one. */
struct ab_memory_dist {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    enum ab_memory_dist_kind kind;
    /* n_ops: ops of the phase; n_samples: samples for which the number is known */
    uint64_t n_ops, n_samples;
    /* counts are ops, values are in steps (memory_dist.h); owned by the session; NULL = nothing is
     * known */
    struct ab_hdr *hdr;
    /* why the number is not known, or only for some ops; "" = it is known */
    char reason[160];
};

struct ab_timeline_point {
    uint32_t position; /* ops done */
    double requested_bytes, usable_bytes, footprint_bytes;
    double external_bytes; /* on pages with live blocks, as in memory records */
};

/* Requested, usable and footprint bytes as the ops are done: one timeline for a back end and round,
 * over all phases. */
struct ab_timeline {
    uint32_t backend;
    uint32_t round;
    uint32_t n;
    struct ab_timeline_point *points; /* owned by the session; ascending positions */
};

/* position within an idle stretch of the work, in which the allocator is not called */
enum ab_idle_at { AB_IDLE_NOT, AB_IDLE_BEGIN, AB_IDLE_DURING, AB_IDLE_END, AB_IDLE_COUNT };
extern const char *const ab_idle_at_names[AB_IDLE_COUNT]; /* NULL, "begin", "during", "end" */

/* Memory at a moment in the time of the work. The rows of a back end and round are next to each
 * other, sorted by time. They come from the memory pass of work that has times. They also come from
 * real programs, for which only the resident bytes are known. NaN = not known. */
struct ab_over_time {
    uint32_t backend, round;
    const char *phase;
    uint64_t time_ns;  /* ns since the beginning of the work */
    uint32_t position; /* number of ops done; AB_NO_POSITION for a real program */
    enum ab_idle_at idle;
    double live_bytes;                                     /* requested bytes of live blocks */
    double resident_bytes, external_bytes, retained_bytes; /* as in a memory record */
    double lazyfree_bytes; /* part of the resident bytes that the kernel may reclaim at any time
                              (MADV_FREE) */
};
#define AB_NO_POSITION UINT32_MAX

/* Moments of the work at which pages are attributed to owners (docs/measuring.md). An owner is a
 * call site of a trace, a set of a workload, or a size class. At each moment the groups add up to
 * all bytes on the pages. */
enum ab_pin_moment {
    AB_PIN_RESIDENT_PEAK,
    AB_PIN_LIVE_PEAK,
    AB_PIN_WORST,     /* the moment with the most external bytes */
    AB_PIN_END,       /* the end of a phase */
    AB_PIN_HALF_TIME, /* half of the work's time, if the work has times */
    AB_PIN_MOMENT_COUNT
};
extern const char *const ab_pin_moment_names[AB_PIN_MOMENT_COUNT]; /* "resident_peak" … */

enum ab_pin_group { AB_PIN_SITE, AB_PIN_SIZE, AB_PIN_SET, AB_PIN_GROUP_COUNT };
extern const char *const ab_pin_group_names[AB_PIN_GROUP_COUNT]; /* "site" "size" "set" */

/* Names that stand in place of a function. AB_PIN_UNKNOWN: blocks whose call site is not known.
 * AB_PIN_ALLOCATOR: pages that never had a block, and memory that the allocator keeps.
 * AB_PIN_OTHERS: all groups that are not listed. */
#define AB_PIN_UNKNOWN "(unknown)"
#define AB_PIN_ALLOCATOR "(allocator)"
#define AB_PIN_OTHERS "(others)"

struct ab_pin {
    uint32_t backend, round;
    const char *phase;
    /* name of the moment: one of ab_pin_moment_names, a mark of the trace, or a value of --at */
    char at[64];
    uint32_t position; /* ops done */
    enum ab_pin_group group;
    /* function: function, set, or size class "33-64 B"; file: "" = not known */
    char function[128], file[128];
    uint32_t line; /* 0 = not known */
    /* bytes on resident pages. pinned_bytes: external bytes. internal_bytes, retained_bytes: NaN =
     * not known */
    double pinned_bytes, internal_bytes, retained_bytes, live_bytes;
    double pinned_2m_bytes; /* external bytes if pages were 2 MiB */
    /* blocks: number of live blocks; pages: number of pages with live blocks of the group */
    double blocks, pages;
    double median_bytes; /* median size of the live blocks; NaN = the group has none */
    /* median age of the live blocks, in seconds if is_age_in_seconds, otherwise in ops; NaN = the
     * group has none */
    double median_age;
    bool is_age_in_seconds;
    /* lane that allocated all live blocks of the group; AB_PIN_SEVERAL = more than one */
    uint32_t lane;
};
#define AB_PIN_SEVERAL UINT32_MAX

/* Calls from one place in a real program (exec --inside --sites), estimated from those that were
 * timed. The records are sorted by time, longest first. AB_PIN_OTHERS in place of the function: all
 * places that are not listed; AB_PIN_UNKNOWN: calls whose place is not known. */
struct ab_call_site {
    uint32_t backend, round;
    char object[256];              /* path of the program or library; "" = not known */
    uint64_t offset;               /* address within `object` */
    char function[128], file[128]; /* "" = not known */
    uint32_t line;                 /* 0 = not known */
    uint64_t n;                    /* number of timed calls */
    double all_calls, inside_ns;
};
enum { AB_CALL_SITES_MAX = 200 }; /* limit on the records of one back end and round */

/* Cost of the harness on this tape, measured with the null back end. There is a record for each
 * phase, round, boundary, combination and placement. */
struct ab_null_cost {
    const char *phase, *boundary;
    char placement[65]; /* as in struct ab_mapped_rules */
    uint32_t round, combination;
    uint64_t n_ops;
    double ns_per_op, wall_ns_per_op, latency_pass_ns_per_op;
    /* median and trimmed mean of the times that are read for an empty op; NaN = not known */
    double floor_ns, floor_mean_ns;
    double instr_per_op; /* counted in the first round, with --instr */
    /* ns of one call with its timing, as the median over the iterations of the tail pass; NaN = not
     * known. Not stored in files */
    double iteration_call_ns;
};

/* facts about a machine that decide whether numbers are comparable; "" = unknown */
struct ab_host {
    char cpu[128], kernel[128], libc[64], governor[32], virt[32], thp[32], aslr[16], os[64];
    uint32_t cpus_online, cpus_allowed;
    uint64_t memory_bytes, page_bytes;
    double load_1min;
    /* SHA-256 of cpu, cpus, kernel, libc. Machines with the same value are comparable */
    char fingerprint[65];
    /* host name, which tells apart two machines of the same kind; recorded with --shard only */
    char name[65];
};

struct ab_counting { /* --instr */
    bool is_asked;
    /* "callgrind", "cpu counter"; "" = instructions were not counted, and `reason` says why */
    char method[32];
    uint64_t n_ops; /* number of ops of the tape that were run for counting */
    char reason[240];
};

/* Disturbances of the throughput runs of a session. Each number is a sum over all runs, with those
 * of the null back end, except canary_quiet_ns. X(member: JSON key) */
#define AB_NOISE_FIELDS(X) \
    X(runs)          /* number of throughput runs; 0 = nothing is known */ \
    X(wall_s)        /* time of the measured phases */ \
    X(cpu_s)         /* CPU time, in that time, of the threads that ran the ops */ \
    X(slices_s)      /* time of the slices, between readings of the canary; single thread only */ \
    X(quiet_s)       /* part of slices_s in which nothing else used the core */ \
    X(waited_s)      /* time that runs waited between slices for a quiet core */ \
    X(interruptions) /* how often something else ran on the CPU between slices */ \
    X(switches_involuntary) /* context switches in the measured phases */ \
    X(canary_quiet_ns)      /* time of an undisturbed reading of the canary; not a sum */
struct ab_noise {
#define AB_NOISE_MEMBER(name) double name;
    AB_NOISE_FIELDS(AB_NOISE_MEMBER)
#undef AB_NOISE_MEMBER
};

struct ab_round {
    uint32_t index;
    const uint32_t *order; /* n_order back ends, in the order in which they ran */
    uint32_t n_order;
    /* index in ab_session.hosts of the machine that ran the round; 0 if there is one machine */
    uint32_t host;
};

/* The part of the rounds that a session has, if they are divided among shards
 * (result/merge/shard_part.h). */
struct ab_run_shard {
    uint32_t index, count; /* index: 1 to count; count 0 = the session has all rounds */
};

/* A result that was merged into another one. */
struct ab_part {
    const char *file;          /* name of its file, as given */
    char sha256[65];           /* SHA-256 of the file; "" = unknown */
    struct ab_run_shard shard; /* count 0 = the part is not a shard */
    uint32_t host;             /* index in ab_session.hosts of the machine that measured it */
    uint32_t n_rounds;
};

/* Plan of the passes. A pass runs in the rounds whose index is less than its number in `rounds`
 * (result/passes.h). */
#define AB_EVERY_ROUND UINT32_MAX
#define AB_EVERY_COMBINATION UINT32_MAX
struct ab_pass_plan {
    bool is_known; /* false in older results, in which every pass runs in every round */
    uint32_t rounds[AB_PASS_COUNT];
};

/* The work for one combination of parameter values. Exists if parameters have lists of values. */
struct ab_combination {
    char values[AB_VALUES_BYTES]; /* "n=1000 m=4" */
    char tape_sha256[65];
    uint64_t n_ops, live_peak_blocks, live_peak_bytes;
    uint32_t lanes;
};

enum ab_ended { /* reason why a session ended with the rounds that it has */
                AB_ENDED_NOT,
                AB_ENDED_ROUNDS,    /* all requested rounds ran */
                AB_ENDED_PRECISION, /* every interval is as narrow as --precision requests */
                AB_ENDED_TIME,      /* another round would not have fitted into --time-budget */
                AB_ENDED_COUNT
};
extern const char
    *const ab_ended_names[AB_ENDED_COUNT]; /* "", "rounds", "precision", "time_budget" */

/* State of --time-budget and --precision. While the session runs, its n_rounds_planned is the upper
 * limit; afterwards it is the number of rounds that ran. */
struct ab_stopping {
    double time_budget_s; /* 0 = none */
    /* requested half-width of the intervals of run-time ratios, 0.02 = ±2 %; 0 = none */
    double precision;
    /* seconds spent on pre-flights and rounds, including those of a resumed result */
    double spent_s;
    uint32_t n_rounds_most;
    enum ab_ended ended;
};

/* Kinds of sessions. X(id, name in results, command that can resume such a session; NULL = none) */
#define AB_SESSION_KINDS(X) \
    X(WORKLOAD, "workload", "run") X(TRACE, "trace", "replay") X(EXEC, "exec", NULL)
enum ab_session_kind {
    AB_SESSION_NO_KIND, /* the kind is not known: null in JSON */
#define X(id, name, command) AB_SESSION_##id,
    AB_SESSION_KINDS(X)
#undef X
        AB_SESSION_KIND_COUNT
};
extern const char *const ab_session_kind_names[AB_SESSION_KIND_COUNT];
extern const char *const ab_session_resume_commands[AB_SESSION_KIND_COUNT];

/* Name of the only phase of a session that ran a real program. Its one op, `all`, is the whole
 * program, so n_ops is 1. */
#define AB_PROGRAM_PHASE "program"
/* Parts of a result that an HTML report embeds, so that the result can be read again. */
enum ab_embed {
    /* the result with the histograms of all rounds merged (result/merge/merge_rounds.h) */
    AB_EMBED_MERGED,
    AB_EMBED_FULL, /* everything that --json writes */
    AB_EMBED_NONE,
};

/* Key and value that a JSON document has if is_histogram_merged. */
#define AB_HISTOGRAMS_KEY "histograms"
#define AB_HISTOGRAMS_MERGED "merged"
struct ab_session { /* all measurements of one command */
    enum ab_session_kind kind;
    const char *name;  /* name of the workload, of the trace file, or of the program */
    const char *about; /* "" = none */
    const char *config_path, *config_sha256, *config_text; /* config_text: "" for traces */
    const char *tape_sha256;
    const char *const *settings; /* "rounds=5", "set n=100", …; ends with NULL */
    uint64_t seed;
    time_t start; /* when measuring began; 0 = not known */
    uint32_t n_rounds_planned;
    struct ab_pass_plan passes;
    struct ab_stopping stopping;
    bool is_complete;
    /* n_combinations, two or more, if parameters have lists of values; NULL = no parameter has a
     * list. tape_sha256 is then a digest of the combinations' digests; facts and numbers of the
     * tape are the maximum over all combinations. Owned */
    struct ab_combination *combinations;
    uint32_t n_combinations;
    /* n_programs, two or more, if several builds of a program are compared; config_path and
     * config_sha256 are then those of the first. NULL = one program or none. Owned */
    struct ab_program_build *programs;
    uint32_t n_programs;
    struct ab_facts facts;
    uint32_t n_slots;
    uint64_t n_tape_ops;
    /* True if n_tape_ops and positions count operations only. In older results they also count
     * writes to blocks, and steps that keep threads in order. */
    bool counts_ops;
    struct ab_host host;
    /* n_hosts machines, two or more, that measured a merged result; `host` is then the first of
     * them. NULL = one machine. Owned */
    struct ab_host *hosts;
    uint32_t n_hosts;
    struct ab_run_shard shard;
    struct ab_part *parts; /* n_parts results that were merged into this one; NULL = none. Owned */
    uint32_t n_parts;
    const char *command_line;
    bool is_unsealed; /* the numbers come from a stored result that has no checksum */
    struct {          /* build of allocbench that measured; NULL = this build */
        const char *version, *compiler, *flags;
    } tool;
    /* path of the result that the first rounds were taken from; NULL = none */
    const char *resumed_from;
    uint32_t n_rounds_resumed;
    struct {
        const char *source; /* "rdtsc/rdtscp" */
        double ns_per_tick, quantum_ns;
        double floor_ns; /* median time that is read for an empty op; NaN = not measured */
    } timer;
    struct ab_counting counting;
    struct ab_noise noise;
    struct ab_backend_info *backends;
    uint32_t n_backends;
    /* name of the back end that the others are compared with; NULL = the user named none */
    const char *base;
    struct ab_round *rounds;
    uint32_t n_rounds;
    struct ab_result *results;
    uint32_t n_results;
    struct ab_null_cost *nulls;
    uint32_t n_nulls;
    size_t cap_results, cap_nulls, cap_rounds, cap_size_classes, cap_windows, cap_memory,
        cap_timelines, cap_dists, cap_heap_parts, cap_iterations, cap_over_time, cap_pins,
        cap_call_sites;
    struct ab_size_class *size_classes;
    uint32_t n_size_classes;
    struct ab_heap_part *heap_parts;
    uint32_t n_heap_parts;
    /* n_named metrics that the user defined, in that order */
    const struct ab_field *named[AB_NAMED_MAX];
    uint32_t n_named;
    struct ab_window *windows;
    uint32_t n_windows;
    struct ab_iterations *iterations;
    uint32_t n_iterations;
    struct ab_memory *memory;
    uint32_t n_memory;
    struct ab_memory_dist *dists;
    uint32_t n_dists;
    struct ab_timeline *timelines;
    uint32_t n_timelines;
    struct ab_over_time *over_time;
    uint32_t n_over_time;
    /* sorted by back end, round and position; at one moment, the groups that pin the most come
     * first */
    struct ab_pin *pins;
    uint32_t n_pins;
    struct ab_call_site *call_sites;
    uint32_t n_call_sites;
    struct ab_checked *gates,
        *claims; /* stats/check.h: a gate has one entry for each back end that it bounds */
    uint32_t n_gates, n_claims;
    /* overview of the trace; owned by the command; NULL = not known */
    const struct ab_overview *overview;
    /* stacks of the call sites (report/flame.h); NULL = not known */
    const struct ab_stacks *stacks;
    /* comparison with a baseline (stats/compare.h); NULL = none */
    const struct ab_comparison *comparison;
    /* n_phases names of the measured phases, in their order */
    const char *const *phases;
    uint32_t n_phases;
    int32_t cpu;     /* CPU of lane 0; -1 = not pinned */
    const int *cpus; /* n_cpus CPUs, assigned to the lanes in turn; owned by the command */
    uint32_t n_cpus;
    /* how far lanes may run ahead of the global order, in ops; 0 = no limit */
    uint32_t window;
    /* `window` comes from --window; otherwise it is derived from the tape */
    bool is_window_given;
    /* n_edges: edges of the tape, at which a lane waits for another; n_remote: ops on another
     * lane's block */
    uint64_t n_edges, n_remote;
    /* recorded ends of threads that the replay left out, because their lanes also replay other
     * threads; UINT64_MAX = not known */
    uint64_t thread_ends_left_out;
    /* for a replay: CPU time of the recorded program; 0 = the trace does not record it */
    uint64_t program_cpu_ns;
    /* for a replay: number of calls of the recorded program; 0 = the trace does not record it */
    uint64_t program_calls;
    uint64_t anonymous_bytes; /* for a program: anonymous memory at its peak; 0 = not known */
    /* the part of anonymous_bytes that was not requested from malloc; not known if anonymous_bytes
     * is 0 */
    uint64_t unasked_bytes;
    bool is_strict; /* lanes took turns in the exact order of the tape */
    /* True if histograms and counts are merged over the rounds. The first record of each back end,
     * phase, op … then has those of all rounds, and the other records have empty ones. All other
     * numbers belong to one round. */
    bool is_histogram_merged;
    /* parts of the result that the user wants in the report; not part of the result itself */
    enum ab_embed embed;
};

/* Lists of records that belong to rounds, for code that adopts or joins records. Each macro expands
 * LIST(member) for each list. Records in the lists of the first macro also have a phase. */
#define AB_SESSION_PHASE_LISTS(LIST) \
    LIST(results) \
    LIST(nulls) \
    LIST(size_classes) \
    LIST(windows) \
    LIST(memory) LIST(dists) LIST(heap_parts) LIST(iterations) LIST(over_time) LIST(pins)
#define AB_SESSION_LISTS(LIST) AB_SESSION_PHASE_LISTS(LIST) LIST(timelines) LIST(call_sites)

/* Returns the number of machines that measured the session, 1 or more. */
uint32_t ab_session_host_count(const struct ab_session *session);
/* Returns the machine of rounds[round]. */
const struct ab_host *ab_session_round_host(const struct ab_session *session, uint32_t round);
/* True if both are the same machine, as far as is known: the fingerprints are equal, and so are the
 * names if both have one. A machine without a fingerprint equals no other machine. */
bool ab_host_is_same(const struct ab_host *a, const struct ab_host *b);
/* True if both sessions ran on one machine, so that their unpaired numbers may be compared.
 * Otherwise sets *of_a and *of_b to machines of the two that differ. */
bool ab_sessions_share_host(const struct ab_session *a, const struct ab_session *b,
                            const struct ab_host **of_a, const struct ab_host **of_b);
bool ab_session_is_exec(const struct ab_session *session);

/* True if the back end exists and did not fail. A failed back end has no numbers, even if some were
 * measured before it failed. */
bool ab_session_has_numbers(const struct ab_session *session, uint32_t backend);

/* Returns quantile q of the histogram in ns; NaN if n·(1−q) < 10, or if the value overflowed. */
double ab_result_quantile(const struct ab_hdr *hdr, double q);

/* True if lanes waited for each other so long that wall time says little about the back end. */
bool ab_result_is_waiting(const struct ab_result *r);
/* True if more time was subtracted than remains, so that the round has no time per op. */
bool ab_is_mostly_waiting(double subtracted_percent);

#endif
