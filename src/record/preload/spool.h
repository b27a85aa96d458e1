/* SPDX-License-Identifier: MIT
 *
 * Format of the spool: the files that the recorder writes and the converter reads. Recorder and
 * converter are of one version: a spool left by `record --no-convert` or by a crash is converted by
 * the build that recorded it, or refused because of its magic.
 *
 *   control    struct ab_spool_control: shared by all processes while the command runs
 *   PID.K      the image: one page, struct ab_spool_image; K counts programs of a process (exec)
 *   PID.K.T    events in slot T of that image, which one thread at a time writes:
 *                page 0             struct ab_spool_tail
 *                from AB_SPOOL_TAIL two halves of AB_SPOOL_HALF bytes, mapped and written in turn
 *                from AB_SPOOL_PACK full halves, each packed into a chunk; mapped
 *                from AB_SPOOL_DATA earlier chunks, written when no more fit there; a hole
 *                                   in place of chunks that `record` has converted
 *
 * The files are in the folder AB_SPOOL_FOLDER, which everybody may use, inside a private folder. A
 * process that has changed its user or its root reaches the files by a descriptor. A program that
 * such a process executes has no descriptor. This happens only if `record` is root: only then can a
 * process change its user or root. The private folder can then be traversed, but not read, while
 * `record` runs. A third folder between the two has a name that nobody can guess; only the
 * environment of recorded programs tells it.
 *
 * All mappings are MAP_SHARED, and their space is reserved first. Whatever kills the recorded
 * program, the events written so far are in the file. A full disk stops the recording, never the
 * program. The halves stay in the cache, so that recording costs no page faults. A half is packed
 * before its buffer is reused, and a chunk is saved before its space is reused, so that an event
 * that is found in two places is the same in both.
 */
#ifndef AB_RECORD_PRELOAD_SPOOL_H
#define AB_RECORD_PRELOAD_SPOOL_H

#include <stdint.h>

#define AB_SPOOL_ENV_FOLDER "ALLOCBENCH_RECORD_FOLDER"
#define AB_SPOOL_FOLDER "spool"
#define AB_SPOOL_CONTROL "control"
/* process id of the command; "17+": its children are recorded too */
#define AB_SPOOL_ENV_PID "ALLOCBENCH_RECORD_PID"
#define AB_SPOOL_MAGIC UINT64_C(0x436c6f6f70536241) /* "AbSpoolC" */

enum {
    AB_SPOOL_PAGE = 4096,
    AB_SPOOL_TAIL = 4096,
    AB_SPOOL_HALF_EVENTS = 1024, /* a power of two, so that a place is split without a division */
    AB_SPOOL_HALF = AB_SPOOL_HALF_EVENTS * 24,
    AB_SPOOL_PACK = AB_SPOOL_TAIL + 2 * AB_SPOOL_HALF,
    AB_SPOOL_PACK_BYTES = 65536, /* at least the largest size of a packed half */
    AB_SPOOL_DATA = AB_SPOOL_PACK + AB_SPOOL_PACK_BYTES,
    AB_SPOOL_SLOTS_MAX = 65536, /* threads alive at the same time */
    /* number of events that are noted in a row to measure the cost of one */
    AB_SPOOL_TRIALS = 32,
};

enum ab_spool_stop { /* why recording stopped before the program did */
                     AB_SPOOL_RUNNING,
                     AB_SPOOL_NO_SPACE,
                     AB_SPOOL_FILE_LIMIT,
                     AB_SPOOL_NO_MEMORY,
                     /* the file cannot be opened again: chroot, other user, no free descriptor */
                     AB_SPOOL_NO_FILE,
                     AB_SPOOL_NO_SLOT, /* more threads at the same time than slots */
                     AB_SPOOL_ENOUGH,  /* limit reached: number of events */
                     AB_SPOOL_FULL,    /* limit reached: bytes of the spool */
                     AB_SPOOL_TIME_UP, /* limit reached: time */
                     AB_SPOOL_SIGNAL,  /* the requested signal came */
                     AB_SPOOL_ENDED,   /* the command has ended */
                     AB_SPOOL_SHARE,   /* the spool has reached its default share of the disk */
                     /* a thread is in seccomp's strict mode and may only read, write and end */
                     AB_SPOOL_STRICT,
};

