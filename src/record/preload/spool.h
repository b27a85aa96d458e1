/* SPDX-License-Identifier: MIT
 *
 * Format of the spool: the files that the recorder writes and convert reads. Both are of one
 * version: a spool left by `record --no-convert` or by a crash is converted by the build that
 * recorded it, or refused because of its magic.
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
 * process that has changed its user or its root reaches it by a descriptor. A program that such a
 * process executes has no descriptor, but can exist only if `record` is root. Then the private
 * folder can be traversed, but not read, while `record` runs. A third folder between the two has a
 * name that nobody can guess. Only the environment of recorded programs tells it.
 *
 * All mappings are MAP_SHARED, and their space is reserved first. Whatever kills the recorded
 * program, the events written so far are in the file. A full disk stops the recording, never the
 * program. The halves stay in the cache, so that recording costs no page faults. A half is packed
 * before its buffer is reused, and a chunk is saved before its space is reused, so that events
 * found twice are the same.
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
    AB_SPOOL_PACK_BYTES = 65536, /* at least the worst case of one half */
    AB_SPOOL_DATA = AB_SPOOL_PACK + AB_SPOOL_PACK_BYTES,
    AB_SPOOL_SLOTS_MAX = 65536, /* threads alive at the same time */
    AB_SPOOL_TRIALS = 32,       /* number of events noted in a row to measure the cost of one */
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
    uint32_t pid, parent;       /* parent: process that forked; 0 = started as a program */
    uint32_t parent_generation; /* generation of the parent's image at the fork */
    /* number of the AB_SPOOL_FORK in the parent's stream; 0 = not known */
    uint32_t fork_number;
    uint32_t stop, stop_errno;
    uint32_t n_slots;        /* number of files PID.K.0 … */
    uint32_t command;        /* process that `record` started: this one or an ancestor */
    uint32_t takes_children; /* 1 if its children are recorded too */
    /* calls of malloc_usable_size; no events, because they change nothing */
    uint64_t n_usable_size;
    /* ticks for AB_SPOOL_TRIALS events, the best of a few rounds; 0 = unknown */
    uint32_t trial_ticks;
    uint32_t bare_ticks;  /* the same without reading the clock */
    uint32_t has_sites;   /* 1 if call sites are recorded */
    uint32_t lacks_sites; /* 1 if call sites were requested but the C library is too old */
    /* CPU time of the process before this program began, and of this program until its exit; 0 =
     * it did not exit */
    uint64_t cpu_begin_ns, cpu_ns;
    uint32_t generation;    /* number of earlier programs of the process; K in its file's name */
    uint64_t sampled_bytes; /* anonymous memory when `record` last looked for its places */
    uint64_t own_bytes;     /* memory that the recorder has mapped for itself */
    /* 1 if it ended by exit() or from main, not by exec, _exit or a signal */
    uint32_t has_exited;
    char comm[16];     /* name in the kernel at its start */
    char program[256]; /* name that it was called by; for a script the interpreter's */
    char path[512];    /* path of its file, maybe truncated */
};

struct ab_spool_tail {
    uint64_t magic;
    uint32_t owner; /* id of the thread that writes here; atomic */
    uint32_t slot;
    uint64_t n_events; /* places taken so far; the last may be unwritten (kind 0) */
    /* at most one half old; reused by events that need no stamp of their own */
    uint64_t last_stamp;
    /* number of the stream's half in each buffer, plus 1; 0 = none yet */
    uint64_t half_number[2];
    /* events that are no calls: call sites, marks, forks, begins of resizes, births, trials and
     * asides */
    uint64_t n_asides;
    uint64_t n_asides_counted; /* n_asides in halves that were counted */
    uint64_t turn_ticks;       /* ticks spent on full halves */
    uint64_t least_turn_ticks; /* least ticks spent on one; 0 = none yet */
    uint64_t site_ticks;       /* ticks to find n_timed_sites call sites */
    uint64_t n_timed_sites;
    uint64_t pack_bytes; /* bytes of chunks from AB_SPOOL_PACK */
    uint64_t data_bytes; /* bytes of chunks from AB_SPOOL_DATA */
    uint64_t n_moved;    /* events that got another place, so that theirs stayed unwritten */
    uint32_t is_turning; /* 1 while its thread handles a full half */
};

