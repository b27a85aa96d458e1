/* SPDX-License-Identifier: MIT
 *
 * What was measured, as plain records: the only thing that sinks and statistics see. Owned by the
 * command that runs; strings are borrowed from it and live as long as the session.
 * Times are in nanoseconds, sizes in bytes. NaN means "not available": JSON null, CSV empty,
 * terminal "-". Never 0.
 */
#ifndef AB_MEASURE_RESULT_H
#define AB_MEASURE_RESULT_H

#include "allocators/ab_backend.h"
#include "measure/hdr.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_backend_status { /* names are frozen: results/README.md */
    AB_BACKEND_OK,
    AB_BACKEND_PARTIAL,      /* some ops had no hook: different work, out of every comparison */
    AB_BACKEND_CRASHED,
    AB_BACKEND_TIMEOUT,
    AB_BACKEND_OOM,
    AB_BACKEND_WRONG_LIBRARY,
    AB_BACKEND_FAILED_CHECK,
    AB_BACKEND_ABSENT,
};
const char *ab_backend_status_name(enum ab_backend_status status);
/* ok or partial: only these have entries in results. */
bool ab_backend_status_has_numbers(enum ab_backend_status status);

struct ab_backend_info {
    char name[128];     /* as asked for: "glibc", "slab:threads=sharded", a file's stem */
    const char *boundary; /* "malloc" or "heap" */
    char version[64];   /* "" = unknown */
    char path[4096];    /* "" for built-ins */
    char build_id[41];
    char package[64];   /* what to install when absent; "" = unknown */
    enum ab_backend_status status;
    char reason[1024];  /* "" when ok */
    bool was_named;     /* asked for by name: its failure is exit 4; else a warning */
    bool never_frees;   /* AB_TRAIT_NO_FREE */
};

/* Percentiles that are reported; n/a (NaN) where n·(1−q) < 10. X(json key, q) */
#define AB_QUANTILES(X) \
    X("p50", 0.50) X("p90", 0.90) X("p99", 0.99) X("p99.5", 0.995) X("p99.9", 0.999) \
    X("p99.99", 0.9999)
enum { AB_QUANTILE_COUNT = 6 };
extern const char *const ab_quantile_names[AB_QUANTILE_COUNT];
extern const double ab_quantile_values[AB_QUANTILE_COUNT];
#define AB_QUANTILE_MIN_SAMPLES_BEHIND 10

/* Pseudo kind of a result that covers all ops of a phase. */
#define AB_OP_ALL AB_OP_KIND_COUNT
const char *ab_result_op_name(unsigned op); /* "alloc" … "reset", "all" */

struct ab_worst_op {
    double ns;
    uint32_t position; /* index in the tape */
    uint64_t size;
};

#define AB_RESULT_WORST_MAX 16

/* One back end × phase × op × block. */
struct ab_result {
    uint32_t backend;    /* index in ab_session.backends */
    const char *phase;
    unsigned op;         /* enum ab_op_kind, or AB_OP_ALL */
    uint32_t block;
    /* latency pass; for `all` a thinned sample in which every op is equally likely */
    uint64_t n, overflow;
    double quantiles[AB_QUANTILE_COUNT];
    double min, mean;
    double max;          /* over latency and tail pass */
    struct ab_hdr *hdr;  /* in ns; owned by the session; never NULL */
    /* throughput pass: `all` only, else NaN / 0 */
    uint64_t n_ops;
    double ns_per_op, ops_per_s, cpu_ns_per_op, latency_pass_ns_per_op;
    uint64_t faults_minor, switches_involuntary, n_unsupported;
    /* tail pass: every op */
    uint64_t tail_n, tail_over_100ns, tail_over_1us, tail_over_10us, tail_over_100us;
    uint32_t n_worst;
    struct ab_worst_op worst[AB_RESULT_WORST_MAX]; /* slowest first */
};

/* The price of the harness on this tape: the null back end, per phase and boundary. */
struct ab_null_cost {
    const char *phase;
    const char *boundary;
    uint32_t block;
    uint64_t n_ops;
    double ns_per_op, latency_pass_ns_per_op, floor_ns;
};

struct ab_host { /* what makes numbers comparable; "" = unknown */
    char cpu[128], kernel[128], libc[64], governor[32], virt[32], thp[32], aslr[16], os[64];
    uint32_t cpus_online, cpus_allowed;
    uint64_t memory_bytes, page_bytes;
    double load_1min;
    char fingerprint[65]; /* sha256 of cpu, cpus, kernel, libc: same value, comparable machine */
};

struct ab_block {
    uint32_t index;
    const uint32_t *order; /* n_order back ends in the order they ran */
    uint32_t n_order;
};

struct ab_session { /* everything about one command's measurements */
    const char *kind;         /* "workload" or "trace" */
    const char *name;         /* workload's name, or the trace's file name */
    const char *about;        /* "" = none */
    const char *config_path, *config_sha256, *config_text; /* text "" for traces */
    const char *tape_sha256;
    const char *const *settings; /* "reps=5", "set n=100", … ends with NULL */
    uint64_t seed;
    uint32_t n_blocks_planned;
    bool is_complete;
    struct ab_facts facts;
    uint32_t n_slots;
    uint64_t n_tape_ops;
    struct ab_host host;
    const char *command_line;
    struct {
        const char *source;  /* "rdtsc/rdtscp" */
        double ns_per_tick, quantum_ns;
        double floor_ns;     /* p50 of an empty op, in situ; NaN = not measured */
        double window_ns;    /* unused yet, NaN */
    } timer;
    struct ab_backend_info *backends;
    uint32_t n_backends;
    struct ab_block *blocks;
    uint32_t n_blocks;
    struct ab_result *results;
    uint32_t n_results;
    struct ab_null_cost *nulls;
    uint32_t n_nulls;
    uint32_t cap_results, cap_nulls, cap_blocks;
    const char *const *phases; /* names of the measured phases, in order */
    uint32_t n_phases;
    int32_t cpu; /* lane 0 ran here, -1 = not pinned */
};

/* min(quantile rule): value of q from hdr in ns, or NaN when n·(1−q) < 10. */
double ab_result_quantile(const struct ab_hdr *hdr, double q);

#endif
