/* SPDX-License-Identifier: MIT
 *
 * Runs one case in one pass in a fresh worker. The outcome is the worker's report and the fate of
 * the process. Nothing in the report is trusted unless the status is ok.
 */
#ifndef AB_RUNNER_RUN_H
#define AB_RUNNER_RUN_H

#include "base/clock.h"
#include "base/rng.h"
#include "core/status.h"
#include "placement/placement.h"
#include "result/result.h"
#include "result/verify_record.h"
#include "tape/tape_file.h"
#include "wire/memory_report.h"
#include "wire/pins_report.h"
#include "wire/run_page.h"

#include <pthread.h>

/* Counting of a worker's system calls by kind and phase, as the kernel reports them
 * (seccomp_unotify(2)). The worker waits until each is counted, so such a run is never timed. It
 * needs no privileges. */

/* Kinds that are counted separately. X(name); the last is all others except readings of clocks. */
#define AB_CALL_KINDS(X) X(mmap) X(munmap) X(mremap) X(brk) X(madvise) X(futex) X(other)
enum ab_call_kind {
#define X(name) AB_CALL_##name,
    AB_CALL_KINDS(X)
#undef X
        AB_CALL_KIND_COUNT
};

struct ab_call_counts { /* initialize with zeroes */
    uint64_t n[AB_PHASES_MAX][AB_CALL_KIND_COUNT];
    /* the worker sent the listener (seccomp_unotify); otherwise there are no counts */
    bool has_listener;
    /* private */
    int ends[2]; /* ends[0]: this process's end of the channel; ends[1]: the worker's */
    pthread_t thread;
    bool is_running, is_over; /* is_over is accessed atomically */
    const volatile struct ab_run_report *report;
};

/* Returns the kind of a system call by its number; AB_CALL_KIND_COUNT = not counted. */
enum ab_call_kind ab_call_kind_of(int number);

/* A case is one back end with its settings, ready to run. */

struct ab_case {
    enum ab_source source;
    enum ab_boundary boundary;
    const char *path;    /* path of the library or plug-in; NULL = neither */
    uint64_t dev, ino;   /* device and inode of `path` */
    const char *builtin; /* name of a built-in allocator; NULL = not built in */
    uint64_t values[AB_PARAMS_MAX];
    const char *prefix, *params; /* as in struct ab_run_request; NULL = "" */
    enum ab_decorator decorator;
    /* the heaps, for AB_BOUNDARY_PLACED; otherwise NULL */
    const struct ab_placement *placement;
    const struct ab_placement *null_placement; /* the same placement with heaps that do nothing */
    uint64_t fault_n;                          /* AB_DECORATOR_FAULT only */
    uint64_t purge_ns;                         /* as in struct ab_run_request */
    /* aged heap to make before the work; occupancy 0 = none */
    struct ab_aging_request aging;
    /* "VARIABLE=VALUE" to set for the worker; ends with NULL */
    const char *env[9];
};

/* Name of an owner of a tape's blocks, for the memory pass by owner (wire/pins_report.h). */
struct ab_owner_name {
    char function[128], file[128]; /* as in struct ab_pin */
    uint32_t line;
};
struct ab_owner_moment { /* additional moment at which the pages are attributed to owners */
    uint32_t position;
    char name[sizeof((struct ab_pin *)0)->at];
};
struct ab_owners {
    /* descriptor of the file of owners, passed as AB_WORKER_FD_OWNERS; 0 = the owners are size
     * classes */
    int fd;
    uint32_t n;                        /* number of owners */
    const struct ab_owner_name *names; /* n names */
    enum ab_pin_group group;
    struct ab_owner_moment moments[AB_PINS_ASKED_MOST];
    uint32_t n_moments;
    /* n_stacks, map_at: as in struct ab_pins_report. take_stack (may be NULL) is called for each
     * stack that has blocks, with the external bytes at the moment when these were highest. It is
     * called in the first run of the first back end only */
    uint32_t n_stacks;
    uint64_t map_at;
    void (*take_stack)(void *user, uint32_t stack, uint64_t external);
    void *user;
};