struct ab_spool_image {
    uint64_t magic;
    /* parent: process that forked this one; 0 = it was started as a program */
    uint32_t pid, parent;
    uint32_t parent_generation; /* generation of the parent's image at the fork */
    /* number of the fork among the AB_SPOOL_FORK events of the parent; 0 = not known */
    uint32_t fork_number;
    uint32_t stop, stop_errno;
    uint32_t n_slots;        /* number of files PID.K.0 … */
    uint32_t command;        /* process that `record` started: this one or an ancestor */
    uint32_t takes_children; /* 1 if children of this process are recorded too */
    /* number of calls of malloc_usable_size; these are no events, because they change nothing */
    uint64_t n_usable_size;
    /* ticks for AB_SPOOL_TRIALS events with a stamp, the best of a few rounds; 0 = unknown */
    uint32_t trial_ticks;
    uint32_t bare_ticks;  /* ticks for AB_SPOOL_TRIALS events without reading the clock */
    uint32_t has_sites;   /* 1 if call sites are recorded */
    uint32_t lacks_sites; /* 1 if call sites were requested but the C library is too old */
    /* CPU time of the process before this program began, and of this program until its exit; cpu_ns
     * 0 = it did not exit */
    uint64_t cpu_begin_ns, cpu_ns;
    uint32_t generation; /* number of earlier programs of the process; K in its file's name */
    /* bytes of anonymous memory at the last sample of `record`; 0 = none yet */
    uint64_t sampled_bytes;
    uint64_t own_bytes; /* bytes that the recorder has mapped for itself */
    /* 1 if the program ended by exit() or by returning from main, not by exec, _exit or a signal */
    uint32_t has_exited;
    char comm[16]; /* name of the process in the kernel at its start */
    /* name by which the program was called; for a script, that of the interpreter */
    char program[256];
    char path[512]; /* path of the program's file, maybe truncated */
};

struct ab_spool_tail {
    uint64_t magic;
    uint32_t owner; /* id of the thread that writes this stream; atomic */
    uint32_t slot;
    /* number of places taken so far; the event of the last places may be missing (kind 0) */
    uint64_t n_events;
    /* stamp at most as old as one half; repeated by events that need no stamp of their own */
    uint64_t last_stamp;
    /* number of the half of the stream that each of the two buffers has, plus 1; 0 = none yet */
    uint64_t half_number[2];
    /* number of events that are not calls: call sites, marks, forks, begins of resizes, births,
     * trials and asides */
    uint64_t n_asides;
    uint64_t n_asides_counted; /* part of n_asides that was in halves already counted */
    uint64_t turn_ticks;       /* ticks spent on full halves */
    uint64_t least_turn_ticks; /* ticks spent on the full half that took least; 0 = none yet */
    uint64_t site_ticks;       /* ticks to find n_timed_sites call sites */
    uint64_t n_timed_sites;
    uint64_t pack_bytes; /* bytes of chunks that begin at AB_SPOOL_PACK */
    uint64_t data_bytes; /* bytes of chunks that begin at AB_SPOOL_DATA */
    /* number of events that were written to a later place, so that the place they had taken stayed
     * unwritten */
    uint64_t n_moved;
    uint32_t is_turning; /* 1 while its thread handles a full half */
};

/* Requests to `record` for work that a process cannot do itself, because of limits, rights or
 * locks. The process waits for the answer. */
enum ab_spool_request_kind {
    AB_SPOOL_SAVE,        /* write the packed chunks of a slot to the end of its file */
    AB_SPOOL_MAKE,        /* make a file of `bytes` bytes */
    AB_SPOOL_LOOK,        /* find modules that bypass the recorder before a library is closed */
    AB_SPOOL_LOOK_AT_END, /* find these modules when the process is about to exit */
};
enum ab_spool_request_state { /* used as a futex */
                              AB_SPOOL_FREE_PLACE,
                              AB_SPOOL_TAKEN,
                              AB_SPOOL_ASKED,
                              AB_SPOOL_AT_WORK,
                              AB_SPOOL_ANSWERED,
};
struct ab_spool_request {
    uint32_t state;
    uint32_t kind;
    uint32_t pid, generation;
    int32_t slot;    /* slot of the file; < 0 = the image */
    uint32_t answer; /* enum ab_spool_stop: the reason for a failure, or AB_SPOOL_RUNNING */
    uint64_t bytes;
};

