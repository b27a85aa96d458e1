/* SPDX-License-Identifier: MIT
 *
 * The spool: what the recorder leaves behind, and what convert reads. Only these two know it, and
 * both are of one version: a spool that `record --no-convert` or a crash leaves behind is converted
 * by the build that recorded it, or refused by its magic.
 *
 *   control    struct ab_spool_control: shared by all while the command runs
 *   PID.K      the image: one page, struct ab_spool_image; K counts the programs of a process (exec)
 *   PID.K.T    what one thread at a time wrote into slot T of that image:
 *                page 0             struct ab_spool_tail
 *                from AB_SPOOL_TAIL two halves of AB_SPOOL_HALF bytes, mapped and written in turn
 *                from AB_SPOOL_PACK halves that were full, each packed into a chunk; mapped
 *                from AB_SPOOL_DATA the chunks before those, written when no more fit there; of
 *                                   those that `record` has converted meanwhile there is only a hole
 *
 * They lie in the folder AB_SPOOL_FOLDER, which everybody may use, within one that is private: a
 * process that has changed its user, or its root, reaches it by a descriptor that it holds. A program
 * that such a process executes holds none. Where `record` is root, and only then can there be one, the
 * private folder can be passed through, not read, while it runs; between the two is one more, with a
 * name that nobody can guess, and that only the environment of what is recorded tells.
 *
 * Everything mapped is MAP_SHARED and its space is reserved before: whatever kills the recorded
 * program, what it had written is in the file; a full disk stops the recording, never the program.
 * The halves stay in the cache, so that recording costs no page faults. A half is in a chunk before
 * its place is used again, a chunk in the file before its own is: what is found twice is the same.
 */
#ifndef AB_RECORD_PRELOAD_SPOOL_H
#define AB_RECORD_PRELOAD_SPOOL_H

#include <stdint.h>

#define AB_SPOOL_ENV_FOLDER "ALLOCBENCH_RECORD_FOLDER"
#define AB_SPOOL_FOLDER "spool"
#define AB_SPOOL_CONTROL "control"
#define AB_SPOOL_ENV_PID "ALLOCBENCH_RECORD_PID"    /* of the command; "17+": its children too */
#define AB_SPOOL_MAGIC UINT64_C(0x436c6f6f70536241) /* "AbSpoolC" */

enum {
    AB_SPOOL_PAGE = 4096,
    AB_SPOOL_TAIL = 4096,
    AB_SPOOL_HALF_EVENTS = 1024, /* a power of two: a place is split without a division */
    AB_SPOOL_HALF = AB_SPOOL_HALF_EVENTS * 24,
    AB_SPOOL_PACK = AB_SPOOL_TAIL + 2 * AB_SPOOL_HALF,
    AB_SPOOL_PACK_BYTES = 65536, /* what one half can need at most, and more */
    AB_SPOOL_DATA = AB_SPOOL_PACK + AB_SPOOL_PACK_BYTES,
    AB_SPOOL_SLOTS_MAX = 65536, /* threads alive at the same time */
    AB_SPOOL_TRIALS = 32,       /* events noted in a row to see what one costs */
};

enum ab_spool_stop { /* why recording stopped before the program did */
                     AB_SPOOL_RUNNING,
                     AB_SPOOL_NO_SPACE,
                     AB_SPOOL_FILE_LIMIT,
                     AB_SPOOL_NO_MEMORY,
                     AB_SPOOL_NO_FILE, /* it cannot be opened again: chroot, other user, no descriptor left */
                     AB_SPOOL_NO_SLOT, /* more threads at the same time than slots */
                     AB_SPOOL_ENOUGH,  /* as was asked for: so many events, */
                     AB_SPOOL_FULL,    /* so many bytes of spool, */
                     AB_SPOOL_TIME_UP, /* so much time, */
                     AB_SPOOL_SIGNAL,  /* until a signal came, */
                     AB_SPOOL_ENDED,   /* until the command had ended */
                     AB_SPOOL_SHARE, /* it had the share of the disk that is its without being asked */
                     AB_SPOOL_STRICT, /* a thread may only read, write and end: seccomp's strict mode */
};

struct ab_spool_image {
    uint64_t magic;
    uint32_t pid, parent;       /* parent: the process that was forked, 0 = started as a program */
    uint32_t parent_generation; /* K of its image then */
    uint32_t fork_number;       /* of the AB_SPOOL_FORK in its stream; 0 = not known */
    uint32_t stop, stop_errno;
    uint32_t n_slots;        /* files PID.K.0 … */
    uint32_t command;        /* the process that `record` started: this one, or an ancestor */
    uint32_t takes_children; /* are its children recorded too? */
    uint64_t n_usable_size;  /* calls of malloc_usable_size: no event, they change nothing */
    uint32_t trial_ticks;    /* that AB_SPOOL_TRIALS events took, the best of a few; 0: unknown */
    uint32_t bare_ticks;     /* the same without the clock */
    uint32_t has_sites;      /* call sites are recorded */
    uint32_t lacks_sites;    /* call sites were asked for, and the C library is too old for them */
    uint64_t cpu_begin_ns, cpu_ns; /* CPU time of the process before this program began, and since
                                      then until it exited; 0: it did not */
    uint32_t generation;           /* K of its file's name */
    uint64_t sampled_bytes;        /* of anonymous memory when `record` last looked where it lies */
    uint64_t own_bytes;            /* of memory that the recorder has mapped for itself */
    uint32_t has_exited;           /* by exit() or from main; not by exec, _exit or a signal */
    char comm[16];                 /* as the kernel calls it at its start */
    char program[256]; /* the name that it was called by; of a script its interpreter's */
    char path[512];    /* of its file, maybe cut off */
};

