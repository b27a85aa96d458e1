/* SPDX-License-Identifier: MIT
 *
 * What was measured, as plain records: the only thing that sinks and statistics see. Owned by the
 * command that runs; strings are borrowed from it and live as long as the session.
 * Times are in nanoseconds, sizes in bytes. NaN means "not available": JSON null, CSV empty,
 * terminal "-". Never 0.
 */
#ifndef AB_RESULT_RESULT_H
#define AB_RESULT_RESULT_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "base/litter.h"
#include "core/status.h"
#include "result/hdr.h"
#include "result/heap_part.h"
#include "tape/overview.h"
#include "wire/kinds.h"
#include "wire/placement.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum ab_backend_status { /* names are frozen: results/README.md */
                         AB_BACKEND_OK,
                         AB_BACKEND_PARTIAL, /* some ops had no hook: different work, out of every comparison */
                         AB_BACKEND_CRASHED,
                         AB_BACKEND_TIMEOUT,
                         AB_BACKEND_OOM,
                         AB_BACKEND_WRONG_LIBRARY,
                         AB_BACKEND_FAILED_CHECK,
                         AB_BACKEND_ABSENT,
                         AB_BACKEND_NONCONFORMING, /* failed its checks and was measured all the same, --allow-broken */
                         AB_BACKEND_DECORATED, /* checked+NAME, fault+NAME: its time is no measurement */
                         AB_BACKEND_STATUS_COUNT
};
extern const char *const ab_backend_status_names[AB_BACKEND_STATUS_COUNT];
const char *ab_backend_status_name(enum ab_backend_status status);
/* ok, or one that is shown beside those that are: only these have entries in results. */
bool ab_backend_status_has_numbers(enum ab_backend_status status);
/* Has numbers, and is out of every comparison. */
bool ab_backend_status_is_aside(enum ab_backend_status status);

enum { AB_BACKEND_NAME_BYTES = 128, AB_BACKEND_FULL_BYTES = 512 };

/* Did a library take a setting of its environment? */
enum ab_setting_state {
    AB_SETTING_UNPROVEN, /* the library does not say, or its manual does not say that it acts */
    AB_SETTING_PROVEN,   /* in force, as it says itself */
    AB_SETTING_IGNORED,
    AB_SETTING_STATE_COUNT
};
extern const char *const ab_setting_state_names[AB_SETTING_STATE_COUNT];

struct ab_setting {
    char text[256]; /* "MALLOC_CONF=narenas:1": of several in one variable each */
    enum ab_setting_state state;
    char why[200]; /* "" where it is proven */
};
enum { AB_SETTINGS_MAX = 16, AB_VERIFY_FAILED_MAX = 32, AB_VERIFY_NAME_BYTES = 40 };

/* A row: a back end, or where params of a workload have lists of values, a back end in one of their
 * combinations. What is compared with what is of one combination. */
