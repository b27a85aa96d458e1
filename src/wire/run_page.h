/* SPDX-License-Identifier: MIT
 *
 * One run, as parent and worker exchange it: two shared mappings and a state machine.
 *
 *   tape file   read-only for the worker: struct ab_tape_image, then the bursts, then data that all
 *               bursts share. Made once, mapped by every run of the case. A tape that is held whole
 *               is a sealed memfd with one burst. A longer tape is a file without a name, whose
 *               bursts are read into memory one after the other.
 *   run memfd   read-write: struct ab_run_page (request from the parent, report from the worker),
 *               then the sample positions (parent), the sample ticks and size classes (worker).
 *
 * Everything here is plain data of fixed layout, so that the worker needs no parser. The parent
 * trusts nothing that comes back beyond bounds that it checks itself.
 */
#ifndef AB_WIRE_RUN_PAGE_H
#define AB_WIRE_RUN_PAGE_H

#include "allocators/ab_backend.h"
#include "base/aging.h"
#include "base/bits.h"
#include "base/limits.h"
#include "tape/tape_image.h"
#include "wire/crash_report.h"
#include "wire/kinds.h"
#include "wire/placement_file.h"

#include <stdint.h>

/* ---- one check of `allocbench verify` ---- */

enum ab_verify_answer {
    AB_ANSWER_NONE, /* the check did not finish */
    AB_ANSWER_PASS,
    AB_ANSWER_SKIPPED, /* not applicable here; `text` says why */
    AB_ANSWER_INFO,    /* `text` describes the behavior: neither right nor wrong */
    /* informational check, but `text` contradicts a trait that the back end claims */
    AB_ANSWER_BROKEN,
};

struct ab_verify_request {
    uint32_t check; /* index in ab_checks */
    uint32_t reserved;
    uint64_t seed;
};

struct ab_verify_report {
    uint32_t answer;
    uint32_t n_live; /* live blocks when a NULL ended the check */
    uint64_t work;   /* amount in the check's own unit; too little work proves nothing */
    char text[160];
};

/* A slice is a stretch of the tape between two fixed positions, which are the same for every back
 * end and every run. The throughput and the latency pass of one lane time each slice by itself.
 * Between slices the worker reads the canary, outside of the measured time. */

struct ab_slice {
    uint64_t ticks;         /* 0 = a reset skipped the whole slice */
    uint16_t before, after; /* canary readings at its begin and its end */
    uint32_t phase;
    uint32_t samples_end; /* LATENCY: index of the first sample after the slice */
    uint32_t n_preempted; /* LATENCY: how often the thread was preempted in the slice */
};

/* Ops of a slice: the usual number, unless a long tape would then have more than AB_SLICES_MAX
 * slices, and the least. */
enum { AB_SLICE_OPS = 4096, AB_SLICE_OPS_MIN = 64, AB_SLICES_MAX = 1 << 16 };

struct ab_slice_request {
    uint64_t offset;   /* offset in the run memfd of an array of `cap` slices */
    uint32_t cap, ops; /* cap 0 = no slices */
    uint16_t quiet;    /* lowest canary reading so far; 0 = not known */
    uint16_t reserved0;
    uint32_t reserved1;
    uint64_t wait_max_ticks; /* most time to wait for a quiet machine in one run */
    uint32_t wait_times; /* also a limit: at most this multiple of the time of the slices so far */
    uint32_t reserved2;
};

struct ab_slice_report {
    uint32_t n, reserved;
    uint64_t waited_ticks; /* time spent waiting for a quiet machine */
    uint64_t n_gaps;       /* canary readings during which something else had the CPU */
};

/* Wrappers between the tape and the allocator. They are never used when anything is timed. */
enum ab_decorator {
    AB_DECORATOR_NONE,
    AB_DECORATOR_CHECKED, /* checks every call, with any number of lanes */
    AB_DECORATOR_FAULT,   /* the n-th allocation fails */
};

/* Counter that AB_PASS_INSTRUCTIONS uses. */
enum ab_counter {
    AB_COUNTER_CALLGRIND, /* the worker runs in callgrind, which writes a count after each phase */
    AB_COUNTER_CPU,       /* the processor's counter instructions:u */
};

/* Progress of the worker; it only grows. The parent classifies a death by it. */
enum ab_worker_state {
    AB_WORKER_NONE,       /* died before main: exec failed, or a constructor crashed */
    AB_WORKER_STARTED,    /* main has begun */
    AB_WORKER_IDENTIFIED, /* the functions under test are proven to be those requested */
    AB_WORKER_OPENED,     /* the heap is open and the memory pre-faulted */
    AB_WORKER_RUNNING,
    AB_WORKER_DONE,
    AB_WORKER_FAILED, /* `failure` says why */
};

enum ab_failure {
    AB_FAILURE_NONE,
    AB_FAILURE_LIBRARY, /* another library than requested, or not usable as one */
    AB_FAILURE_OPEN,    /* the back end's open failed */
    AB_FAILURE_NULL,    /* an allocation returned NULL, but the work needs a block */
    AB_FAILURE_CHECK,   /* wrong alignment, contents or zeroing */
    AB_FAILURE_SYSTEM,  /* the worker could not map memory or pin a thread */
};

