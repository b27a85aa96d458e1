/* SPDX-License-Identifier: MIT
 *
 * One run: a case, a pass, a fresh worker. What comes back is the worker's report and what became
 * of the process; nothing in the report is believed unless the status says ok.
 */
#ifndef AB_RUNNER_RUN_H
#define AB_RUNNER_RUN_H

#include "base/clock.h"
#include "base/rng.h"
#include "core/status.h"
#include "placement/placement.h"
#include "result/result.h"
#include "result/verify.h"
#include "tape/tape_file.h"
#include "wire/memory_report.h"
#include "wire/pins.h"
#include "wire/run.h"

#include <pthread.h>

/* System calls of a worker by kind and phase, as the kernel reports them (seccomp_unotify(2)): the
 * worker waits for each until it was counted, so that a run in which they are counted is never one
 * that is timed. Needs no privilege. */

/* Kinds that are told apart. X(name); the last is all others but readings of clocks. */
#define AB_CALL_KINDS(X) X(mmap) X(munmap) X(mremap) X(brk) X(madvise) X(futex) X(other)
enum ab_call_kind {
#define X(name) AB_CALL_##name,
    AB_CALL_KINDS(X)
#undef X
        AB_CALL_KIND_COUNT
};

struct ab_call_counts { /* fill with zeroes */
    uint64_t n[AB_PHASES_MAX][AB_CALL_KIND_COUNT];
    bool has_listener; /* the worker's came; without it there are no counts */
    /* its own */
    int ends[2]; /* ours, the worker's */
    pthread_t thread;
    bool is_running, is_over; /* is_over: atomic */
    const volatile struct ab_run_report *report;
};

/* Kind of a system call by its number; AB_CALL_KIND_COUNT = not counted. */
enum ab_call_kind ab_call_kind_of(int number);

/* One back end with its settings, ready to be run. */

struct ab_case {
    enum ab_source source;
    enum ab_boundary boundary;
    const char *path;    /* library or plug-in; NULL else */
    uint64_t dev, ino;   /* of path */
    const char *builtin; /* name; NULL else */
    uint64_t values[AB_PARAMS_MAX];
    const char *prefix, *params; /* as in struct ab_run_request; NULL = "" */
    enum ab_decorator decorator;
    const struct ab_placement *placement;      /* of AB_BOUNDARY_PLACED: which heaps; else NULL */
    const struct ab_placement *null_placement; /* the same with heaps that do nothing */
    uint64_t fault_n;                          /* of AB_DECORATOR_FAULT */
    uint64_t purge_ns;                         /* as in struct ab_run_request */
    struct ab_litter_request litter;           /* occupancy 0 = none */
    const char *env[9];                        /* "VARIABLE=VALUE" for the worker, ends with NULL */
};

/* Who the blocks of a tape belong to, for the memory pass by owner (wire/pins.h). */
struct ab_owner_name {
    char function[128], file[128]; /* as in struct ab_pin */
    uint32_t line;
};
struct ab_owner_moment { /* at which the pages are looked at beside the moments that always are */
    uint32_t position;
    char name[sizeof((struct ab_pin *)0)->at];
};
struct ab_owners {
    int fd;                            /* AB_WORKER_FD_OWNERS; 0: owners are classes of sizes */
    uint32_t n;                        /* owners, from 0 */
    const struct ab_owner_name *names; /* n */
    enum ab_pin_group group;
    struct ab_owner_moment moments[AB_PINS_ASKED_MOST];
    uint32_t n_moments;
    uint32_t
        n_stacks;    /* as in struct ab_pins_report, and map_at; a stack with blocks is given to */
    uint64_t map_at; /* take_stack, which may be NULL: of the first back end, where it has the most
                        * external bytes */
    void (*take_stack)(void *user, uint32_t stack, uint64_t external);
    void *user;
};