struct ab_backend_info {
    /* As asked for: "glibc", "slab:threads=sharded", a file's stem; then, behind a blank, the values. */
    char name[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES];
    char full_name[AB_BACKEND_FULL_BYTES]; /* "jemalloc{A=b}" of a row that was named; "" = name */
    char label[AB_BACKEND_NAME_BYTES + AB_VALUES_BYTES]; /* see ab_backend_label(); "" = name */
    char values[AB_VALUES_BYTES]; /* "n=1000 m=4"; "" = no param has a list */
    uint32_t combination;         /* of ab_session.combinations; 0 where there are none */
    const char *boundary;         /* of ab_boundary_names; NULL = unknown */
    char version[64];             /* "" = unknown */
    char path[4096];              /* "" for built-ins */
    char build_id[41];
    /* What a process with the preloaded library takes before its first block, beyond one without; of that
     * private memory. 0: no library is preloaded, or it was not measured. */
    double library_bytes, library_private_bytes;
    char package[64];                          /* what to install when absent; "" = unknown */
    char settings[AB_BACKEND_FULL_BYTES];      /* "keep=8:spare=0{A=b;C=d}"; "" = none */
    struct ab_setting proofs[AB_SETTINGS_MAX]; /* of the environment */
    uint32_t n_proofs;
    enum ab_backend_status status;
    char reason[1024]; /* "" when ok */
    char caveat[160];  /* what it does wrong, though not in this work; "" = nothing known */
    /* Function that serves the frees by size: "free" where a malloc has none of its own; "" = the work
     * has no such frees, or the back end always takes the size. */
    char sized_free[48];
    char clock[8], clock_reason[96]; /* who told it the time: virtual, none, real, and why; or "" */
    char uncounted[240]; /* why --instr has no numbers, or not all, of it; "" = it has */
    bool was_named;      /* asked for by name: its failure is exit 4; else a warning */
    bool is_along;       /* added to show what the machine does; not stored */
    bool is_verified;    /* this build passed `verify` before it was measured */
    /* checks that this build failed when `verify` last ran with it; 0 = none, or it never ran */
    char verify_failed[AB_VERIFY_FAILED_MAX][AB_VERIFY_NAME_BYTES];
    uint32_t n_verify_failed;
    bool never_frees; /* AB_TRAIT_NO_FREE */
    bool has_reset;   /* a bulk reset; without it a reset is frees one by one */
    /* Why --inside failed in some or all rounds; "" = it did not, or was not requested. */
    char not_inside[1024];
    /* Libraries of the program whose calls bypass the preloaded object and go to the C library's malloc;
     * "" = none were seen. */
    char deepbound[240];
    struct ab_litter_request litter; /* occupancy 0: the heap is fresh */
    struct ab_litter_count littered; /* what was made of it; zeroes where no run came so far */
    char map[2048]; /* of several heaps: the rules, "frame=arena,*=glibc"; "" = one heap */
    struct ab_mapped_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* 0 = one heap */
    struct ab_mapped_rules rules;
};

extern const char *const ab_boundary_names[AB_BOUNDARY_COUNT];
/* Of is_strict; ends with NULL. */
extern const char *const ab_order_names[];

/* Its name without the values. Returns buf. */
const char *ab_backend_own_name(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_NAME(b) ab_backend_own_name(b, (char[AB_BACKEND_NAME_BYTES]){0})
bool ab_backend_is_named(const struct ab_backend_info *b, const char *own_name);
/* Returns what -b was told without a given name: "jemalloc{A=b}"; of a named library without settings
 * the given name. */
const char *ab_backend_spelling(const struct ab_backend_info *b, char buf[AB_BACKEND_FULL_BYTES]);
/* Returns the name for tables and sentences. It is short even where settings are long. */
const char *ab_backend_label(const struct ab_backend_info *b);
const char *ab_backend_own_label(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES]);
#define AB_OWN_LABEL(b) ab_backend_own_label(b, (char[AB_BACKEND_NAME_BYTES]){0})
/* Sets the labels: a name of more than 24 bytes becomes "jemalloc{narenas:1}", without what all rows of
 * this allocator share, or "jemalloc{2}" where that is still too long. */
void ab_backends_set_labels(struct ab_backend_info *list, uint32_t n);
/* Makes it the row of a combination. */
void ab_backend_set_values(struct ab_backend_info *b, const char *values);

/* What stands behind a back end's own name, as -b spells it; "" = nothing. */
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

/* Numbers that the user names, of the load of a server: so many at most. */
enum { AB_NAMED_MAX = 16, AB_NAMED_BYTES = 64 };
struct ab_field;

struct ab_worst_op {
    double ns;
    uint32_t position;  /* ops before it in the tape */
    uint64_t size;      /* or AB_SIZE_UNKNOWN: a sample of the latency pass */
    uint32_t iteration; /* of its lane and phase, from 1 on; 0 = in none */
};
#define AB_SIZE_UNKNOWN UINT64_MAX

