/* SPDX-License-Identifier: MIT
 *
 * The results of a measurement as plain records, the only input of reports and statistics. The
 * command that runs owns them. Strings are borrowed from the command and live as long as the
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
                         AB_BACKEND_PARTIAL, /* some ops had no hook, so the work differs: excluded
                                                from comparisons */
                         AB_BACKEND_CRASHED,
                         AB_BACKEND_TIMEOUT,
                         AB_BACKEND_OOM,
                         AB_BACKEND_WRONG_LIBRARY,
                         AB_BACKEND_FAILED_CHECK,
                         AB_BACKEND_ABSENT,
                         AB_BACKEND_NONCONFORMING, /* failed its checks and was measured
                                                      nevertheless: --allow-broken */
                         AB_BACKEND_DECORATED,     /* checked+NAME, fault+NAME: its time is not a
                                                  measurement */
                         AB_BACKEND_STATUS_COUNT
};
extern const char *const ab_backend_status_names[AB_BACKEND_STATUS_COUNT];
const char *ab_backend_status_name(enum ab_backend_status status);
/* True if back ends with this status have entries in results: ok, or shown beside those that are
 * ok. */
bool ab_backend_status_has_numbers(enum ab_backend_status status);
/* True if a back end with this status has numbers but is excluded from every comparison. */
bool ab_backend_status_is_aside(enum ab_backend_status status);

enum { AB_BACKEND_NAME_BYTES = 128, AB_BACKEND_FULL_BYTES = 512 };

/* State of a setting in the environment of a library: whether the library uses it. */
enum ab_setting_state {
    AB_SETTING_UNPROVEN, /* the library does not report it, or its manual does not say that it has
                            an effect */
    AB_SETTING_PROVEN,   /* in force, as the library itself reports */
    AB_SETTING_IGNORED,
    AB_SETTING_STATE_COUNT
};
extern const char *const ab_setting_state_names[AB_SETTING_STATE_COUNT];

struct ab_setting {
    char text[256]; /* "MALLOC_CONF=narenas:1"; several settings in one variable are listed one by
                       one */
    enum ab_setting_state state;
    char why[200]; /* "" if proven */
};
enum { AB_SETTINGS_MAX = 16, AB_VERIFY_FAILED_MAX = 32, AB_VERIFY_NAME_BYTES = 40 };

/* A row of the tables: a back end, or, if parameters of the workload have lists of values, a back
 * end in one combination of them. Only rows of the same combination are compared. */
enum { AB_PROGRAMS_MAX = 16, AB_PROGRAM_NAME_BYTES = 32 };

struct ab_program_build { /* a program of --program; strings are borrowed */
    const char *name;     /* NAME, the first part of the names of its rows */
    const char *command;  /* as given */
    char sha256[65];      /* digest of its file; "" = unknown */
};