/* Requests to `record` for work that a process cannot do itself, because of limits, rights or
 * locks. The process waits for the answer. */
enum ab_spool_request_kind {
    AB_SPOOL_SAVE,        /* write the packed chunks of a slot to the end of its file */
    AB_SPOOL_MAKE,        /* make a file of `bytes` bytes */
    AB_SPOOL_LOOK,        /* find modules that bypass the recorder before a library is closed */
    AB_SPOOL_LOOK_AT_END, /* the same, when the process is about to exit */
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
    int32_t slot;    /* < 0 = the image */
    uint32_t answer; /* enum ab_spool_stop: the reason for a failure, or AB_SPOOL_RUNNING */
    uint64_t bytes;
};

enum ab_spool_start_state { AB_SPOOL_NO_START, AB_SPOOL_START_TAKEN, AB_SPOOL_START_NOTED };
/* a program that a process became or started and that is not (yet) recorded */
struct ab_spool_start {
    uint32_t state;
    uint32_t pid;
    uint32_t generation; /* its image, if it has one, has this generation or a later one */
    uint32_t why;        /* enum ab_spool_stop: why it loaded the recorder but has no image */
    uint32_t user;       /* effective user of the process at that time */
    char path[240];      /* path that was passed to exec, maybe truncated */
};

enum ab_spool_name_state { AB_SPOOL_NO_NAME, AB_SPOOL_NAME_TAKEN, AB_SPOOL_NAME_THERE };
enum { AB_SPOOL_MARK_NAME = 124, AB_SPOOL_MARK_NAMES = 1024 };
struct ab_spool_mark_name {
    uint32_t state;
    char text[AB_SPOOL_MARK_NAME]; /* with its terminating NUL */
};

enum { AB_SPOOL_REQUESTS = 64, AB_SPOOL_STARTS = 512 };
struct ab_spool_control {
    uint64_t magic;
    uint32_t n_asked;       /* a futex, changed by each request */
    uint32_t server;        /* process id of `record` */
    uint32_t stop;          /* enum ab_spool_stop: recording is over for all processes */
    uint64_t most_events;   /* limit; 0 = none */
    int64_t n_events;       /* calls, counted when a half is full */
    uint64_t most_bytes;    /* limit of all files of the spool; 0 = none */
    uint32_t why_full;      /* enum ab_spool_stop: the reason given when most_bytes is reached */
    uint64_t n_bytes;       /* bytes of the spool, counted before they are written, minus n_freed */
    uint64_t n_freed;       /* bytes given back because they are converted */
    uint32_t n_starts_lost; /* starts for which there was no room */
    uint32_t site_depth;    /* recorded frames of a stack; 0 = no call sites */
    uint32_t has_time;      /* 1 if every event gets a stamp of its own */
    uint64_t begin_ns, begin_ticks; /* CLOCK_MONOTONIC and the tick counter at the same moment */
    struct ab_spool_mark_name mark_names[AB_SPOOL_MARK_NAMES];
    struct ab_spool_request requests[AB_SPOOL_REQUESTS];
    struct ab_spool_start starts[AB_SPOOL_STARTS];
};

struct ab_spool_chunk { /* header of a packed half, before its words (spool_codec.h) */
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
    AB_SPOOL_RESIZE_END,   /* stamped after it: address = new block, 0 = failed or freed */
    AB_SPOOL_BIRTH,        /* address = id of the thread that writes from here on */
    AB_SPOOL_TRIAL,        /* no call: noted to measure its cost; stamp 0 */
    AB_SPOOL_FORK,         /* no call: address = number of the fork, from 1; noted before it */
    AB_SPOOL_SITE,         /* size = number of the stack of the next call; stamp 0 */
    AB_SPOOL_FRAME,        /* defines a frame of a stack: see AB_SPOOL_FRAME_…; stamp 0 */
    AB_SPOOL_MODULE,       /* defines part of a module: see AB_SPOOL_MODULE_…; stamp 0 */
    AB_SPOOL_MARK,         /* no call: size = place of its name in the control file + 1, 0 = none */
    AB_SPOOL_ASIDE,        /* no call: AB_SPOOL_LOG2 is an enum ab_spool_aside */
    AB_SPOOL_KIND_COUNT
};

