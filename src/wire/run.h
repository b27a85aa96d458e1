/* SPDX-License-Identifier: MIT
 *
 * One run, as parent and worker see it: two shared mappings and a state machine.
 *
 *   tape file   read-only for the worker: struct ab_tape_image, then the bursts, then what is known
 *               of them all. Made once, mapped by every run of the case. A tape that is held whole is
 *               a sealed memfd with one burst; one that is longer than that a file without a name,
 *               whose bursts are brought into memory one after the other.
 *   run memfd   read-write: struct ab_run_page (request from the parent, report from the worker),
 *               then the sample positions (parent), the sample ticks and size classes (worker).
 *
 * Everything here is plain data of fixed layout, so that the worker needs no parser; the parent
 * trusts nothing that comes back beyond bounds it checks itself.
 */
#ifndef AB_WIRE_RUN_H
#define AB_WIRE_RUN_H

#include "allocators/ab_backend.h"
#include "base/bits.h"
#include "base/limits.h"
#include "base/litter.h"
#include "tape/tape_image.h"
#include "wire/crash.h"
#include "wire/kinds.h"
#include "wire/placement.h"

#include <stdint.h>

/* One check of `allocbench verify`, as parent and worker see it: what is asked for, what came out. */

enum ab_verify_answer {
    AB_ANSWER_NONE, /* the check did not come to its end */
    AB_ANSWER_PASS,
    AB_ANSWER_SKIPPED, /* has nothing to check here; `text` says why */
    AB_ANSWER_INFO,    /* `text` says how it behaves: neither right nor wrong */
    AB_ANSWER_BROKEN,  /* informational, but the back end claims otherwise than `text` */
};

struct ab_verify_request {
    uint32_t check; /* index in ab_checks */
    uint32_t reserved;
    uint64_t seed;
};

struct ab_verify_report {
    uint32_t answer;
    uint32_t n_live; /* blocks live at a NULL that ended the check */
    uint64_t work;   /* of the check's unit; below its floor nothing is proven */
    char text[160];
};

/* The throughput and the latency pass of one lane in slices: stretches of the tape between fixed positions, the same
 * for every back end and every run, each timed by itself, with a reading of the canary between them
 * that is not counted. */

struct ab_slice {
    uint64_t ticks;         /* 0: a reset passed over it */
    uint16_t before, after; /* of the canary, as it was when the slice began and ended */
    uint32_t phase;
    uint32_t samples_end; /* LATENCY: index of the first sample after it */
    uint32_t n_preempted; /* LATENCY: how often the scheduler gave the CPU away in it */
};

/* Ops a slice: most, unless a tape is so long that there would be too many slices; and least. */
enum { AB_SLICE_OPS = 4096, AB_SLICE_OPS_MIN = 64, AB_SLICES_MAX = 1 << 16 };

struct ab_slice_request {
    uint64_t offset;   /* in the run memfd, of cap slices */
    uint32_t cap, ops; /* cap 0 = no slices */
    uint16_t quiet;    /* least reading of the canary so far, 0 = not known */
    uint16_t reserved0;
    uint32_t reserved1;
    uint64_t wait_max_ticks; /* for quiet, in one run */
    uint32_t wait_times;     /* and no longer than so many times what the slices took so far */
    uint32_t reserved2;
};

struct ab_slice_report {
    uint32_t n, reserved;
    uint64_t waited_ticks; /* for quiet */
    uint64_t n_gaps;       /* readings in which something else had the CPU */
};

/* What stands between the tape and the allocator: never for anything that is timed. */
enum ab_decorator {
    AB_DECORATOR_NONE,
    AB_DECORATOR_CHECKED, /* proves every call, of any number of lanes */
    AB_DECORATOR_FAULT,   /* the n-th allocation fails */
};

/* Who counts in AB_PASS_INSTRUCTIONS. */
enum ab_counter {
    AB_COUNTER_CALLGRIND, /* the worker runs in it, and has it write a count after each phase */
    AB_COUNTER_CPU,       /* the processor: instructions:u */
};

/* How far the worker came; only grows. The parent classifies a death by it. */
enum ab_worker_state {
    AB_WORKER_NONE,       /* exec not reached, or died in a constructor */
    AB_WORKER_STARTED,    /* main reached */
    AB_WORKER_IDENTIFIED, /* the functions are those asked for */
    AB_WORKER_OPENED,     /* heap open, memory pre-faulted */
    AB_WORKER_RUNNING,
    AB_WORKER_DONE,
    AB_WORKER_FAILED, /* `failure` says why */
};

enum ab_failure {
    AB_FAILURE_NONE,
    AB_FAILURE_LIBRARY, /* not the library asked for, or not usable as one */
    AB_FAILURE_OPEN,    /* the back end's open refused */
    AB_FAILURE_NULL,    /* an allocation returned NULL where the work needs a block */
    AB_FAILURE_CHECK,   /* wrong alignment, content, zeroing */
    AB_FAILURE_SYSTEM,  /* the worker could not map or pin */
};