/* One back end × phase × op × round. */
struct ab_result {
    uint32_t backend; /* index in ab_session.backends */
    const char *phase;
    unsigned op; /* enum ab_op_kind, or AB_OP_ALL */
    uint32_t round;
    /* One member a number of result_fields.def. Of the latency pass, where `all` is a thinned sample
     * in which every op is equally likely; of the throughput pass for `all`, else NaN or 0; of the
     * tail pass. `max` is worst[0].ns, unless all were fast. */
#define AB_MEMBER_U64(member) uint64_t member;
#define AB_MEMBER_F64(member) double member;
#define AB_MEMBERS_EACH(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_ALL(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_TAIL(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_PROGRAM(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_INSIDE(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_QUANTILE(type, member) /* in the array below */
#define AB_FIELD(group, name, member, type, unit, better, since, doc) \
    AB_MEMBERS_##group(type, member)
#include "result/result_fields.def"
#undef AB_FIELD
    double quantiles[AB_QUANTILE_COUNT];
    double named[AB_NAMED_MAX]; /* ab_named_field */
    struct ab_hdr *hdr;         /* in ns; owned by the session; never NULL */
    uint32_t n_worst;
    struct ab_worst_op worst[AB_WORST_MAX]; /* slowest first; latency and tail pass */
};

/* Latency of one op kind by requested size: (2^(log2 − 1), 2^log2] bytes. From the latency pass. */
struct ab_size_class {
    uint32_t backend;
    const char *phase;
    unsigned op;
    uint32_t round;
    unsigned log2;      /* 0: sizes 0 and 1 */
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
};
#define AB_SIZE_CLASS_COUNT 65

/* Two bins an octave, up to 60 s: 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23 … */
enum { AB_WINDOW_BINS = 72 };
unsigned ab_window_bin(uint64_t ns);      /* what is longer is in the last */
uint64_t ab_window_bin_low(unsigned bin); /* the first value of it; of AB_WINDOW_BINS too */

/* Latency over time: the ops of one stretch of the tape, all kinds, every op equally likely. */
struct ab_window {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    uint32_t begin, end;  /* ops done: the op clock */
    uint64_t n;           /* ops timed, latency pass */
    double p50, p99, max; /* ns; NaN where too few were timed */
    /* Of these ops, by ns: bin i of ab_window_bin. All 0 = not known. */
    uint32_t counts[AB_WINDOW_BINS];
};

/* Iterations of a lane count from 1, over all repetitions of their phase. */
struct ab_iteration_time {
    uint64_t ns;
    uint32_t iteration, lane;
};
enum { AB_ITERATIONS_WORST_MAX = 64, AB_STRETCHES_MAX = 100 };

/* What the allocator's calls took in each iteration of a phase: one back end x phase x round. From the
 * tail pass, less what the same calls took in the null back end. NaN: not known, `reason` says why. */
struct ab_iterations {
    uint32_t backend, round;
    const char *phase;
    char name[AB_PHASE_NAME_MAX + 1]; /* of one of them: "frame" */
    double budget_ns, call_ns;        /* NaN = none; subtracted for each call */
    uint64_t n, n_scheduler,
        n_over_budget;              /* timed; left out of all else: the scheduler's; missed */
    uint64_t n_calls, n_calls_most; /* of the n, of one of them: no accesses, no spared frees */
    double p50, p99, max;
    struct ab_hdr *hdr; /* in ns; owned by the session; never NULL */
    /* Which they were, of one round: those that took most, slowest first, without what takes no
     * more than in the null back end. And the most that one of each stretch of them took, in ns,
     * AB_NO_TIME = none was timed: stretch i is of the iterations i · stretch + 1 and so many in all
     * lanes. */
    uint32_t n_worst, stretch, n_stretches; /* 0 = not known */
    struct ab_iteration_time worst[AB_ITERATIONS_WORST_MAX];
    uint64_t stretches[AB_STRETCHES_MAX];
    char reason[160];
};
#define AB_NO_TIME UINT64_MAX

/* Where in a phase a memory record was taken. */
extern const char *const ab_memory_at_names[AB_AT_COUNT];

enum { AB_MEMORY_REASON_BYTES = 320 };

/* When the footprint was read again, once every block had been freed. */
extern const char *const ab_drain_names[AB_DRAIN_COUNT]; /* "0s" "0.1s" "1s" "10s" "purge" */

/* Memory pass, by page: what each number is says memory_fields.def. On resident pages
 * live + internal + external + retained = footprint, none of them negative; where internal is not
 * known its bytes are external. Every double may be n/a (NaN). */