struct ab_spool_tail {
    uint64_t magic;
    uint32_t owner; /* thread id of who writes here; atomic */
    uint32_t slot;
    uint64_t n_events;         /* places taken so far; the last may be unwritten (kind 0) */
    uint64_t last_stamp;       /* of a half ago at most: of events that need none of their own */
    uint64_t half_number[2];   /* which half of the stream each holds, + 1; 0 = none yet */
    uint64_t n_asides;         /* of them no calls: call sites, marks, forks, begins of resizes,
                                  births, trials and asides */
    uint64_t n_asides_counted; /* of halves that are counted */
    uint64_t turn_ticks;       /* spent on halves that were full */
    uint64_t least_turn_ticks; /* on one; 0 = there was none yet */
    uint64_t site_ticks;       /* that n_timed_sites of the call sites took to find */
    uint64_t n_timed_sites;
    uint64_t pack_bytes; /* of chunks from AB_SPOOL_PACK */
    uint64_t data_bytes; /* of chunks from AB_SPOOL_DATA */
    uint64_t n_moved;    /* events that got another place: theirs stayed unwritten */
    uint32_t is_turning; /* its thread is busy with a half that was full */
};

/* What a process cannot do for itself any more, because of limits or rights, or not without locks,
 * `record` does. The process waits for it. */
enum ab_spool_request_kind {
    AB_SPOOL_SAVE, /* write the packed chunks of a slot to the end of its file */
    AB_SPOOL_MAKE, /* make a file of `bytes` bytes */
    AB_SPOOL_LOOK, /* see which modules bypass the recorder: a library is about to be closed, */
    AB_SPOOL_LOOK_AT_END, /* the process is about to exit */
};
enum ab_spool_request_state { /* a futex */
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
    int32_t slot;    /* < 0: the image */
    uint32_t answer; /* enum ab_spool_stop: why not, or AB_SPOOL_RUNNING */
    uint64_t bytes;
};

enum ab_spool_start_state { AB_SPOOL_NO_START, AB_SPOOL_START_TAKEN, AB_SPOOL_START_NOTED };
struct ab_spool_start { /* a program that a process became or started, not (yet) recorded */
    uint32_t state;
    uint32_t pid;
    uint32_t generation; /* its image, if it has one, is this or a later one */
    uint32_t why;        /* enum ab_spool_stop: it took the recorder in, but has no image */
    uint32_t user;       /* effective, of the process then */
    char path[240];      /* as it was called, maybe cut off */
};

enum ab_spool_name_state { AB_SPOOL_NO_NAME, AB_SPOOL_NAME_TAKEN, AB_SPOOL_NAME_THERE };
enum { AB_SPOOL_MARK_NAME = 124, AB_SPOOL_MARK_NAMES = 1024 };
struct ab_spool_mark_name {
    uint32_t state;
    char text[AB_SPOOL_MARK_NAME]; /* with its NUL */
};

enum { AB_SPOOL_REQUESTS = 64, AB_SPOOL_STARTS = 512 };
struct ab_spool_control {
    uint64_t magic;
    uint32_t n_asked;       /* a futex: changes with each request */
    uint32_t server;        /* process id of `record` */
    uint32_t stop;          /* enum ab_spool_stop: recording is over for all */
    uint64_t most_events;   /* 0 = any number */
    int64_t n_events;       /* calls, counted when a half is full */
    uint64_t most_bytes;    /* of all files of the spool; 0 = any number */
    uint32_t why_full;      /* enum ab_spool_stop: the reason when they would be more */
    uint64_t n_bytes;       /* of them, counted ahead of their being written; less n_freed */
    uint64_t n_freed;       /* bytes that were given back, because they are converted */
    uint32_t n_starts_lost; /* that there was no place for */
    uint32_t site_depth;    /* calls of a stack that are recorded; 0 = none */
    uint32_t has_time;      /* every event gets a stamp of its own */
    uint64_t begin_ns, begin_ticks; /* CLOCK_MONOTONIC and the tick counter at one time */
    struct ab_spool_mark_name mark_names[AB_SPOOL_MARK_NAMES];
    struct ab_spool_request requests[AB_SPOOL_REQUESTS];
    struct ab_spool_start starts[AB_SPOOL_STARTS];
};

