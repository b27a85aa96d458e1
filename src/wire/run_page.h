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
    uint32_t n_live; /* number of live blocks when a NULL ended the check */
    uint64_t work;   /* amount in the check's own unit; too little work proves nothing */
    char text[160];
};

/* A slice is a stretch of the tape between two fixed positions, which are the same for every back
 * end and every run. With one lane, the throughput and the latency pass time each slice by itself.
 * Between slices, outside of the measured time, the worker times a short fixed loop: the canary. */

struct ab_slice {
    uint64_t ticks;         /* 0 = a reset skipped the whole slice */
    uint16_t before, after; /* canary readings at the beginning and at the end of the slice */
    uint32_t phase;
    uint32_t samples_end; /* LATENCY: index of the first sample after the slice */
    uint32_t n_preempted; /* LATENCY: how often the thread was preempted in the slice */
};

/* AB_SLICE_OPS: ops of a slice, unless a long tape would then have more than AB_SLICES_MAX slices.
 * AB_SLICE_OPS_MIN: the fewest ops of a slice. */
enum { AB_SLICE_OPS = 4096, AB_SLICE_OPS_MIN = 64, AB_SLICES_MAX = 1 << 16 };

struct ab_slice_request {
    uint64_t offset;   /* offset in the run memfd of an array of `cap` slices */
    uint32_t cap, ops; /* ops: ops of a slice; cap: 0 = no slices */
    uint16_t quiet;    /* lowest canary reading so far; 0 = not known */
    uint16_t reserved0;
    uint32_t reserved1;
    uint64_t wait_max_ticks; /* most time to wait for a quiet machine in one run */
    /* second limit of the waiting time: this multiple of the time of all slices so far */
    uint32_t wait_times;
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

/* Progress of the worker; the value only grows. It tells the parent how far a worker came that
 * died. */
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
    AB_FAILURE_LIBRARY, /* a library other than the requested one, or one that cannot be used */
    AB_FAILURE_OPEN,    /* the back end's open failed */
    AB_FAILURE_NULL,    /* an allocation returned NULL, but the work needs a block */
    AB_FAILURE_CHECK,   /* wrong alignment, contents or zeroing */
    AB_FAILURE_SYSTEM,  /* the worker could not map memory or pin a thread */
};

#define AB_TEXT_MAX 512

/* Value of `between` that calls n functions before each timed op, to disturb the caches. The block
 * that the op frees or resizes is read after these calls. A `between` of 0 means no disturbance. */
#define AB_BETWEEN(n) ((uint32_t)(n) + 1)
#define AB_BETWEEN_NS 50 /* approximate time of one of these functions, whose branches mispredict */

struct ab_run_request {
    uint32_t pass, boundary, source;
    uint32_t is_strict; /* 1 = lanes take turns in the exact global order; never while timing */
    /* 1 = lanes keep their threads where the tape ends threads; set for a null back end, because
     * the time of thread ends is in no result */
    uint32_t keeps_threads;
    uint32_t n_cpus; /* lane l is pinned to cpus[l mod n_cpus]; 0 = not pinned */
    int32_t cpus[AB_LANES_MAX];
    uint64_t want_dev, want_ino; /* device and inode of the preloaded or plug-in file, else 0 */
    char builtin[65];
    char path[4096]; /* plug-in: file to dlopen */
    char prefix[32];
    /* plug-in: settings "PARAM=VALUE:…", which its own table defines. Prefix: functions to call
     * first, such as "A+B"; "" = PREFIXinit, if it exists; "none" = no function. */
    char params[256];
    uint64_t values[AB_PARAMS_MAX];
    uint32_t n_samples; /* LATENCY: number of positions, and of ticks */
    uint32_t verify_ops;
    /* TAIL: ops from this duration on are slow; the next line has 1, 10 and 100 us in ticks */
    uint64_t tail_ticks;
    uint64_t tail_1us_ticks, tail_10us_ticks, tail_100us_ticks;
    uint64_t look_ticks; /* LATENCY, TAIL: ops from this duration on are checked for preemption */
    uint64_t positions_offset, ticks_offset, classes_offset; /* offsets in the run memfd */
    uint64_t memory_offset; /* MEMORY: offset of struct ab_memory_report in the run memfd; else 0 */
    /* MEMORY of a tape with times: offset of an array of struct ab_memory_row; else 0 */
    uint64_t rows_offset;
    uint32_t cap_rows, reserved_rows;
    uint64_t pins_offset; /* MEMORY: offset of struct ab_pins_report; else 0 */
    /* TAIL of a tape with iterations: offset of an array of struct ab_iteration; else 0 */
    uint64_t iterations_offset;
    struct ab_verify_request verify; /* CHECK */
    uint32_t decorator;              /* enum ab_decorator */
    uint32_t counter;                /* INSTRUCTIONS: enum ab_counter */
    uint64_t fault_n;                /* FAULT: number of the call that fails, from 1 */
    uint64_t run_bytes;              /* size of the run memfd */
    uint32_t is_alone;               /* 1 = no parent reads the report: it goes to standard error */
    uint32_t between; /* LATENCY: cache disturbance before each timed op; see AB_BETWEEN */
    struct ab_slice_request slices; /* THROUGHPUT, and LATENCY of one lane */
    /* period of the purges, in ns of the work's time; 0 = no purges */
    uint64_t purge_ns;
    struct ab_aging_request aging; /* plan of the aged heap, which is made before the first op */
};

struct ab_identity { /* the library that really served the ops */
    uint64_t dev, ino;
    char path[4096];
    char build_id[41]; /* hex, "" = none */
};