struct ab_memory {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    enum ab_memory_at at;
    uint32_t position; /* ops done: the op clock */
    /* One member a number of memory_fields.def. */
#define AB_MEMORY_FIELD(name, member, unit, better, doc) double member;
#include "result/memory_fields.def"
#undef AB_MEMORY_FIELD
    double drained_bytes[AB_DRAIN_COUNT]; /* once all is freed: AB_AT_END of the last phase */
    struct ab_heap_memory heaps[AB_PLACEMENT_HEAPS_MAX]; /* of a mapped row, else of no meaning */
    char reason[AB_MEMORY_REASON_BYTES];                 /* why something is n/a; "" = nothing is */
};

/* A reason is "WHAT: why; WHAT: why …". WHAT is one of these: what the footprint is not known for,
 * the other sums are not either. */
#define AB_WHY_FOOTPRINT "footprint"
#define AB_WHY_PAGES "pages" /* live, internal, external, retained, and what goes with them */
#define AB_WHY_INTERNAL "internal"
#define AB_WHY_RETAINED "retained"
#define AB_WHY_RATIOS "ratios"
#define AB_WHY_DRAINED "drained"
#define AB_WHY_PURGED "purged"
#define AB_WHY_OWN "allocated"       /* what the allocator says */
#define AB_WHY_DURING "during calls" /* and the peak with it */

/* What is kept as a distribution over the ops of a phase: memory_dists.def. */
enum ab_memory_dist_kind {
#define AB_MEMORY_DIST(id, name, unit, step, doc) AB_DIST_##id,
#include "result/memory_dists.def"
#undef AB_MEMORY_DIST
    AB_DIST_COUNT
};

/* One distribution of one back end x phase x round. The split of the pages is read at samples, at
 * least 1,000 in a phase that has as many ops; each stands for the ops since the one before. */
struct ab_memory_dist {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    enum ab_memory_dist_kind kind;
    uint64_t n_ops, n_samples; /* of the phase; those where it is known */
    struct ab_hdr *hdr; /* counts are ops, values in steps (memory_dist.h); owned by the session;
                           NULL where nothing is known */
    char reason[160];   /* why it is not known, or not everywhere; "" = it is */
};

struct ab_timeline_point {
    uint32_t position; /* ops done */
    double requested_bytes, usable_bytes, footprint_bytes;
    double external_bytes; /* by page, as in a memory record */
};

/* Requested, usable and footprint over the op clock, one a back end × round, over all phases. */
struct ab_timeline {
    uint32_t backend;
    uint32_t round;
    uint32_t n;
    struct ab_timeline_point *points; /* owned by the session; ascending positions */
};

enum ab_idle_at { /* where in an idle stretch of the work, in which nothing is called */
                  AB_IDLE_NOT,
                  AB_IDLE_BEGIN,
                  AB_IDLE_DURING,
                  AB_IDLE_END,
                  AB_IDLE_COUNT
};
extern const char *const ab_idle_at_names[AB_IDLE_COUNT]; /* NULL, "begin", "during", "end" */

/* Memory at a moment of the time of the work: a list of such rows, those of a back end and round one
 * after the other, by time. Memory pass of work that has times, and real programs, which have no
 * more than the resident bytes. NaN = not known. */
struct ab_over_time {
    uint32_t backend, round;
    const char *phase;
    uint64_t time_ns;  /* from the beginning of the work on */
    uint32_t position; /* ops done; AB_NO_POSITION = of a program */
    enum ab_idle_at idle;
    double live_bytes; /* of live blocks, as they were asked for */
    double resident_bytes, external_bytes, retained_bytes; /* as in a memory record */
    double lazyfree_bytes; /* of the resident ones: what the kernel may take without asking */
};
#define AB_NO_POSITION UINT32_MAX

/* Who holds the pages at a moment of the work (docs/measuring.md): a call site of a trace, a set of a workload,
 * or a class of sizes. At each moment the groups add up to what the pages hold. */
enum ab_pin_moment {
    AB_PIN_RESIDENT_PEAK,
    AB_PIN_LIVE_PEAK,
    AB_PIN_WORST,     /* most external bytes */
    AB_PIN_END,       /* of a phase */
    AB_PIN_HALF_TIME, /* of work with times */
    AB_PIN_MOMENT_COUNT
};
extern const char *const ab_pin_moment_names[AB_PIN_MOMENT_COUNT]; /* "resident_peak" … */