enum ab_spool_start_state { AB_SPOOL_NO_START, AB_SPOOL_START_TAKEN, AB_SPOOL_START_NOTED };
/* a program that a process started and that is not recorded, or not yet */
struct ab_spool_start {
    uint32_t state;
    uint32_t pid;
    uint32_t generation; /* its image, if it has one, has this generation or a later one */
    /* enum ab_spool_stop: why the program loaded the recorder but has no image */
    uint32_t why;
    uint32_t user;  /* effective user of the process when it started the program */
    char path[240]; /* path that was passed to exec, maybe truncated */
};

enum ab_spool_name_state { AB_SPOOL_NO_NAME, AB_SPOOL_NAME_TAKEN, AB_SPOOL_NAME_THERE };
enum { AB_SPOOL_MARK_NAME = 124, AB_SPOOL_MARK_NAMES = 1024 };
struct ab_spool_mark_name {
    uint32_t state;
    char text[AB_SPOOL_MARK_NAME]; /* with the terminating NUL */
};

enum { AB_SPOOL_REQUESTS = 64, AB_SPOOL_STARTS = 512 };
struct ab_spool_control {
    uint64_t magic;
    uint32_t n_asked; /* number of requests; also a futex on which `record` waits */
    uint32_t server;  /* process id of `record` */
    /* enum ab_spool_stop: why the recording is over for all processes; AB_SPOOL_RUNNING = it is
     * not */
    uint32_t stop;
    uint64_t most_events;   /* limit of n_events; 0 = none */
    int64_t n_events;       /* number of calls, counted when a half is full */
    uint64_t most_bytes;    /* limit of n_bytes; 0 = none */
    uint32_t why_full;      /* enum ab_spool_stop: the reason given when most_bytes is reached */
    uint64_t n_bytes;       /* bytes of the spool, counted before they are written, minus n_freed */
    uint64_t n_freed;       /* bytes of the spool that were freed, because they are converted */
    uint32_t n_starts_lost; /* starts for which there was no room */
    uint32_t site_depth;    /* number of frames recorded of each stack; 0 = no call sites */
    uint32_t has_time;      /* 1 if every event gets a stamp of its own */
    uint64_t begin_ns, begin_ticks; /* CLOCK_MONOTONIC and the tick counter at the same moment */
    struct ab_spool_mark_name mark_names[AB_SPOOL_MARK_NAMES];
    struct ab_spool_request requests[AB_SPOOL_REQUESTS];
    struct ab_spool_start starts[AB_SPOOL_STARTS];
};

struct ab_spool_chunk { /* header of a packed half, in front of its words (spool_codec.h) */
    uint64_t number;    /* number of the half; chunks are in this order */
    uint64_t bytes;     /* bytes of the words */
};

enum ab_spool_kind {
    AB_SPOOL_NOTHING, /* place taken, never written */
    AB_SPOOL_ALLOC,
    AB_SPOOL_ZEROED,
    AB_SPOOL_ALIGNED,
    AB_SPOOL_FREE,         /* stamped before the real free */
    AB_SPOOL_RESIZE_BEGIN, /* stamped before the real realloc: address = old block */
    /* stamped after the real realloc: address = new block, 0 = failed or freed */
    AB_SPOOL_RESIZE_END,
    AB_SPOOL_BIRTH, /* address = id of the thread that writes from here on */
    AB_SPOOL_TRIAL, /* not a call: noted to measure the cost of an event; stamp 0 */
    /* not a call: address = number of the fork, from 1; noted before the fork */
    AB_SPOOL_FORK,
    AB_SPOOL_SITE,   /* size = number of the stack of the next call; stamp 0 */
    AB_SPOOL_FRAME,  /* defines a frame of a stack: see AB_SPOOL_FRAME_…; stamp 0 */
    AB_SPOOL_MODULE, /* defines part of a module: see AB_SPOOL_MODULE_…; stamp 0 */
    /* not a call: size = index of the mark's name in the control file + 1, 0 = none */
    AB_SPOOL_MARK,
    AB_SPOOL_ASIDE, /* not a call: AB_SPOOL_LOG2 is an enum ab_spool_aside */
    AB_SPOOL_KIND_COUNT
};