struct ab_worst {
    uint64_t ticks, size; /* `size`: size of the op, or of the block that the op frees */
    uint32_t position;    /* index of the op in the tape */
    uint32_t reserved;
};

struct ab_tail {
    uint64_t n; /* number of timed ops */
    uint64_t n_slow, n_1us, n_10us, n_100us;
    uint64_t max_ticks;
    uint32_t n_worst;
    uint32_t reserved;
    /* Ops during which the thread was preempted; they count in `n`, but in no other field above.
     * Set by LATENCY too. */
    uint64_t n_scheduler, scheduler_max_ticks;
    /* Preempted ops that used at least 1, 10 or 100 us of CPU time, and the most CPU time of one of
     * them; all by a lower bound (worker/preemption.h). */
    uint64_t n_least_1us, n_least_10us, n_least_100us, max_least_ns;
    struct ab_worst worst[AB_WORST_MAX]; /* the slowest ops, unsorted */
};

struct ab_iteration {     /* one iteration of a lane; accesses to blocks do not count as calls */
    uint64_t ticks;       /* time of the timed calls, timing overhead included */
    uint32_t n_calls;     /* timed calls; frees that a bulk reset spares do not count */
    uint32_t n_scheduler; /* calls during which the thread was preempted; in no other field */
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
    /* part of lane_ticks that is not measured: between slices, in AB_TOUCH_APART, at thread ends */
    uint64_t outside_ticks;
    /* CPU time within outside_ticks, in ticks; without AB_TOUCH_APART if is_crowded */
    uint64_t canary_ticks;
    uint64_t outside_cpu_ns; /* CPU time of AB_TOUCH_APART; 0 unless is_crowded */
    /* part of wall_ticks that is not measured, on the path of the lane that ends last */
    uint64_t path_ticks;
    uint64_t faults_minor, faults_major, switches_involuntary;
    /* Threads that ended, and the ticks from the last op of each to the first op of its successor.
     * The ticks are part of lane_ticks, and also of outside_ticks unless the phase has `renew`. */
    uint64_t n_thread_ends, thread_end_ticks;
    /* calls of malloc_trim; n_trims_done: those that the library could carry out */
    uint64_t n_trims, n_trims_done;
    uint64_t is_crowded; /* nonzero = more lanes were busy than there are CPUs */
    /* TAIL with several lanes: most live blocks at once over all lanes; else 0 */
    uint64_t live_peak_blocks;
    /* INSTRUCTIONS with AB_COUNTER_CPU: count of the one lane; AB_NOT_COUNTED = not known */
    uint64_t instructions;
    /* TAIL: all ops of each kind; LATENCY: only the preempted ops */
    struct ab_tail tail[AB_OP_KIND_COUNT];
};

struct ab_library_report { /* library of one heap of a placement; "" = not known */
    char version[64];
    char build_id[41];
};

struct ab_run_report {
    uint32_t state, failure;
    char reason[AB_TEXT_MAX];
    uint32_t burst;  /* index of the running burst */
    uint32_t inside; /* atomic; SYSTEM_CALLS: number of lanes inside a measured phase */
    uint32_t phase;  /* index of the running phase */
    /* index in its burst of the op that lane 0 runs; may lag by up to op_granularity ops */
    uint32_t op;
    /* 1, or the chunk size of loops that note only each chunk's first op */
    uint32_t op_granularity;
    uint32_t reserved0;
    uint64_t traits; /* traits of a heap back end */
    uint32_t hooks;  /* bit 1 << AB_OP_… for each kind of op that the back end can serve */
    uint32_t n_cpus; /* CPUs that the lanes share */
    /* MALLOC boundary in VERIFY, or with the null back end: resident memory before the work, file
     * mappings and private memory; 0 = not known */
    uint64_t start_file_bytes, start_private_bytes;
    char version[64];                /* the library's own version string; "" = none */
    uint32_t lane_ops[AB_LANES_MAX]; /* same as `op`, for each of the other lanes */
    struct ab_identity identity;
    struct ab_library_report libraries[AB_PLACEMENT_HEAPS_MAX]; /* PLACED: one for each heap */
    struct ab_verify_report verify;                             /* CHECK */
    struct ab_slice_report slices;
    struct ab_aging_count aging;
    /* VERIFY: a defect of the library that this work does not meet; "" = none */
    char caveat[160];
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
 * its seccomp filter (seccomp_unotify(2)). System calls with AB_CALL_OF_OURS as sixth argument are
 * not notified. */
#define AB_WORKER_FD_CALLS 6
/* PLACED: file with struct ab_placement_image */
#define AB_WORKER_FD_PLACEMENT 7
/* MEMORY with pins by file: the owner of each block. 32 bits for each allocation and resize of the
 * tape, refused ones included, in the common order of the lanes. */
#define AB_WORKER_FD_OWNERS 8
/* Special values of a sample. A sample is stored as ticks + 1, because a coarse counter may read 0;
 * the value 0 means that the op was not timed. OVERFLOW = too long to be stored. SCHEDULER = the
 * thread was preempted during the op. */
#define AB_TICKS_OVERFLOW UINT32_MAX
#define AB_TICKS_SCHEDULER (UINT32_MAX - 1)

/* Returns the size class c of an op, (2^(c − 1), 2^c] bytes; class 0 has sizes 0 and 1. (The
 * classes of `trace info` keep 0 apart from 1.) */
static inline unsigned ab_size_class_log2(uint64_t size)
{
    return ab_log2_up(size);
}

#endif