struct ab_run_context { /* settings that are the same for all runs of a session */
    const struct ab_tape_map *tape;
    const char *worker_path;
    struct ab_clock clock;
    const int *cpus; /* lane l is pinned to cpus[l mod n_cpus]; n_cpus = 0: not pinned */
    uint32_t n_cpus;
    /* not NULL if there is one lane: throughput and latency passes then run in slices on the
     * quietest CPU */
    struct ab_quiet *quiet;
    uint32_t slice_ops; /* number of ops in a slice; 0 = AB_SLICE_OPS */
    uint32_t between;   /* latency pass: as in struct ab_run_request */
    bool is_strict;     /* lanes take turns in the exact order; latencies are not measured */
    bool is_thp_off;
    uint64_t timeout_ns; /* time limit of a run; 0 = derived from the estimated time */
    uint64_t memory_limit_bytes;
    uint64_t drain_ns;               /* memory pass: how long to wait for memory to be
                                            returned */
    struct ab_verify_request verify; /* request for AB_PASS_CHECK */
    /* for AB_PASS_VERIFY: number of ops of the tape; 0 = AB_VERIFY_OPS */
    uint32_t verify_ops;
    /* memory pass of work with times: replay this many times as fast as recorded; 0 = use the
     * virtual clock */
    uint32_t pace;
    const char *clock_path;         /* library of the virtual clock */
    const struct ab_owners *owners; /* memory pass: owners of the blocks; NULL = none */
    /* memory pass: positions of the footprint's peaks; NULL = this run finds them */
    const struct ab_memory_marks *marks;
    /* for AB_PASS_INSTRUCTIONS: program that runs the worker, as in struct ab_spawn; NULL = none */
    const char *const *under;
    enum ab_counter counter; /* counter for AB_PASS_INSTRUCTIONS */
    /* for AB_PASS_SYSTEM_CALLS: destination of the counts; NULL = other passes */
    struct ab_call_counts *calls;
};

struct ab_outcome {
    enum ab_backend_status status;
    char reason[1024]; /* why the status is not ok; "" if it is */
    struct ab_crash_text crash;
    int wait_status; /* wait status of the process */
    char note[256];  /* first line that the worker wrote to stderr; "" = none */
    /* memory shared with the worker; has the report, and after it the positions and ticks */
    struct ab_run_page *page;
    size_t run_bytes;
    uint32_t *positions;
    const uint32_t *ticks;
    const uint8_t *classes;
    const struct ab_slice *slices; /* report.slices.n slices, at most cap_slices */
    uint32_t cap_slices;
    /* kind of op of each sample; owned; a private copy that the worker cannot change */
    uint8_t *kinds;
    bool *is_quiet; /* owned; for each sample, true if its slice was quiet; NULL = not known */
    struct ab_memory_report *memory;  /* report of the memory pass; NULL = another pass */
    uint32_t cap_memory_samples;      /* capacity of memory->samples */
    const struct ab_memory_row *rows; /* memory->n_rows rows, at most cap_rows */
    uint32_t cap_rows;
    const struct ab_pins_report *pins; /* report of a memory pass with owners; NULL = none */
    /* AB_PASS_TAIL: one for each iteration of the tape; NULL = none */
    const struct ab_iteration *iterations;
    uint32_t n_samples, cap_samples;
};

/* Returns the number of slices that the worker reports. The number is at most cap_slices, because
 * the worker is not trusted. */
static inline uint32_t ab_outcome_slices(const struct ab_outcome *run)
{
    uint32_t n = run->page->report.slices.n;
    return n < run->cap_slices ? n : run->cap_slices;
}

/* Runs a case in a worker. Returns AB_OK even if the back end failed (see out->status).
 * AB_INTERRUPTED and AB_SYSTEM end the session. After AB_OK always call ab_outcome_fini. */
enum ab_status ab_run(const struct ab_run_context *context, const struct ab_case *c,
                      enum ab_pass pass, struct ab_rng *rng, struct ab_outcome *out,
                      struct ab_err *err);
/* Runs a case in this process, which becomes the worker, for a debugger. Returns only on
 * failure. */
enum ab_status ab_run_alone(const struct ab_run_context *context, const struct ab_case *c,
                            enum ab_pass pass, struct ab_err *err);
/* Writes the kinds of ops in `used` that are not in `hooks` to buf, as "cannot resize, access".
 * Both are bits 1 << AB_OP_…. If there are none, returns false and leaves buf unchanged. A reset
 * needs no hook, because blocks can be freed one by one. */
bool ab_run_missing(uint32_t used, uint32_t hooks, char *buf, size_t cap);

/* Returns the null back end with the harness of a case. */
struct ab_case ab_run_null_case(const struct ab_case *of);

void ab_outcome_fini(struct ab_outcome *out);

/* Number of ops that the pre-flight covers. */
#define AB_VERIFY_OPS 20000

#endif