#define AB_TEXT_MAX 512

/* Value of `between` for a cache disturbance of n function calls; the block that the op frees or
 * resizes is read afterwards. A `between` of 0 means no disturbance. */
#define AB_BETWEEN(n) ((uint32_t)(n) + 1)
#define AB_BETWEEN_NS 50 /* about the time of one such function, whose branches mispredict */

struct ab_run_request {
    uint32_t pass, boundary, source;
    uint32_t is_strict; /* 1 = lanes take turns in the exact global order; never while timing */
    /* 1 = threads do not end: null back end, where thread ends are in no measured time */
    uint32_t keeps_threads;
    uint32_t n_cpus; /* lane l is pinned to cpus[l mod n_cpus]; 0 = not pinned */
    int32_t cpus[AB_LANES_MAX];
    uint64_t want_dev, want_ino; /* identity of the preloaded or plug-in file, else 0 */
    char builtin[65];
    char path[4096]; /* plug-in: file to dlopen */
    char prefix[32];
    /* plug-in: "PARAM=VALUE:…", for its own table. Prefix: functions to call first, "A+B"; "" =
     * PREFIXinit, if it exists; "none" */
    char params[256];
    uint64_t values[AB_PARAMS_MAX];
    uint32_t n_samples; /* LATENCY: number of positions, and of ticks */
    uint32_t verify_ops;
    uint64_t tail_ticks; /* TAIL: threshold of a slow op; below, thresholds of 1, 10 and 100 us */
    uint64_t tail_1us_ticks, tail_10us_ticks, tail_100us_ticks;
    uint64_t look_ticks; /* LATENCY, TAIL: from this duration on, preemption is checked for */
    uint64_t positions_offset, ticks_offset, classes_offset; /* offsets in the run memfd */
    uint64_t memory_offset; /* MEMORY: struct ab_memory_report, else 0 */
    uint64_t rows_offset;   /* MEMORY of a tape with times: struct ab_memory_row, else 0 */
    uint32_t cap_rows, reserved_rows;
    uint64_t pins_offset;       /* MEMORY: struct ab_pins_report, else 0 */
    uint64_t iterations_offset; /* TAIL of a tape with iterations: struct ab_iteration, else 0 */
    struct ab_verify_request verify; /* CHECK */
    uint32_t decorator;              /* enum ab_decorator */
    uint32_t counter;                /* INSTRUCTIONS: enum ab_counter */
    uint64_t fault_n;                /* FAULT: number of the call that fails, from 1 */
    uint64_t run_bytes;              /* size of the run memfd */
    uint32_t is_alone;               /* 1 = no parent reads the report: it goes to standard error */
    uint32_t between; /* LATENCY: cache disturbance before each timed op; see AB_BETWEEN */
    struct ab_slice_request slices; /* THROUGHPUT, and LATENCY of one lane */
    uint64_t purge_ns;              /* period of the purges, in the work's time; 0 = none */
    struct ab_aging_request aging;  /* aged heap: made before the first op of what is measured */
};

struct ab_identity { /* the library that really served the ops */
    uint64_t dev, ino;
    char path[4096];
    char build_id[41]; /* hex, "" = none */
};

struct ab_worst {
    uint64_t ticks, size; /* `size`: of the op, or of the block that it frees */
    uint32_t position;    /* index of the op in the tape */
    uint32_t reserved;
};

struct ab_tail {
    uint64_t n; /* ops timed */
    uint64_t n_slow, n_1us, n_10us, n_100us;
    uint64_t max_ticks;
    uint32_t n_worst;
    uint32_t reserved;
    /* Ops during which the thread was preempted; they count in `n`, but in no other field above.
     * Set by LATENCY too. */
    uint64_t n_scheduler, scheduler_max_ticks;
    /* Preempted ops by the least CPU time that each used, and the most of these times. */
    uint64_t n_least_1us, n_least_10us, n_least_100us, max_least_ns;
    struct ab_worst worst[AB_WORST_MAX]; /* the slowest ops, unsorted */
};

struct ab_iteration {     /* one iteration of a lane; accesses are not calls */
    uint64_t ticks;       /* time of the timed calls, timing overhead included */
    uint32_t n_calls;     /* timed calls; frees that a bulk reset spares do not count */
    uint32_t n_scheduler; /* further calls, during which the thread was preempted */
};

/* sums over all lanes, except: wall_ticks, path_ticks, begin_tick and end_tick span the lanes;
 * process_cpu_ns is that of the whole process; is_crowded and live_peak_blocks are those of the
 * whole phase; maxima are the maximum of all lanes */