enum ab_pin_group { AB_PIN_SITE, AB_PIN_SIZE, AB_PIN_SET, AB_PIN_GROUP_COUNT };
extern const char *const ab_pin_group_names[AB_PIN_GROUP_COUNT]; /* "site" "size" "set" */

/* In the place of a function: blocks whose site is not known; pages that never held a block, and what the
 * allocator keeps; all groups that are not listed. */
#define AB_PIN_UNKNOWN "(unknown)"
#define AB_PIN_ALLOCATOR "(allocator)"
#define AB_PIN_OTHERS "(others)"

struct ab_pin {
    uint32_t backend, round;
    const char *phase;
    char at[64];       /* one of ab_pin_moment_names, a mark of the trace, or what was asked for */
    uint32_t position; /* ops done */
    enum ab_pin_group group;
    char function[128], file[128]; /* function: or the set, or "33-64 B"; file "" = not known */
    uint32_t line;                 /* 0 = not known */
    /* Bytes on resident pages: pinned are external ones. internal, retained: NaN = not known */
    double pinned_bytes, internal_bytes, retained_bytes, live_bytes;
    double pinned_2m_bytes; /* external ones of stretches of 2 MiB */
    double blocks, pages;   /* live ones, and pages with such */
    double median_bytes;    /* size of these blocks; NaN = it has none, as in the next */
    double median_age;      /* in ops, or where the work has times in seconds */
    bool is_age_in_seconds;
    uint32_t lane; /* that allocated all of them; AB_PIN_SEVERAL */
};
#define AB_PIN_SEVERAL UINT32_MAX

/* The calls from one place of a real program, estimated from those that were timed: exec --inside --sites.
 * The most time first; AB_PIN_OTHERS: of all that are not listed; AB_PIN_UNKNOWN: not known from where. */
struct ab_call_site {
    uint32_t backend, round;
    char object[256];              /* path of the program or library; "" = not known */
    uint64_t offset;               /* in the addresses of this file */
    char function[128], file[128]; /* "" = not known */
    uint32_t line;                 /* 0 = not known */
    uint64_t n;                    /* timed */
    double all_calls, inside_ns;
};
enum { AB_CALL_SITES_MAX = 200 }; /* of a back end and round */

/* The price of the harness on this tape: the null back end, per phase, boundary and placement. */
struct ab_null_cost {
    const char *phase, *boundary;
    char placement[65]; /* as in struct ab_mapped_rules */
    uint32_t round, combination;
    uint64_t n_ops;
    double ns_per_op, wall_ns_per_op, latency_pass_ns_per_op;
    double floor_ns, floor_mean_ns; /* median and trimmed mean of its timed ops; NaN = not known */
    double instr_per_op;            /* of the first round, with --instr */
    double iteration_call_ns; /* a call in iterations, tail pass; NaN = not known. In no file */
};

struct ab_host { /* what makes numbers comparable; "" = unknown */
    char cpu[128], kernel[128], libc[64], governor[32], virt[32], thp[32], aslr[16], os[64];
    uint32_t cpus_online, cpus_allowed;
    uint64_t memory_bytes, page_bytes;
    double load_1min;
    char fingerprint[65]; /* sha256 of cpu, cpus, kernel, libc: same value, comparable machine */
    char name[65]; /* of the node, noted by --shard alone: two nodes of one kind differ in it */
};

struct ab_counting { /* --instr */
    bool is_asked;
    char method[32]; /* "callgrind", "cpu counter"; "" = instructions were not counted: `reason` */
    uint64_t n_ops;  /* of the tape that were run for that */
    char reason[240];
};

/* What disturbed the throughput runs of a session: sums over them, null back end included, and the
 * level of the canary. X(member: JSON key) */
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
    const uint32_t *order; /* n_order back ends in the order they ran */
    uint32_t n_order;
    uint32_t host; /* of ab_session.hosts; 0 where there is one machine */
};

/* Which part of the rounds a session has (result/merge/shard.h). */
struct ab_run_shard {
    uint32_t index, count; /* 1 to count; count 0 = all of it */
};