enum ab_spool_aside {
    /* A large block is freed, or the program ends. address = the block. size = two counts of whole
     * pages of 4 KiB in the block: pages that became resident since the allocation | pages that
     * were not resident at the allocation << 32. */
    AB_SPOOL_WRITTEN = 1,
    /* a call of a function in base/library_calls.def: address = the row of the function, from 0;
     * size = the argument */
    AB_SPOOL_REQUEST,
    AB_SPOOL_EXIT, /* the thread is ending; it may still free memory on its way out */
};
#define AB_SPOOL_ASIDE_MAKE(aside, address) ((uint64_t)(address) | (uint64_t)(aside) << 58)
/* size in bytes from which on the written pages of a block are counted */
enum { AB_SPOOL_LARGE = 65536 };

/* An event. While a process has one thread, its events are ordered by their places. They repeat an
 * old stamp, because reading the clock would be half of the cost of recording. */
struct ab_spool_event {
    uint64_t stamp_kind; /* stamp in the upper 60 bits, enum ab_spool_kind below; written last */
    /* address of the block; 0 = the allocation failed. ALIGNED: the top 6 bits are the log2 of the
     * alignment */
    uint64_t address;
    uint64_t size;
};
#define AB_SPOOL_KIND(e) ((enum ab_spool_kind)((e)->stamp_kind & 15))
#define AB_SPOOL_STAMP(e) ((e)->stamp_kind >> 4)
#define AB_SPOOL_ADDRESS(e) ((e)->address & ((UINT64_C(1) << 58) - 1))
#define AB_SPOOL_LOG2(e) ((unsigned)((e)->address >> 58))

/* Stacks and modules are numbered from 1 within a stream and defined before their first use. A
 * signal handler may define others in the middle of a definition, but its definitions are complete,
 * so that they nest.
 *
 * FRAME: address = return address minus the load bias of its module. size = number of the stack |
 * index in the stack << 32 (0 = innermost call) | module << 40 (0 = none) | enum ab_stack_end + 1
 * << 56 (in the last frame of the stack, otherwise 0).
 *
 * MODULE: size = 8 bytes of the module's text. address = number | index of these bytes in the text,
 * in units of 8 bytes, << 16. The text is: length of the build id (1 byte), length of the path (2
 * bytes), build id, path. */
#define AB_SPOOL_FRAME_STACK(e) ((uint32_t)(e)->size)
#define AB_SPOOL_FRAME_PLACE(e) ((unsigned)((e)->size >> 32) & 0xff)
#define AB_SPOOL_FRAME_MODULE(e) ((uint32_t)((e)->size >> 40) & 0xffff)
#define AB_SPOOL_FRAME_END(e) ((unsigned)((e)->size >> 56) & 0xf)
#define AB_SPOOL_MODULE_NUMBER(e) ((uint32_t)(e)->address & 0xffff)
#define AB_SPOOL_MODULE_PLACE(e) ((uint32_t)((e)->address >> 16))
enum {
    AB_SPOOL_MODULES_MAX = 65535, /* maximum number of modules in a stream */
    AB_SPOOL_BUILD_ID_MAX = 64,
    AB_SPOOL_PATH_MAX = 4095,
    AB_SPOOL_MODULE_TEXT = 3 + AB_SPOOL_BUILD_ID_MAX + AB_SPOOL_PATH_MAX,
};

/* Functions by which programs show a frame. `record --marks` adds a mark at each call of one. */
#define AB_FRAMES(F) \
    F(SDL_GL_SwapWindow) F(SDL_RenderPresent) F(glfwSwapBuffers) F(glXSwapBuffers) F(eglSwapBuffers)

#endif