struct ab_phase_report {
    uint64_t wall_ticks; /* first lane's begin to last lane's end */
    uint64_t begin_tick, end_tick;
    uint64_t lane_ticks;     /* time of the lanes, waits included */
    uint64_t wait_ticks;     /* part of lane_ticks: waiting for other lanes */
    uint64_t awake_ticks;    /* part of wait_ticks: spinning awake */
    uint64_t asleep_cpu_ns;  /* CPU time of falling asleep and waking up; 0 unless is_crowded */
    uint64_t thread_cpu_ns;  /* CPU time of the lanes */
    uint64_t process_cpu_ns; /* CPU time of the lanes and of threads that the allocator started */
    /* part of lane_ticks that is not measured: between slices, AB_TOUCH_APART, thread ends */
    uint64_t outside_ticks;
    uint64_t canary_ticks;   /* CPU time within outside_ticks; if is_crowded see outside_cpu_ns */
    uint64_t outside_cpu_ns; /* CPU time of AB_TOUCH_APART; 0 unless is_crowded */
    /* part of wall_ticks that is not measured, on the path of the lane that ends last */
    uint64_t path_ticks;
    uint64_t faults_minor, faults_major, switches_involuntary;
    /* Threads that ended, and the ticks from the last op of each to the first op of its successor.
     * The ticks are part of lane_ticks, and also of outside_ticks unless the phase has `renew`. */
    uint64_t n_thread_ends, thread_end_ticks;
    /* calls of malloc_trim, and those that the library implements */
    uint64_t n_trims, n_trims_done;
    uint64_t is_crowded;       /* 1 = more lanes were busy than there are CPUs */
    uint64_t live_peak_blocks; /* TAIL with several lanes: most live blocks at once; else 0 */
    uint64_t instructions;     /* INSTRUCTIONS with AB_COUNTER_CPU; AB_NOT_COUNTED = not known */
    struct ab_tail tail[AB_OP_KIND_COUNT]; /* TAIL; LATENCY: only the preempted ops */
};

struct ab_library_report { /* one heap of a placement; "" = not known */
    char version[64];
    char build_id[41];
};

struct ab_run_report {
    uint32_t state, failure;
    char reason[AB_TEXT_MAX];
    uint32_t burst;  /* index of the running burst */
    uint32_t inside; /* atomic; SYSTEM_CALLS: number of lanes inside a measured phase */
    uint32_t phase;  /* index of the running phase */
    uint32_t op;     /* running op of lane 0 in its burst, as exact as op_granularity */
    /* 1, or the chunk size of loops that note only each chunk's first op */
    uint32_t op_granularity;
    uint32_t reserved0;
    uint64_t traits; /* traits of a heap back end */
    uint32_t hooks;  /* bit 1 << AB_OP_… for each kind of op it can serve */
    uint32_t n_cpus; /* CPUs that the lanes share */
    /* MALLOC with VERIFY or the null: resident memory before the work, of files and private; 0 =
     * not known */
    uint64_t start_file_bytes, start_private_bytes;
    char version[64];                /* the library's own version string; "" = none */
    uint32_t lane_ops[AB_LANES_MAX]; /* `op` of the other lanes */
    struct ab_identity identity;
    struct ab_library_report libraries[AB_PLACEMENT_HEAPS_MAX]; /* PLACED: one for each heap */
    struct ab_verify_report verify;                             /* CHECK */
    struct ab_slice_report slices;
    struct ab_aging_count aging;
    char caveat[160];    /* VERIFY: a defect that this work does not meet; "" = none */
    char sized_free[48]; /* malloc's function for sized frees; "" = the tape has none */
    struct ab_phase_report phases[AB_PHASES_MAX];
    struct ab_call_log calls;     /* CHECK, VERIFY, and any pass with a decorator */
    struct ab_crash_report crash; /* filled by the handler of a deadly signal */
};

#define AB_NOT_COUNTED UINT64_MAX

#define AB_RUN_MAGIC 0x31754241u /* "ABu1"; checks that parent and worker are from the same build */
struct ab_run_page {
    uint32_t magic, size;
    struct ab_run_request request;
    struct ab_run_report report;
};

/* File descriptors that the worker inherits, besides /dev/null as 0 and a capture as 1 and 2. */
#define AB_WORKER_FD_TAPE 3
#define AB_WORKER_FD_RUN 4
/* SYSTEM_CALLS: a socket, to which the worker sends one byte with the notification descriptor of
 * its seccomp filter (seccomp_unotify(2)). System calls with this number as sixth argument are not
 * notified. */
#define AB_WORKER_FD_CALLS 6
/* PLACED: file with struct ab_placement_image */
#define AB_WORKER_FD_PLACEMENT 7
/* MEMORY with pins by file: the owner of the block, 32 bits for each allocation and resize of the
 * tape, refused ones included, in the common order of the lanes. */
#define AB_WORKER_FD_OWNERS 8
/* Special values of a sample, which is stored as ticks + 1 because a coarse counter may read 0. 0 =
 * not timed. OVERFLOW = too long to be stored. SCHEDULER = the thread was preempted during the
 * op. */
#define AB_TICKS_OVERFLOW UINT32_MAX
#define AB_TICKS_SCHEDULER (UINT32_MAX - 1)

/* Returns the size class c of an op, (2^(c − 1), 2^c] bytes; class 0 has sizes 0 and 1. (The
 * classes of `trace info` keep 0 apart from 1.) */
static inline unsigned ab_size_class_log2(uint64_t size)
{
    return ab_log2_up(size);
}

#endif