struct ab_run_context { /* the same for all runs of a session */
    const struct ab_tape_map *tape;
    const char *worker_path;
    struct ab_clock clock;
    const int *cpus; /* lane l is pinned to cpus[l mod n_cpus]; n_cpus = 0: not pinned */
    uint32_t n_cpus;
    struct ab_quiet *quiet; /* not NULL: with one lane the throughput and the latency pass run in
                               slices, on the quietest CPU */
    uint32_t slice_ops;     /* ops a slice; 0 = AB_SLICE_OPS */
    uint32_t between;       /* latency pass, as in struct ab_run_request */
    bool is_strict;         /* lanes take turns in the exact order; no latencies */
    bool is_thp_off;
    uint64_t timeout_ns; /* 0 = from the estimate */
    uint64_t memory_limit_bytes;
    uint64_t drain_ns;                   /* memory pass: wait so long for memory to be given back */
    struct ab_verify_request verify;     /* CHECK */
    uint32_t verify_ops;                 /* VERIFY: how many of the tape; 0 = AB_VERIFY_OPS */
    uint32_t pace;                       /* … so many times as fast as its times; 0: virtual */
    const char *clock_path;              /* library of the virtual clock */
    const struct ab_owners *owners;      /* memory pass: of the blocks; NULL = they have none */
    const struct ab_memory_marks *marks; /* memory pass: where the peaks are; NULL = find them */
    const char *const *under;            /* INSTRUCTIONS: as in struct ab_spawn; NULL = none */
    enum ab_counter counter;             /* INSTRUCTIONS */
    struct ab_call_counts *calls;        /* SYSTEM_CALLS: where they are counted, else NULL */
};

struct ab_outcome {
    enum ab_backend_status status;
    char reason[1024]; /* "" when ok */
    struct ab_crash_text crash;
    int wait_status;          /* of the process */
    char note[256];           /* first line the worker wrote to stderr, "" = none */
    struct ab_run_page *page; /* mapped; the report within; positions and ticks after it */
    size_t run_bytes;
    uint32_t *positions;
    const uint32_t *ticks;
    const uint8_t *classes;
    const struct ab_slice *slices; /* report.slices.n, no more than cap_slices */
    uint32_t cap_slices;
    uint8_t *kinds; /* owned, ours: not for the worker to change */
    bool *is_quiet; /* owned; of each sample: its slice was; NULL = it is not known */
    struct ab_memory_report *memory;  /* memory pass, else NULL */
    uint32_t cap_memory_samples;      /* its */
    const struct ab_memory_row *rows; /* memory->n_rows, no more than cap_rows */
    uint32_t cap_rows;
    const struct ab_pins_report *pins;     /* memory pass with owners, else NULL */
    const struct ab_iteration *iterations; /* TAIL: as many as the tape has; NULL = it has none */
    uint32_t n_samples, cap_samples;
};

/* AB_OK also when the back end failed (see out->status); AB_INTERRUPTED and AB_SYSTEM end the
 * session. Always ab_outcome_fini after AB_OK. */
enum ab_status ab_run(const struct ab_run_context *context, const struct ab_case *c,
                      enum ab_pass pass, struct ab_rng *rng, struct ab_outcome *out,
                      struct ab_err *err);
/* The same in this process, which becomes the worker: for a debugger. Comes back only when it cannot. */
enum ab_status ab_run_alone(const struct ab_run_context *context, const struct ab_case *c,
                            enum ab_pass pass, struct ab_err *err);
/* Kinds of ops (bits 1 << AB_OP_…) that are used and have no hook, as "cannot resize, access" to
 * buf, which is untouched where there are none. A reset needs none: blocks are freed one by one. */
bool ab_run_missing(uint32_t used, uint32_t hooks, char *buf, size_t cap);

/* The null back end with the harness of a case. */
struct ab_case ab_run_null_case(const struct ab_case *of);

void ab_outcome_fini(struct ab_outcome *out);

/* Ops that the pre-flight covers. */
#define AB_VERIFY_OPS 20000

#endif