struct ab_backend_info {
    /* name as requested: "glibc", "slab:threads=sharded", a file's stem; then a blank and the
     * values */
    char name[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES];
    char full_name[AB_BACKEND_FULL_BYTES]; /* "jemalloc{A=b}" if the user named the row otherwise;
                                              "" = name */
    char label[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES]; /* see ab_backend_label(); "" = name */
    char values[AB_VALUES_BYTES]; /* "n=1000 m=4"; "" = no parameter has a list */
    uint32_t combination;         /* index in ab_session.combinations; 0 if there are none */
    const char *boundary;         /* one of ab_boundary_names; NULL = unknown */
    char version[64];             /* "" = unknown */
    char path[4096];              /* "" for built-ins */
    char build_id[41];
    /* resident bytes that preloading the library adds to a process before its first block, and the
     * private part of them. 0 = no library is preloaded, or it was not measured */
    double library_bytes, library_private_bytes;
    char package[64];                          /* package to install when absent; "" = unknown */
    char settings[AB_BACKEND_FULL_BYTES];      /* "keep=8:spare=0{A=b;C=d}"; "" = none */
    struct ab_setting proofs[AB_SETTINGS_MAX]; /* settings of the environment */
    uint32_t n_proofs;
    enum ab_backend_status status;
    char reason[1024]; /* "" when ok */
    char caveat[160];  /* known fault that does not occur in this work; "" = none */
    /* function that serves the frees with a size: "free" if a malloc library has none of its own.
     * "" = the work has no such frees, or the back end always takes the size */
    char sized_free[48];
    char clock[8], clock_reason[96]; /* clock that the back end sees (virtual, none, real), and why;
                                        or "" */
    char uncounted[240];             /* why --instr has no numbers, or not all; "" = it has all */
    bool was_named;   /* requested by name: a failure ends with exit 4; else a warning */
    bool is_control;  /* added to show the behaviour of the machine; not stored */
    bool is_verified; /* this build passed `verify` before it was measured */
    /* checks that this build failed in the last `verify`; n = 0: none, or `verify` never ran */
    char verify_failed[AB_VERIFY_FAILED_MAX][AB_VERIFY_NAME_BYTES];
    uint32_t n_verify_failed;
    bool never_frees; /* AB_TRAIT_NO_FREE */
    bool has_reset;   /* has a bulk reset; without it, a reset frees the blocks one by one */
    /* why --inside failed in some or all rounds; "" = it did not, or was not requested */
    char not_inside[1024];
    /* libraries of the program whose calls bypass the preloaded object and go to the C library's
     * malloc; "" = none were seen */
    char deepbound[240];
    char program[AB_PROGRAM_NAME_BYTES]; /* of --program; "" = all rows run one program */
    char program_sha256[65]; /* digest of the program's file in exec; "" = unknown, or no program */
    struct ab_aging_request aging; /* occupancy 0 = a fresh heap */
    struct ab_aging_count aged;    /* the aged heap that was really made; zeroes if no run came
                                        that far */
    char map[2048]; /* rules of several heaps: "frame=arena,*=glibc"; "" = one heap */
    struct ab_mapped_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* 0 = one heap */
    struct ab_mapped_rules rules;
};

extern const char *const ab_boundary_names[AB_BOUNDARY_COUNT];
/* Names by is_strict; ends with NULL. */
extern const char *const ab_order_names[];