struct ab_spool_chunk { /* ahead of the words of a half (spool_codec.h) */
    uint64_t number;    /* of the half; they come in order */
    uint64_t bytes;     /* of the words */
};

enum ab_spool_kind {
    AB_SPOOL_NOTHING, /* reserved, never written */
    AB_SPOOL_ALLOC,
    AB_SPOOL_ZEROED,
    AB_SPOOL_ALIGNED,
    AB_SPOOL_FREE,         /* stamped before the real free */
    AB_SPOOL_RESIZE_BEGIN, /* stamped before the real realloc: address = the old block */
    AB_SPOOL_RESIZE_END,   /* stamped after it: address = the new one, 0 = failed or freed */
    AB_SPOOL_BIRTH,        /* address = id of the thread that writes from here on */
    AB_SPOOL_TRIAL,        /* no call: noted to be timed; stamp 0 */
    AB_SPOOL_FORK,         /* no call: address = number of the fork, from 1; ahead of it */
    AB_SPOOL_SITE,         /* size = number of the stack of the call that comes next; stamp 0 */
    AB_SPOOL_FRAME,        /* a stack is made known: see AB_SPOOL_FRAME_…; stamp 0 */
    AB_SPOOL_MODULE,       /* a module is: see AB_SPOOL_MODULE_…; stamp 0 */
    AB_SPOOL_MARK,         /* no call: size = place of its name in the control file + 1, 0 = none */
    AB_SPOOL_ASIDE,        /* no call: what it is says AB_SPOOL_LOG2, enum ab_spool_aside */
    AB_SPOOL_KIND_COUNT
};

enum ab_spool_aside {
    AB_SPOOL_WRITTEN = 1, /* a large block goes, or the program does: address; size = of its whole
                             pages, in units of 4 KiB, those that became resident since it was given
                             | those that were not resident then << 32 */
    AB_SPOOL_REQUEST,     /* a call of base/library_calls.def: address = which, from 0, size = its
                             argument */
    AB_SPOOL_EXIT,        /* the thread ends; what it still frees on its way comes behind */
};
#define AB_SPOOL_ASIDE_MAKE(aside, address) ((uint64_t)(address) | (uint64_t)(aside) << 58)
enum { AB_SPOOL_LARGE = 65536 }; /* bytes: of such blocks it is asked what is written */

/* While a process has one thread its events are in order by their places, and reading the clock
 * would be half of what recording costs: they carry an old stamp again. */
struct ab_spool_event {
    uint64_t stamp_kind; /* clock ticks in the upper 60 bits, kind below; written last */
    uint64_t address; /* of allocs: 0 = failed; ALIGNED: log2 of the alignment in the top 6 bits */
    uint64_t size;
};
#define AB_SPOOL_KIND(e) ((enum ab_spool_kind)((e)->stamp_kind & 15))
#define AB_SPOOL_STAMP(e) ((e)->stamp_kind >> 4)
#define AB_SPOOL_ADDRESS(e) ((e)->address & ((UINT64_C(1) << 58) - 1))
#define AB_SPOOL_LOG2(e) ((unsigned)((e)->address >> 58))

/* Stacks and modules are numbered from 1 within a stream and made known before they are used. A
 * signal handler may do so in the middle of another one: but wholly, so that sites nest.
 *
 * FRAME: address = the call's within its module, less what the module was moved by; size = number
 *        of the stack | place in it << 32, from 0, the last call | module << 40, 0 = in none |
 *        enum ab_stack_end + 1 << 56, of the last frame of the stack.
 * MODULE: size = 8 bytes of the module's text; address = number | place in the text << 16. The
 *        text: length of the build id (1 byte), of the path (2 bytes), build id, path. */
#define AB_SPOOL_FRAME_STACK(e) ((uint32_t)(e)->size)
#define AB_SPOOL_FRAME_PLACE(e) ((unsigned)((e)->size >> 32) & 0xff)
#define AB_SPOOL_FRAME_MODULE(e) ((uint32_t)((e)->size >> 40) & 0xffff)
#define AB_SPOOL_FRAME_END(e) ((unsigned)((e)->size >> 56) & 0xf)
#define AB_SPOOL_MODULE_NUMBER(e) ((uint32_t)(e)->address & 0xffff)
#define AB_SPOOL_MODULE_PLACE(e) ((uint32_t)((e)->address >> 16))
enum {
    AB_SPOOL_MODULES_MAX = 65535, /* of a stream */
    AB_SPOOL_BUILD_ID_MAX = 64,
    AB_SPOOL_PATH_MAX = 4095,
    AB_SPOOL_MODULE_TEXT = 3 + AB_SPOOL_BUILD_ID_MAX + AB_SPOOL_PATH_MAX,
};

/* The functions by which programs show a frame: `record --marks` puts a mark at each call of them. */
#define AB_FRAMES(F) \
    F(SDL_GL_SwapWindow) F(SDL_RenderPresent) F(glfwSwapBuffers) F(glXSwapBuffers) F(eglSwapBuffers)

#endif