#define AB_TEXT_MAX 512

/* `between` of n functions of other code, after which the block that the op frees or resizes is read;
 * 0 = neither. */
#define AB_BETWEEN(n) ((uint32_t)(n) + 1)
#define AB_BETWEEN_NS 50 /* what one takes, about: its branches are not predicted */

struct ab_run_request {
    uint32_t pass, boundary, source;
    uint32_t is_strict;     /* lanes take turns in the exact global order: never for timing */
    uint32_t keeps_threads; /* no thread ends: of the null back end, where ends are in no time */
    uint32_t n_cpus;        /* lane l is pinned to cpus[l mod n_cpus]; 0 = not pinned */
    int32_t cpus[AB_LANES_MAX];
    uint64_t want_dev, want_ino; /* of the preloaded or plug-in file, else 0 */
    char builtin[65];
    char path[4096]; /* plug-in: what to dlopen */
    char prefix[32];
    char params[256]; /* plug-in: "PARAM=VALUE:…", for its own table; with a prefix: functions to
                         call first, "A+B"; "" = PREFIXinit, if there is one; "none" */
    uint64_t values[AB_PARAMS_MAX];
    uint32_t n_samples; /* LATENCY: entries of positions and ticks so far */
    uint32_t verify_ops;
    uint64_t tail_ticks; /* TAIL: what counts as slow; also 1, 10 and 100 us */
    uint64_t tail_1us_ticks, tail_10us_ticks, tail_100us_ticks;
    uint64_t look_ticks; /* LATENCY, TAIL: what takes so long may have been the scheduler's */
    uint64_t positions_offset, ticks_offset, classes_offset; /* in the run memfd */
    uint64_t memory_offset; /* MEMORY: struct ab_memory_report, else 0 */
    uint64_t rows_offset;   /* MEMORY of a tape with times: struct ab_memory_row, else 0 */
    uint32_t cap_rows, reserved_rows;
    uint64_t pins_offset;       /* MEMORY: struct ab_pins_report, else 0 */
    uint64_t iterations_offset; /* TAIL of a tape with iterations: struct ab_iteration, else 0 */
    struct ab_verify_request verify; /* CHECK */
    uint32_t decorator;              /* enum ab_decorator */
    uint32_t counter;                /* INSTRUCTIONS: enum ab_counter */
    uint64_t fault_n;                /* FAULT: this call fails, counted from 1 */
    uint64_t run_bytes;              /* size of the run memfd */
    uint32_t is_alone; /* no parent reads the report: the end is reported on standard error */
    uint32_t between;  /* LATENCY: other code that runs before a timed op; see AB_BETWEEN */
    struct ab_slice_request slices; /* THROUGHPUT, LATENCY of one lane */
    uint64_t
        purge_ns; /* of the work's time: so often the library is told to give memory back; 0 = never */
    struct ab_litter_request litter; /* made before the first op of what is measured */
};

struct ab_identity { /* what really served the ops */
    uint64_t dev, ino;
    char path[4096];
    char build_id[41]; /* hex, "" = none */
};

struct ab_worst {
    uint64_t ticks, size; /* of a free: of the block */
    uint32_t position;    /* index of the op in the tape */
    uint32_t reserved;
};

struct ab_tail {
    uint64_t n; /* ops seen */
    uint64_t n_slow, n_1us, n_10us, n_100us;
    uint64_t max_ticks;
    uint32_t n_worst;
    uint32_t reserved;
    /* Ops during which the scheduler gave the CPU away: in nothing of the above but n. LATENCY too. */
    uint64_t n_scheduler, scheduler_max_ticks;
    /* Of these, by the CPU time that each used at least; and the most of it. */
    uint64_t n_least_1us, n_least_10us, n_least_100us, max_least_ns;
    struct ab_worst worst[AB_WORST_MAX]; /* in no order */
};

struct ab_iteration {     /* of a lane; its calls of the allocator, accesses are none */
    uint64_t ticks;       /* that they took, what timing them takes included */
    uint32_t n_calls;     /* timed: frees that a bulk reset spares are none */
    uint32_t n_scheduler; /* of further calls: the scheduler gave the CPU away */
};