/* Copies the name without the values to buf, which it returns. */
const char *ab_backend_own_name(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_NAME(b) ab_backend_own_name(b, (char[AB_BACKEND_NAME_BYTES]){0})
bool ab_backend_is_named(const struct ab_backend_info *b, const char *own_name);
/* Returns the name as -b would spell it without a given name: "jemalloc{A=b}". Returns the given
 * name of a named library without settings. */
const char *ab_backend_spelling(const struct ab_backend_info *b, char buf[AB_BACKEND_FULL_BYTES]);
/* Returns the name for tables and sentences. It is short even where settings are long. */
const char *ab_backend_label(const struct ab_backend_info *b);
const char *ab_backend_own_label(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_LABEL(b) ab_backend_own_label(b, (char[AB_BACKEND_NAME_BYTES]){0})
/* Sets the labels. A name of more than 24 bytes becomes "jemalloc{narenas:1}", without the settings
 * that all rows of this allocator share. If that is still too long it becomes "jemalloc{2}". */
void ab_backends_set_labels(struct ab_backend_info *list, uint32_t n);
/* Makes the row that of a combination, by adding the values to its name. */
void ab_backend_set_values(struct ab_backend_info *b, const char *values);

/* Returns the part of a name behind the back end's own name, as -b spells it; "" = nothing. */
const char *ab_backend_settings(const char *name);

/* Percentiles that are reported; n/a (NaN) where n·(1−q) < 10. X(json key, q) */
#define AB_QUANTILES(X) \
    X("p50", 0.50) \
    X("p90", 0.90) X("p99", 0.99) X("p99.5", 0.995) X("p99.9", 0.999) X("p99.99", 0.9999)
enum { AB_QUANTILE_COUNT = 6 };
extern const char *const ab_quantile_names[AB_QUANTILE_COUNT];
extern const double ab_quantile_values[AB_QUANTILE_COUNT];
#define AB_QUANTILE_MIN_SAMPLES_BEHIND 10

/* Pseudo kind of a result that covers all ops of a phase. */
#define AB_OP_ALL AB_OP_KIND_COUNT
const char *ab_result_op_name(unsigned op); /* "alloc" … "reset", "all" */

/* Limits on the numbers that the user names, for the load of a server. */
enum { AB_NAMED_MAX = 16, AB_NAMED_BYTES = 64 };
struct ab_field;
struct ab_memory; /* result/numbers.h */
struct ab_result;

/* Latency of one op kind by requested size, in classes of (2^(log2 − 1), 2^log2] bytes. Latency
 * pass. */
struct ab_size_class {
    uint32_t backend;
    const char *phase;
    unsigned op;
    uint32_t round;
    unsigned log2;      /* 0: sizes 0 and 1 */
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
};
#define AB_SIZE_CLASS_COUNT 65

/* Bins of a window's histogram, two an octave, up to 60 s: 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23
 * … */
enum { AB_WINDOW_BINS = 72 };
unsigned ab_window_bin(uint64_t ns);      /* values above 60 s are in the last bin */
uint64_t ab_window_bin_low(unsigned bin); /* lowest value of the bin; also defined for
                                             AB_WINDOW_BINS */

/* Latency over time: the ops of all kinds in one stretch of the tape, where every op is equally
 * likely. */
struct ab_window {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    uint32_t begin, end;  /* on the op clock: numbers of ops done when the window begins and ends */
    uint64_t n;           /* ops timed in the latency pass */
    double p50, p99, max; /* ns; NaN if too few ops were timed */
    /* timed ops by ns; the index is that of ab_window_bin(). All 0 = not known */
    uint32_t counts[AB_WINDOW_BINS];
};

/* Time of one iteration. Iterations of a lane count from 1, over all repetitions of their phase. */
struct ab_iteration_time {
    uint64_t ns;
    uint32_t iteration, lane;
};
enum { AB_ITERATIONS_WORST_MAX = 64, AB_STRETCHES_MAX = 100 };

/* Time in the allocator per iteration, for one back end, phase and round. From the tail pass, minus
 * the time of the same calls in the null back end. NaN = not known; `reason` says why. */
struct ab_iterations {
    uint32_t backend, round;
    const char *phase;
    char name[AB_PHASE_NAME_MAX + 1]; /* name of one iteration: "frame" */
    double budget_ns, call_ns;        /* NaN = no budget; time subtracted for each call */
    uint64_t n, n_scheduler,
        n_over_budget;              /* timed iterations; those left out of all numbers because the
                                       scheduler interrupted them; those over budget */
    uint64_t n_calls, n_calls_most; /* calls in the n iterations, and in the one with most calls;
                                       without accesses and frees that were saved */
    double p50, p99, max;
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
    /* The worst iterations of one round, slowest first. Iterations that take no longer than in
     * the null back end are not listed.
     *
     * `stretches`: the longest time of an iteration in each stretch, in ns; AB_NO_TIME = none
     * was timed. Stretch i covers `stretch` iterations of every lane, from number i · stretch +
     * 1 on. */
    uint32_t n_worst, stretch, n_stretches; /* 0 = not known */
    struct ab_iteration_time worst[AB_ITERATIONS_WORST_MAX];
    uint64_t stretches[AB_STRETCHES_MAX];
    char reason[160];
};
#define AB_NO_TIME UINT64_MAX

/* Names of the moments in a phase at which a memory record is taken. */
extern const char *const ab_memory_at_names[AB_AT_COUNT];

enum { AB_MEMORY_REASON_BYTES = 320 };

/* Names of the delays after which the footprint is read again, once every block has been freed. */
extern const char *const ab_drain_names[AB_DRAIN_COUNT]; /* "0s" "0.1s" "1s" "10s" "purge" */

/* Subjects of reasons. A reason is "SUBJECT: why; SUBJECT: why …". If the footprint is not known,
 * the sums that depend on it are not known either. */
#define AB_WHY_FOOTPRINT "footprint"
#define AB_WHY_PAGES "pages" /* live, internal, external, retained, and numbers derived from them */
#define AB_WHY_INTERNAL "internal"
#define AB_WHY_RETAINED "retained"
#define AB_WHY_RATIOS "ratios"
#define AB_WHY_DRAINED "drained"
#define AB_WHY_PURGED "purged"
#define AB_WHY_OWN "allocated"       /* numbers that the allocator reports */
#define AB_WHY_DURING "during calls" /* and the peak, which includes it */

/* Numbers that are kept as a distribution over the ops of a phase: memory_dists.def. */
enum ab_memory_dist_kind {
#define AB_MEMORY_DIST(id, name, unit, step, doc) AB_DIST_##id,
#include "build/fields/memory_dists.inc"
#undef AB_MEMORY_DIST
    AB_DIST_COUNT
};

/* One distribution of one back end, phase and round. The pages are classified at samples, at least
 * 1,000 in a phase that has as many ops. Each sample stands for the ops since the previous one. */
struct ab_memory_dist {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    enum ab_memory_dist_kind kind;
    uint64_t n_ops, n_samples; /* ops of the phase; samples for which the number is known */
    struct ab_hdr *hdr;        /* counts are ops, values are in steps (memory_dist.h); owned by the
                           session; NULL if nothing is known */
    char reason[160];          /* why it is not known, or only in part; "" = it is */
};

struct ab_timeline_point {
    uint32_t position; /* ops done */
    double requested_bytes, usable_bytes, footprint_bytes;
    double external_bytes; /* by page, as in memory records */
};

/* Requested, usable and footprint bytes over the ops: one timeline for a back end and round, over
 * all phases. */
struct ab_timeline {
    uint32_t backend;
    uint32_t round;
    uint32_t n;
    struct ab_timeline_point *points; /* owned by the session; ascending positions */
};

enum ab_idle_at { /* position within an idle stretch of the work, in which nothing is called */
                  AB_IDLE_NOT,
                  AB_IDLE_BEGIN,
                  AB_IDLE_DURING,
                  AB_IDLE_END,
                  AB_IDLE_COUNT
};
extern const char *const ab_idle_at_names[AB_IDLE_COUNT]; /* NULL, "begin", "during", "end" */

/* Memory at a moment in the time of the work. The rows of a back end and round follow each other,
 * sorted by time. They come from the memory pass of work that has times, and from real programs,
 * for which only the resident bytes are known. NaN = not known. */
struct ab_over_time {
    uint32_t backend, round;
    const char *phase;
    uint64_t time_ns;  /* since the beginning of the work */
    uint32_t position; /* ops done; AB_NO_POSITION for a program */
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
    AB_PIN_WORST,     /* most external bytes */
    AB_PIN_END,       /* the end of a phase */
    AB_PIN_HALF_TIME, /* half of the time, for work with times */
    AB_PIN_MOMENT_COUNT
};
extern const char *const ab_pin_moment_names[AB_PIN_MOMENT_COUNT]; /* "resident_peak" … */

enum ab_pin_group { AB_PIN_SITE, AB_PIN_SIZE, AB_PIN_SET, AB_PIN_GROUP_COUNT };
extern const char *const ab_pin_group_names[AB_PIN_GROUP_COUNT]; /* "site" "size" "set" */

/* Names in the place of a function, in this order: blocks whose site is not known; pages that never
 * held a block, and memory that the allocator keeps; all groups that are not listed. */
#define AB_PIN_UNKNOWN "(unknown)"
#define AB_PIN_ALLOCATOR "(allocator)"
#define AB_PIN_OTHERS "(others)"

struct ab_pin {
    uint32_t backend, round;
    const char *phase;
    char at[64];       /* one of ab_pin_moment_names, a mark of the trace, or the moment that was
                          requested */
    uint32_t position; /* ops done */
    enum ab_pin_group group;
    char function[128], file[128]; /* function, or set, or "33-64 B"; file "" = not known */
    uint32_t line;                 /* 0 = not known */
    /* bytes on resident pages; pinned = external bytes; internal, retained: NaN = not known */
    double pinned_bytes, internal_bytes, retained_bytes, live_bytes;
    double pinned_2m_bytes; /* external bytes if pages were 2 MiB */
    double blocks, pages;   /* live blocks, and pages with live blocks */
    double median_bytes;    /* size of these blocks; NaN = the group has none, likewise below */
    double median_age;      /* in seconds if is_age_in_seconds, else in ops */
    bool is_age_in_seconds;
    uint32_t lane; /* lane that allocated all of them; AB_PIN_SEVERAL = more than one */
};
#define AB_PIN_SEVERAL UINT32_MAX

/* Calls from one place in a real program, estimated from those that were timed: exec --inside
 * --sites. Sorted by time, longest first. AB_PIN_OTHERS: all places that are not listed.
 * AB_PIN_UNKNOWN: calls whose place is not known. */
struct ab_call_site {
    uint32_t backend, round;
    char object[256];              /* path of the program or library; "" = not known */
    uint64_t offset;               /* address within this file */
    char function[128], file[128]; /* "" = not known */
    uint32_t line;                 /* 0 = not known */
    uint64_t n;                    /* number of timed calls */
    double all_calls, inside_ns;
};
enum { AB_CALL_SITES_MAX = 200 }; /* limit for one back end and round */

/* Cost of the harness on this tape, measured with the null back end, for each phase, boundary and
 * placement. */
struct ab_null_cost {
    const char *phase, *boundary;
    char placement[65]; /* as in struct ab_mapped_rules */
    uint32_t round, combination;
    uint64_t n_ops;
    double ns_per_op, wall_ns_per_op, latency_pass_ns_per_op;
    double floor_ns, floor_mean_ns; /* median and trimmed mean of its timed ops; NaN = not known */
    double instr_per_op;            /* from the first round, with --instr */
    /* time of one call in ns, median over the iterations of the tail pass; NaN = not known. Not
     * stored in files */
    double iteration_call_ns;
};

struct ab_host { /* facts of a machine that decide whether numbers are comparable; "" = unknown */
    char cpu[128], kernel[128], libc[64], governor[32], virt[32], thp[32], aslr[16], os[64];
    uint32_t cpus_online, cpus_allowed;
    uint64_t memory_bytes, page_bytes;
    double load_1min;
    char fingerprint[65]; /* SHA-256 of cpu, cpus, kernel, libc: machines with the same value are
                             comparable */
    char name[65]; /* of the node, recorded with --shard only, to tell apart two nodes of the same
                      kind */
};

struct ab_counting { /* --instr */
    bool is_asked;
    char method[32]; /* "callgrind", "cpu counter"; "" = instructions were not counted, see
                        `reason` */
    uint64_t n_ops;  /* ops of the tape that were run for counting */
    char reason[240];
};

/* Disturbances of the throughput runs of a session, summed over all runs, null back end included,
 * and the level of the canary. X(member: JSON key) */
#define AB_NOISE_FIELDS(X) \
    X(runs)                 /* throughput runs; 0 = nothing is known */ \
    X(wall_s)               /* measured phases */ \
    X(cpu_s)                /* of these: CPU time of the threads that ran the ops */ \
    X(slices_s)             /* measured between readings of the canary: one thread */ \
    X(quiet_s)              /* of these: nothing else used the core */ \
    X(waited_s)             /* for that, between slices */ \
    X(interruptions)        /* between slices something else ran on the CPU */ \
    X(switches_involuntary) /* context switches in the measured phases */ \
    X(canary_quiet_ns)      /* the canary, undisturbed */
struct ab_noise {
#define AB_NOISE_MEMBER(name) double name;
    AB_NOISE_FIELDS(AB_NOISE_MEMBER)
#undef AB_NOISE_MEMBER
};

struct ab_round {
    uint32_t index;
    const uint32_t *order; /* back ends in the order in which they ran; n_order of them */
    uint32_t n_order;
    uint32_t host; /* index in ab_session.hosts; 0 if there is one machine */
};

/* The part of the rounds that a session has (result/merge/shard_part.h). */
struct ab_run_shard {
    uint32_t index, count; /* 1 to count; count 0 = all rounds */
};

/* A result that was merged into another one. */
struct ab_part {
    const char *file;          /* name as given */
    char sha256[65];           /* SHA-256 of the file; "" = unknown */
    struct ab_run_shard shard; /* count 0 = not a shard */
    uint32_t host;             /* index in ab_session.hosts */
    uint32_t n_rounds;
};

/* The number of rounds in which each pass runs: it runs in those with a smaller index
 * (result/passes.h). */
#define AB_EVERY_ROUND UINT32_MAX
#define AB_EVERY_COMBINATION UINT32_MAX
struct ab_pass_plan {
    bool is_known; /* false in older results: every pass runs in every round */
    uint32_t rounds[AB_PASS_COUNT];
};

/* The work of one combination of parameter values, if parameters have lists. */
struct ab_combination {
    char values[AB_VALUES_BYTES]; /* "n=1000 m=4" */
    char tape_sha256[65];
    uint64_t n_ops, live_peak_blocks, live_peak_bytes;
    uint32_t lanes;
};

enum ab_ended { /* reason why a session ended with the rounds that it has */
                AB_ENDED_NOT,
                AB_ENDED_ROUNDS,    /* all requested rounds ran */
                AB_ENDED_PRECISION, /* every interval is as narrow as requested */
                AB_ENDED_TIME,      /* another round would not have fitted into the time */
                AB_ENDED_COUNT
};
extern const char
    *const ab_ended_names[AB_ENDED_COUNT]; /* "", "rounds", "precision", "time_budget" */

/* State of --time-budget and --precision. Until the session ends, its n_rounds_planned is the upper
 * limit; then it is the number of rounds that ran. */
struct ab_stopping {
    double time_budget_s; /* 0 = none */
    double precision;     /* half-width of the intervals of run-time ratios, 0.02 = ±2 %; 0 =
                             none */
    double spent_s;       /* on pre-flights and rounds, including resumed rounds */
    uint32_t n_rounds_most;
    enum ab_ended ended;
};

/* Kinds of sessions. X(id, name in results, command that resumes such a session; NULL = none) */
#define AB_SESSION_KINDS(X) \
    X(WORKLOAD, "workload", "run") X(TRACE, "trace", "replay") X(EXEC, "exec", NULL)
enum ab_session_kind {
    AB_SESSION_NO_KIND, /* not known: null in JSON */
#define X(id, name, command) AB_SESSION_##id,
    AB_SESSION_KINDS(X)
#undef X
        AB_SESSION_KIND_COUNT
};
extern const char *const ab_session_kind_names[AB_SESSION_KIND_COUNT];
extern const char *const ab_session_resume_commands[AB_SESSION_KIND_COUNT];

/* Phase of a session that ran a real program. It is the only phase; its one op, `all`, is the whole
 * program; n_ops is 1. */
#define AB_PROGRAM_PHASE "program"
/* The parts of a result that an HTML report embeds, so that it can be read again. */
enum ab_embed {
    AB_EMBED_MERGED, /* the histograms of all rounds merged (result/merge/merge_rounds.h) */
    AB_EMBED_FULL,   /* everything that --json writes */
    AB_EMBED_NONE,
};

/* Key and value in JSON if is_histogram_merged. */
#define AB_HISTOGRAMS_KEY "histograms"
#define AB_HISTOGRAMS_MERGED "merged"
struct ab_session { /* everything about one command's measurements */
    enum ab_session_kind kind;
    const char *name;  /* name of the workload, of the trace file, or of the program */
    const char *about; /* "" = none */
    const char *config_path, *config_sha256, *config_text; /* text "" for traces */
    const char *tape_sha256;
    const char *const *settings; /* "rounds=5", "set n=100", … ends with NULL */
    uint64_t seed;
    time_t start; /* start of measuring; 0 = not known */
    uint32_t n_rounds_planned;
    struct ab_pass_plan passes;
    struct ab_stopping stopping;
    bool is_complete;
    /* n_combinations, two or more, if parameters have lists of values; NULL = none has. tape_sha256
     * is then the digest of their digests; facts and numbers of the tape are the maximum over all.
     * Owned */
    struct ab_combination *combinations;
    uint32_t n_combinations;
    /* n_programs, two or more, if several builds are compared; config_path and config_sha256 are
     * then those of the first. NULL = one program or none. Owned */
    struct ab_program_build *programs;
    uint32_t n_programs;
    struct ab_facts facts;
    uint32_t n_slots;
    uint64_t n_tape_ops;
    /* True if n_tape_ops and positions count operations only. Older results also count writes to
     * blocks and the steps that keep threads in order. */
    bool counts_ops;
    struct ab_host host;
    struct ab_host *hosts; /* n_hosts machines, two or more, of a merged result; `host` is the first
                              of them. NULL = one machine. Owned */
    uint32_t n_hosts;
    struct ab_run_shard shard;
    struct ab_part *parts; /* n_parts results that were merged into this one; NULL = none. Owned */
    uint32_t n_parts;
    const char *command_line;
    bool is_unsealed; /* numbers come from a stored result without a checksum */
    struct {          /* build of the tool that measured; NULL = this build */
        const char *version, *compiler, *flags;
    } tool;
    const char *resumed_from; /* result that the first rounds were taken from; NULL = none */
    uint32_t n_rounds_resumed;
    struct {
        const char *source; /* "rdtsc/rdtscp" */
        double ns_per_tick, quantum_ns;
        double floor_ns; /* p50 of an empty op, in situ; NaN = not measured */
    } timer;
    struct ab_counting counting;
    struct ab_noise noise;
    struct ab_backend_info *backends;
    uint32_t n_backends;
    const char *base; /* back end that the others are compared with; NULL = none was named */
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
    const struct ab_field *named[AB_NAMED_MAX]; /* n_named, in the order in which the user named
                                                   them */
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
    struct ab_pin *pins; /* sorted by back end, round and position; at one moment the most pinned
                            first */
    uint32_t n_pins;
    struct ab_call_site *call_sites;
    uint32_t n_call_sites;
    struct ab_checked *gates,
        *claims; /* stats/check.h: a gate has one entry for each back end that it bounds */
    uint32_t n_gates, n_claims;
    const struct ab_overview *overview;     /* overview of a trace, owned by the command; NULL = not
                                               known */
    const struct ab_stacks *stacks;         /* report/flame.h: stacks of call sites; NULL = not
                                               known */
    const struct ab_comparison *comparison; /* stats/compare.h: comparison with a baseline; NULL =
                                               none */
    const char *const *phases;              /* names of the measured phases, in order */
    uint32_t n_phases;
    int32_t cpu;     /* CPU of lane 0; -1 = not pinned */
    const int *cpus; /* n_cpus CPUs, assigned to the lanes in turn; owned by the command */
    uint32_t n_cpus;
    uint32_t window;            /* skew window in ops of the global order; 0 = none */
    bool is_window_given;       /* given by --window; else derived from the tape */
    uint64_t n_edges, n_remote; /* of the tape: edges between lanes, and ops on another lane's
                                   block */
    /* recorded ends of threads that the replay left out, because the lane plays other threads as
     * well; UINT64_MAX = not known */
    uint64_t thread_ends_left_out;
    uint64_t program_cpu_ns;  /* of a replay: CPU time of the recorded program, and … */
    uint64_t program_calls;   /* … its number of calls; 0 = the trace does not say */
    uint64_t anonymous_bytes; /* of the program: anonymous memory at its peak, and … */
    uint64_t unasked_bytes;   /* … the part that was not requested from malloc; both 0 = not
                                 known */
    bool is_strict;           /* lanes took turns in the exact order of the tape */
    /* True if the first record of each back end, phase, op … has the histogram (or counts) of all
     * rounds, and the others have empty ones. All other numbers are of each round. */
    bool is_histogram_merged;
    enum ab_embed embed; /* requested parts of the report; not part of the result */
};

/* The lists of records that belong to rounds. Code that adopts or joins records expands
 * LIST(member). Records of the first macro's lists also have a phase. */
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
/* True if both are the same machine, as far as is known: the same fingerprint, and the same name if
 * both have one. A machine without a fingerprint equals no other. */
bool ab_host_is_same(const struct ab_host *a, const struct ab_host *b);
/* True if both sessions ran on one machine, so that their unpaired numbers may be compared. Else
 * sets *of_a and *of_b to two machines that differ. */
bool ab_sessions_share_host(const struct ab_session *a, const struct ab_session *b,
                            const struct ab_host **of_a, const struct ab_host **of_b);
bool ab_session_is_exec(const struct ab_session *session);

/* True if the back end exists and did not fail. A failed back end has no numbers, even if some were
 * measured before it failed. */
bool ab_session_has_numbers(const struct ab_session *session, uint32_t backend);

/* Returns quantile q of hdr in ns, or NaN when n·(1−q) < 10. */
double ab_result_quantile(const struct ab_hdr *hdr, double q);

/* True if lanes waited for each other so long that wall time says little about the back end. */
bool ab_result_is_waiting(const struct ab_result *r);
/* True if more time is subtracted than remains, so that the round has no time per op. */
bool ab_is_mostly_waiting(double subtracted_percent);

#endif