/* A result that was merged into another one. */
struct ab_part {
    const char *file;          /* as it was given */
    char sha256[65];           /* of the file; "" = not known */
    struct ab_run_shard shard; /* count 0 = it was no shard */
    uint32_t host;             /* of ab_session.hosts */
    uint32_t n_rounds;
};

/* How many rounds a pass runs in: those whose index is below (result/passes.h). */
#define AB_EVERY_ROUND UINT32_MAX
#define AB_EVERY_COMBINATION UINT32_MAX
struct ab_pass_plan {
    bool is_known; /* else, as in older results, every pass runs in every round */
    uint32_t rounds[AB_PASS_COUNT];
};

/* The work of one combination of values of params that have lists. */
struct ab_combination {
    char values[AB_VALUES_BYTES]; /* "n=1000 m=4" */
    char tape_sha256[65];
    uint64_t n_ops, live_peak_blocks, live_peak_bytes;
    uint32_t lanes;
};

enum ab_ended { /* why a session has the rounds that it has */
                AB_ENDED_NOT,
                AB_ENDED_ROUNDS,    /* as many as were asked for */
                AB_ENDED_PRECISION, /* every interval is as narrow as was asked for */
                AB_ENDED_TIME,      /* another round would not have fitted */
                AB_ENDED_COUNT
};
extern const char
    *const ab_ended_names[AB_ENDED_COUNT]; /* "", "rounds", "precision", "time_budget" */

/* --time-budget, --precision. Until it ends, n_rounds_planned of the session is the most that there
 * may be; then it is what there are. */
struct ab_stopping {
    double time_budget_s; /* 0 = none */
    double precision;     /* of the ratio of whole-run times, 0.02 = 2 % to either side; 0 = none */
    double spent_s;       /* by pre-flights and rounds, those that were resumed included */
    uint32_t n_rounds_most;
    enum ab_ended ended;
};

/* Of a session whose results are runs of a real program: one phase, AB_PROGRAM_PHASE, with the one
 * op `all`, which is the whole program; n_ops is 1. */
#define AB_KIND_EXEC "exec"
#define AB_PROGRAM_PHASE "program"
/* What of a result an HTML report holds, so that it can be read again. */
enum ab_embed {
    AB_EMBED_MERGED, /* histograms of all rounds together (result/merge/merge_rounds.h) */
    AB_EMBED_FULL,   /* all that --json writes */
    AB_EMBED_NONE,
};