struct ab_phase_report { /* over all lanes: sums, but for wall_ticks and process_cpu_ns */
    uint64_t wall_ticks; /* first lane's begin to last lane's end */
    uint64_t begin_tick, end_tick;
    uint64_t lane_ticks;     /* what the lanes took, waits included */
    uint64_t wait_ticks;     /* of these, waiting for other lanes */
    uint64_t awake_ticks;    /* of these, awake */
    uint64_t asleep_cpu_ns;  /* CPU time of falling asleep and waking up; 0 but for is_crowded */
    uint64_t thread_cpu_ns;  /* of the lanes */
    uint64_t process_cpu_ns; /* of these and of threads that the allocator started */
    uint64_t outside_ticks; /* of lane_ticks, between slices, for AB_TOUCH_APART, ends of threads */
    uint64_t canary_ticks;  /* of these, CPU time; but for is_crowded, where ticks pass without: */
    uint64_t outside_cpu_ns; /* CPU time for AB_TOUCH_APART; 0 but for is_crowded */
    uint64_t path_ticks;     /* of wall_ticks, as outside_ticks: on the path that ends last */
    uint64_t faults_minor, faults_major, switches_involuntary;
    /* Threads that ended; of lane_ticks, from the last op of each to the first of the one that goes on
     * with its lane. These ticks are also in outside_ticks, unless the phase has `renew`. */
    uint64_t n_thread_ends, thread_end_ticks;
    uint64_t n_trims, n_trims_done; /* calls of malloc_trim; of these, where the library has it */
    uint64_t is_crowded;            /* more lanes were busy than there are CPUs */
    uint64_t live_peak_blocks;      /* TAIL with several lanes: most blocks live at once; else 0 */
    uint64_t instructions; /* INSTRUCTIONS with AB_COUNTER_CPU; AB_NOT_COUNTED = not known */
    struct ab_tail tail[AB_OP_KIND_COUNT]; /* TAIL; LATENCY: what was the scheduler's */
};

struct ab_library_report { /* of one heap of several; "" = nothing is known */
    char version[64];
    char build_id[41];
};

struct ab_run_report {
    uint32_t state, failure;
    char reason[AB_TEXT_MAX];
    uint32_t burst;  /* running, index */
    uint32_t inside; /* atomic; SYSTEM_CALLS: lanes that are within a phase that is measured */
    uint32_t phase;  /* running, index */
    uint32_t
        op; /* of lane 0, in the burst. VERIFY, TAIL: running; else the last chunk's first op */
    uint32_t op_granularity; /* 1, or the chunk size: how exact `op` is */
    uint32_t reserved0;
    uint64_t traits; /* of a heap back end */
    uint32_t hooks;  /* bit 1 << AB_OP_… for each kind it can serve */
    uint32_t n_cpus; /* that the lanes have between them */
    /* MALLOC, VERIFY or the null: what is resident of files and in private memory before the work; 0 =
     * not known */
    uint64_t start_file_bytes, start_private_bytes;
    char version[64];                /* what the library says of itself, "" = nothing */
    uint32_t lane_ops[AB_LANES_MAX]; /* the same for the other lanes */
    struct ab_identity identity;
    struct ab_library_report libraries[AB_PLACEMENT_HEAPS_MAX]; /* PLACED: of each heap */
    struct ab_verify_report verify;                             /* CHECK */
    struct ab_slice_report slices;
    struct ab_litter_count litter;
    char caveat[160];    /* VERIFY: what it does wrong, though not in this work; "" = nothing */
    char sized_free[48]; /* the malloc's function that frees by size; "" = the tape asks for none */
    struct ab_phase_report phases[AB_PHASES_MAX];
    struct ab_call_log calls;     /* CHECK, VERIFY, and behind a decorator */
    struct ab_crash_report crash; /* a deadly signal */
};

#define AB_NOT_COUNTED UINT64_MAX

#define AB_RUN_MAGIC 0x31754241u /* "ABu1": parent and worker are of one build */
struct ab_run_page {
    uint32_t magic, size;
    struct ab_run_request request;
    struct ab_run_report report;
};

/* File descriptors the worker is born with, besides /dev/null on 0 and a capture on 1 and 2. */
#define AB_WORKER_FD_TAPE 3
#define AB_WORKER_FD_RUN 4
/* SYSTEM_CALLS: a socket, to which the worker sends one byte and the descriptor that tells of each of
 * its system calls (seccomp_unotify(2)). What has this number as its sixth argument is not told. */
#define AB_WORKER_FD_CALLS 6
/* PLACED: struct ab_placement_image. */
#define AB_WORKER_FD_PLACEMENT 7
/* MEMORY with pins by file: 32 bits for each allocation and resize of the tape, refused ones as well, in
 * the common order of the lanes: the owner of its block. */
#define AB_WORKER_FD_OWNERS 8
/* A sample is stored as its ticks + 1, because a coarse counter may well read 0; 0 = not timed,
 * UINT32_MAX = longer than can be stored: it counts as overflow. One less: the scheduler gave the CPU
 * away during the op. */
#define AB_TICKS_OVERFLOW UINT32_MAX
#define AB_TICKS_SCHEDULER (UINT32_MAX - 1)

/* Size class of an op: (2^(c − 1), 2^c] bytes; 0: sizes 0 and 1. (The classes of `trace info` keep
 * 0 apart from 1.) */
static inline unsigned ab_size_class_log2(uint64_t size)
{
    return ab_log2_up(size);
}

#endif