enum ab_spool_aside {
    /* A large block is freed, or the program ends. address = the block; size = whole pages of
     * the block, in units of 4 KiB: pages that became resident since its allocation | pages not
     * resident then << 32. */
    AB_SPOOL_WRITTEN = 1,
    /* a call of base/library_calls.def: address = its row, from 0, size = its argument */
    AB_SPOOL_REQUEST,
    AB_SPOOL_EXIT, /* the thread ends; frees on its way out come later */
};
#define AB_SPOOL_ASIDE_MAKE(aside, address) ((uint64_t)(address) | (uint64_t)(aside) << 58)
enum { AB_SPOOL_LARGE = 65536 }; /* bytes of a block from which on its written pages are counted */

/* An event. While a process has one thread, the places of events are their order. Events then
 * repeat an old stamp, because reading the clock would be half of the cost of recording. */
struct ab_spool_event {
    uint64_t stamp_kind; /* clock ticks in the upper 60 bits, kind below; written last */
    /* block; 0 = the allocation failed; ALIGNED: log2 of the alignment in the top 6 bits */
    uint64_t address;
    uint64_t size;
};
#define AB_SPOOL_KIND(e) ((enum ab_spool_kind)((e)->stamp_kind & 15))
#define AB_SPOOL_STAMP(e) ((e)->stamp_kind >> 4)
#define AB_SPOOL_ADDRESS(e) ((e)->address & ((UINT64_C(1) << 58) - 1))
#define AB_SPOOL_LOG2(e) ((unsigned)((e)->address >> 58))

/* Stacks and modules are numbered from 1 within a stream and defined before their first use. A
 * signal handler may define others inside a definition, but completely, so that they nest.
 *
 * FRAME: address = return address minus the load bias of its module. size = number of the stack |
 *        index in it << 32 (0 = innermost call) | module << 40 (0 = none) | enum ab_stack_end + 1
 *        << 56 (in the last frame of the stack, otherwise 0).
 * MODULE: size = 8 bytes of the module's text; address = number | index in the text, in units of
 *        8 bytes, << 16. The text is: length of the build id (1 byte), length of the path
 *        (2 bytes), build id, path. */
#define AB_SPOOL_FRAME_STACK(e) ((uint32_t)(e)->size)
#define AB_SPOOL_FRAME_PLACE(e) ((unsigned)((e)->size >> 32) & 0xff)
#define AB_SPOOL_FRAME_MODULE(e) ((uint32_t)((e)->size >> 40) & 0xffff)
#define AB_SPOOL_FRAME_END(e) ((unsigned)((e)->size >> 56) & 0xf)
#define AB_SPOOL_MODULE_NUMBER(e) ((uint32_t)(e)->address & 0xffff)
#define AB_SPOOL_MODULE_PLACE(e) ((uint32_t)((e)->address >> 16))
enum {
    AB_SPOOL_MODULES_MAX = 65535, /* most modules of a stream */
    AB_SPOOL_BUILD_ID_MAX = 64,
    AB_SPOOL_PATH_MAX = 4095,
    AB_SPOOL_MODULE_TEXT = 3 + AB_SPOOL_BUILD_ID_MAX + AB_SPOOL_PATH_MAX,
};

/* Functions by which programs show a frame. `record --marks` notes a mark at each of their
 * calls. */
#define AB_FRAMES(F) \
    F(SDL_GL_SwapWindow) F(SDL_RenderPresent) F(glfwSwapBuffers) F(glXSwapBuffers) F(eglSwapBuffers)

#endif