/* How a document says is_histogram_merged. */
#define AB_HISTOGRAMS_KEY "histograms"
#define AB_HISTOGRAMS_MERGED "merged"
struct ab_session {    /* everything about one command's measurements */
    const char *kind;  /* "workload", "trace", or AB_KIND_EXEC: a real program */
    const char *name;  /* workload's name, the trace's file name, or the program's */
    const char *about; /* "" = none */
    const char *config_path, *config_sha256, *config_text; /* text "" for traces */
    const char *tape_sha256;
    const char *const *settings; /* "rounds=5", "set n=100", … ends with NULL */
    uint64_t seed;
    time_t start; /* of measuring; 0 = not known */
    uint32_t n_rounds_planned;
    struct ab_pass_plan passes;
    struct ab_stopping stopping;
    bool is_complete;
    /* n_combinations, two or more, where params have lists of values; NULL = none has. tape_sha256 is
     * then the digest of theirs, facts and numbers of the tape are the most of any. Owned */
    struct ab_combination *combinations;
    uint32_t n_combinations;
    struct ab_facts facts;
    uint32_t n_slots;
    uint64_t n_tape_ops;
    /* n_tape_ops and positions count operations; those of older results count what writes to blocks and
     * keeps threads in order as well. */
    bool counts_ops;
    struct ab_host host;
    struct ab_host *hosts; /* n_hosts, two or more: of a result that was merged from several
                              machines, `host` is the first. NULL = one machine. Owned */
    uint32_t n_hosts;
    struct ab_run_shard shard;
    struct ab_part *parts; /* n_parts results that this one was merged from; NULL = none. Owned */
    uint32_t n_parts;
    const char *command_line;
    bool is_unsealed; /* numbers come from a stored result that had no checksum */
    struct {          /* what measured; NULL = this build */
        const char *version, *compiler, *flags;
    } tool;
    const char *resumed_from; /* the result that the first rounds were taken from; NULL = none */
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
    const char *base; /* the back end that the others are compared with; NULL = none was named */
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
    const struct ab_field *named[AB_NAMED_MAX]; /* n_named; in the order of the user */
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
    struct ab_pin *pins; /* by back end, round and position; of a moment the most pinned first */
    uint32_t n_pins;
    struct ab_call_site *call_sites;
    uint32_t n_call_sites;
    struct ab_checked *gates,
        *claims; /* stats/check.h: a gate has one for each back end it is about */
    uint32_t n_gates, n_claims;
    const struct ab_overview *overview;     /* of a trace, owned by the command; NULL = not known */
    const struct ab_stacks *stacks;         /* report/flame.h: of call sites; NULL = not known */
    const struct ab_comparison *comparison; /* stats/compare.h: with a baseline; NULL = none */
    const char *const *phases;              /* names of the measured phases, in order */
    uint32_t n_phases;
    int32_t cpu;     /* lane 0 ran here, -1 = not pinned */
    const int *cpus; /* n_cpus, one lane after the other round and round; owned by the command */
    uint32_t n_cpus;
    uint32_t window;            /* skew window in ops of the global order, 0 = none */
    bool is_window_given;       /* by --window; else it is what the tape needed */
    uint64_t n_edges, n_remote; /* of the tape: guarded meetings, ops on another lane's block */
    /* Recorded threads whose ends were no ends of lanes' threads, because the lane played others as
     * well; UINT64_MAX = not known. */
    uint64_t thread_ends_left_out;
    uint64_t program_cpu_ns;  /* of a replay: that the recorded program took, and … */
    uint64_t program_calls;   /* … the calls it made in it; 0 = the trace does not say */
    uint64_t anonymous_bytes; /* of the program, when it had most, and … */
    uint64_t unasked_bytes;   /* … how much of it was not asked of malloc; both 0 = not known */
    bool is_strict;           /* lanes took turns in the exact order */
    /* The first record of each back end, phase, op … has the histogram (or the counts) of all
     * rounds, the others have empty ones; all other numbers are of each round. */
    bool is_histogram_merged;
    enum ab_embed embed; /* asked for; not a matter of the result */
};

/* The lists of records, each of which belongs to a round: LIST(member) for all that adopt or join
 * them. Those of the first kind have a phase as well. */
#define AB_SESSION_PHASE_LISTS(LIST) \
    LIST(results) \
    LIST(nulls) \
    LIST(size_classes) \
    LIST(windows) \
    LIST(memory) LIST(dists) LIST(heap_parts) LIST(iterations) LIST(over_time) LIST(pins)
#define AB_SESSION_LISTS(LIST) AB_SESSION_PHASE_LISTS(LIST) LIST(timelines) LIST(call_sites)

/* How many machines measured it: 1 or more. */
uint32_t ab_session_host_count(const struct ab_session *session);
/* The machine of a round, an index of rounds. */
const struct ab_host *ab_session_round_host(const struct ab_session *session, uint32_t round);
/* One machine, as far as is known: the same fingerprint, and the same name where both have one. What
 * has no fingerprint is the same as nothing. */
bool ab_host_is_same(const struct ab_host *a, const struct ab_host *b);
/* All rounds of both are of one machine: what is not paired by rounds may be compared. Else *of_a
 * and *of_b are two that differ. */
bool ab_sessions_share_host(const struct ab_session *a, const struct ab_session *b,
                            const struct ab_host **of_a, const struct ab_host **of_b);
bool ab_session_is_exec(const struct ab_session *session);

/* Is there such a back end, and did it not fail? One that did has no numbers, even where some were
 * measured before. */
bool ab_session_has_numbers(const struct ab_session *session, uint32_t backend);

/* min(quantile rule): value of q from hdr in ns, or NaN when n·(1−q) < 10. */
double ab_result_quantile(const struct ab_hdr *hdr, double q);

/* Did lanes wait for each other so long that wall time says little about the back end? */
bool ab_result_is_waiting(const struct ab_result *r);
/* What is subtracted is more than what is left: the time per op of the round is not known. */
bool ab_is_mostly_waiting(double subtracted_percent);

#endif
