/* SPDX-License-Identifier: MIT
 *
 * Runs a real program under all allocators: first once each, which proves that it works and what it
 * prints; then rounds, each allocator once in an order drawn anew. What a round draws depends on
 * the seed and its number alone.
 */
#ifndef AB_PROGRAM_PROGRAM_H
#define AB_PROGRAM_PROGRAM_H

#include "base/litter.h"
#include "core/status.h"
#include "result/result.h"
#include "runner/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a program writes: its standard output as a digest, made while it streams, so that its size
 * does not matter; of standard error the end, for messages. */

struct ab_output_digest {
    uint64_t high, low; /* XXH3, 128 bits */
    uint64_t bytes;
};

enum { AB_OUTPUT_TAIL = 400 };

struct ab_program_output {
    int read_fd, write_fd; /* the program gets write_fd; −1 = closed */
    void *hash;            /* NULL: the tail is kept instead */
    uint64_t bytes;
    char tail[AB_OUTPUT_TAIL + 1];
    size_t n_tail;
};

enum ab_status ab_program_output_open(struct ab_program_output *o, bool is_hashed,
                                      struct ab_err *err);
/* In the parent once the program has its own. */
void ab_program_output_started(struct ab_program_output *o);
/* Takes what is there; closes read_fd at the end. Not more at once than keeps other work waiting for
 * about a millisecond. */
void ab_program_output_take(struct ab_program_output *o);
/* All that is left, once no process writes any more. */
struct ab_output_digest ab_program_output_finish(struct ab_program_output *o);
/* The last line of the tail, printable; "" = there is none. */
const char *ab_program_output_says(const struct ab_program_output *o, char *buf, size_t cap);
void ab_program_output_fini(struct ab_program_output *o);

/* ---- how a program is started ---- */

struct ab_program_start {
    const char *path;
    const char *const *argv;
    char *const *envp;
    int stdin_fd, stdout_fd, stderr_fd;
    bool is_watched;   /* its processes stop at their end, program/program_run.c */
    bool shows_closes; /* … and where src/inside/closes.c says that a library is closed */
};

struct ab_program_started {
    pid_t pid;
    int listener;      /* −1 = not watched, or the system cannot */
    uint64_t begin_ns; /* ab_clock_now_ns */
};

/* AB_USAGE where the program cannot be executed. */
enum ab_status ab_program_start(const struct ab_program_start *start,
                                struct ab_program_started *out, struct ab_err *err);

/* ---- what ends a program when allocbench is killed: program/start.c ---- */

struct ab_processes;

/* Starts the process that waits for our end. Call it once, before the first thread and before
 * ab_supervise_begin, which then takes it for a child that is none of the program's. Without it the
 * two functions below do nothing. */
void ab_guardian_begin(void);
/* A process group that ab_program_start began has ended: another may get its number. */
void ab_guardian_forget(pid_t group);
/* The processes that the program has now, also those that have left its group; NULL = none. */
void ab_guardian_list(const struct ab_processes *processes);

/* Which allocator serves malloc in a running process, from what it has mapped. The dynamic linker
 * resolves malloc to the first object that defines it: the program itself, then what is preloaded,
 * then the libraries, the C library last. So it is the one asked for when
 *   - its file (device and inode) is mapped to be executed,
 *   - the program does not export a malloc of its own, which would come before it,
 *   - no other object but the C library defines malloc, neither one that was linked nor one that was
 *     loaded later; or one does, and what the linker has resolved in all objects shows that none is called but the
 *     one asked for (program/slots.h).
 * Without a preload it is the C library's, by the same three, none at all being allowed. A program without glibc (static,
 * another C library) has neither. Not seen: an allocator that a program calls by a private name. */

struct ab_proof_wanted {
    const char *path; /* of the preloaded library; NULL = the C library's malloc */
    uint64_t dev, ino;
    /* An interposer: it too defines malloc, and must be loaded as well; NULL = none. */
    const struct ab_proof_wanted *in_front;
    bool is_own;       /* the program brings it along: it is not preloaded */
    const char *after; /* preloaded behind it; NULL = nothing is */
    /* What the interposer has mapped to count in, as its path begins in /proc/PID/maps; NULL = nothing. */
    const char *memory;
};

enum ab_proof_answer {
    AB_PROOF_GONE, /* it has ended, or cannot be read */
    AB_PROOF_YES,
    AB_PROOF_NO, /* not, or not yet: it may still be loading its libraries */
};

/* What the symbols of files say, read once each. Begins as zeroes. */
struct ab_proof_cache {
    struct ab_proof_file *files;
    size_t n, cap;
};

/* On NO `why` has a sentence that begins with the name of the process. */
enum ab_proof_answer ab_proof_check(struct ab_proof_cache *cache, pid_t pid,
                                    const struct ab_proof_wanted *wanted, char *why, size_t cap);
void ab_proof_cache_fini(struct ab_proof_cache *cache);

/* Is something preloaded? */
bool ab_proof_has_preload(const struct ab_proof_wanted *wanted);

/* Adds to `names` the libraries of a process whose calls bypass what is preloaded and go to the C library's
 * malloc, for they were loaded with RTLD_DEEPBIND or dlmopen. Read from the symbols that the dynamic linker
 * has resolved; calls with lazy binding that were not made yet are not seen. */
enum { AB_PASSES_BYTES = 240 };
void ab_proof_passes(struct ab_proof_cache *cache, pid_t pid, const struct ab_proof_wanted *wanted,
                     char names[AB_PASSES_BYTES]);

/* ---- the malloc that a program brings along ---- */

struct ab_own_malloc {
    struct ab_proof_wanted served; /* path NULL: it has none, the C library serves it */
    struct ab_proof_wanted libc;   /* of the same program; path NULL = not known */
    bool is_program;               /* its file exports a malloc itself: nothing comes before it */
    /* "" = not known. libstdc++ has an operator new that calls malloc, to come ahead of that of `served`. */
    char path[4096], libc_path[4096], libcxx_path[4096];
};

/* By what glibc's dynamic linker would load for this command, in its order; nothing of the command itself is
 * run. Of a script nothing is found. */
enum ab_status ab_own_malloc_find(const char *program, const char *const *argv,
                                  struct ab_own_malloc *out, struct ab_err *err);

/* One run of a real program under one allocator: what it took, whether it succeeded, and whether
 * it was this allocator that served it. Times in ns, sizes in bytes. */

/* Resident memory of a program over its time, in few points whatever the time: where there are too
 * many, two neighbours become the larger of them, so that the peak stays. */

enum { AB_CURVE_POINTS = 100 };

struct ab_memory_curve { /* begins as zeroes */
    struct {
        uint64_t ns; /* since the start of the program */
        double bytes;
    } points[AB_CURVE_POINTS];
    uint32_t n;
    uint32_t n_looks, stride; /* looks in the last point, and in a full one; stride 0 = 1 */
};

/* A look at the program, later than those before it. */
void ab_memory_curve_add(struct ab_memory_curve *curve, uint64_t ns, double bytes);

/* As a time line of the session: positions are ms; of a program of 10 s or more also as memory over
 * time. Nothing is added where there are no points. */
void ab_memory_curve_note(const struct ab_memory_curve *curve, struct ab_session *session,
                          uint32_t backend, uint32_t round);

struct ab_program { /* what is run; strings are borrowed */
    const char *path;
    const char *const *argv;
    const char *stdin_path;         /* NULL = empty */
    uint64_t timeout_ns;            /* of a run; 0 = none */
    const struct ab_server *server; /* program/server.h; NULL = it ends by itself */
    bool
        is_trial; /* no measurement: a server does not rest, and ab_program_outcome.passes is found */
    /* Called, once in a trial that has run for 10 s or more, when a program that should end by itself has taken
     * next to no CPU time for some seconds; NULL = nothing is. */
    void (*waits)(void *user);
    void *user;
};

struct ab_program_case { /* under what */
    struct ab_proof_wanted wanted;
    const char *const *env;    /* "VARIABLE=VALUE", ends with NULL */
    const char *inside_memory; /* where an interposer in front counts; NULL = there is none */
    const struct ab_litter_plan *litter; /* on a heap that is not fresh; NULL = fresh */
    const char *litter_library;          /* that makes it, ahead of the allocator */
    const char *litter_memory;           /* of a run: where it says so; set while it runs */
    /* A folder: what each process has mapped at its end is kept there, "maps.PID"; NULL = none. */
    const char *maps_folder;
    struct ab_unasked *unasked; /* program/unasked.h, with its library in front; NULL = no looks */
};

struct ab_program_outcome {
    enum ab_backend_status status;
    char reason[1024];            /* "" when ok */
    char passes[AB_PASSES_BYTES]; /* ab_proof_passes, of a trial alone: it takes time */
    struct ab_output_digest output;
    double wall_ns, user_ns, system_ns;
    double resident_peak_bytes, resident_mean_bytes; /* NaN = not known */
    double run_delay_ns; /* of all its processes at their ends; NaN = not known */
    /* Time that processes waited at their end to be proven: left out of wall_ns, because nothing else could run;
     * and while others ran, so that it is not known how much of wall_ns it is. */
    double proof_ns, proof_beside_ns;
    uint64_t faults_minor, faults_major, switches_voluntary, switches_involuntary;
    struct ab_memory_curve curve; /* resident memory over time; no points where it is not known */
    unsigned n_left;              /* processes that outlived it, ended by us */
    double ready_ns, loaded_bytes, rested_bytes; /* of a server; NaN = not known */
    double named[AB_NAMED_MAX];                  /* that its load printed; NaN = not known */
};

/* Fails where the system refuses a resource, AB_USAGE where the program cannot be executed,
 * AB_INTERRUPTED on a signal; a program that fails is an outcome. */
enum ab_status ab_program_run(const struct ab_program *program, const struct ab_program_case *c,
                              struct ab_proof_cache *cache, struct ab_program_outcome *out,
                              struct ab_err *err);

/* `sh -c command`, its output to `fd`; AB_SYSTEM when it fails. What it leaves running is ended. */
enum ab_status ab_program_prepare(const char *command, int fd, uint64_t timeout_ns,
                                  struct ab_err *err);

/* Starts the same in a group of its own, with nothing on its standard input; it is the caller's to wait for.
 * After it ab_supervise_expect is to be called for what is supervised. */
enum ab_status ab_program_start_shell(const char *command, int out_fd, int errors_fd, pid_t *out,
                                      struct ab_err *err);

/* ---- inside the program: what its calls took, by the interposer of src/inside ---- */

struct ab_inside_file;

/* Readings of empty calls in all runs of a command, in ticks. A counter that moves in steps makes the median of
 * those of a single run jump by a whole step from run to run. Begins as zeroes; free ticks. */
struct ab_inside_empty {
    struct ab_hdr *ticks; /* NULL = no readings yet */
};
void ab_inside_take_empty(const struct ab_inside_file *f, struct ab_inside_empty *to);

/* Adds a row for each kind of call that there was, and to `all`, a row of session->results, the
 * sums. `cpu_ns` is that of the program with the interposer. */
void ab_inside_note(const struct ab_inside_file *f, const struct ab_inside_empty *empty,
                    double ns_per_tick, double cpu_ns, struct ab_session *session, uint32_t all);

/* At the end of a command: every round subtracts what is known of empty calls by now. Where a call then takes
 * less than an empty one, the numbers inside and outside of that round become NaN. */
void ab_inside_settle(const struct ab_inside_empty *empty, double ns_per_tick,
                      struct ab_session *session);

/* ---- under callgrind: program/program_instr.c ---- */

enum ab_instr_event {
    AB_INSTR_EXECUTED,
    AB_INSTR_REFERENCES, /* to data */
    AB_INSTR_I1_MISSES,
    AB_INSTR_D1_MISSES,
    AB_INSTR_LL_MISSES,
    AB_INSTR_EVENTS
};

/* The caches that callgrind simulates; the same on every machine. Size, ways, bytes in a line. */
#define AB_INSTR_I1 "32768,8,64"
#define AB_INSTR_D1 "32768,8,64"
#define AB_INSTR_LL "8388608,16,64"

struct ab_instr_counts {
    bool is_known; /* else all are n/a */
    double inside[AB_INSTR_EVENTS], outside[AB_INSTR_EVENTS];
};

/* Counts of a run, all its processes together. `reason` is "" where they are known. AB_OK also where the
 * program fails: *out and `reason` say so. */
struct ab_callgrind;
enum ab_status ab_instr_count(struct ab_callgrind *callgrind, const struct ab_program *program,
                              const struct ab_program_case *c, struct ab_proof_cache *cache,
                              struct ab_program_outcome *out, struct ab_instr_counts *counts,
                              char *reason, size_t cap, struct ab_err *err);
void ab_instr_note(const struct ab_instr_counts *counts, struct ab_result *result);

struct ab_program_plan {
    struct ab_program program;
    const struct ab_program_case *cases; /* one a back end of the session, same order */
    uint32_t base;                       /* its output is the one that others are held against */
    uint32_t rounds;
    /* The interposer of --inside, NULL = none: each allocator runs a second time in each round, with it
     * in front. */
    const struct ab_proof_wanted *interposer;
    /* The library that notes where blocks have been, in front of the C library's malloc in its first, untimed
     * run; NULL = none. */
    const struct ab_proof_wanted *noter;
    bool wants_sites; /* … and calls by call site */
    bool wants_instr; /* count each allocator once under callgrind, ahead of the rounds */
    /* Ahead of that: what all of them took without callgrind. May be NULL. */
    void (*counting)(void *user, double plain_ns);
    const char *prepare; /* a shell command before each run; NULL = none */
    int prepare_fd;      /* where its output goes */
    bool is_output_free; /* outputs may differ */
    void (*progress)(void *user, const struct ab_progress *p); /* may be NULL */
    bool (*round_done)(void *user, const struct ab_session *session);
    void *user;
};

struct ab_program_summary {
    struct ab_output_digest output; /* of the base */
    unsigned n_left;                /* processes that outlived a run, most of all runs */
};

/* Fills session->results and rounds, and the status of each back end. AB_OK also where some failed;
 * AB_BACKEND where the program's output depends on more than the allocator; AB_INTERRUPTED leaves
 * the rounds that are complete. */
enum ab_status ab_program_session_run(const struct ab_program_plan *plan,
                                      struct ab_session *session, struct ab_program_summary *out,
                                      struct ab_err *err);

/* The processes of a program that runs, as /proc shows them: the child that was started, what it
 * started, and orphans of those, which are our children. Their resident memory is added up at each
 * look; pages that several share count for each. */

struct ab_process {
    pid_t pid;
    bool is_proven;
    uint32_t n_doubts; /* looks at which it was not proven */
    uint32_t n_looks;  /* in a trial */
    uint64_t first_ns; /* first look */
};

struct ab_processes { /* begins as zeroes */
    struct ab_process *items;
    size_t n, cap;
    uint64_t last_pid; /* the newest on the system when children were listed */
    uint64_t first_ns, last_ns;
    double bytes;      /* resident at the last look */
    double byte_ns;    /* their sum over time */
    double peak_bytes; /* the most of all looks */
    uint32_t n_looks;
    pid_t others;  /* processes of this group belong to the load of a server; 0 = there are none */
    bool is_blind; /* the system does not list children */
};

/* Adds up; processes that are gone leave the list, new ones join it. */
void ab_processes_update(struct ab_processes *t, uint64_t now_ns);
/* Mean since the first look; NaN where there were too few, or children are not listed. */
double ab_processes_mean_bytes(const struct ab_processes *t, uint64_t end_ns);
/* True if no process of the program can go on while `pid` is held: its ancestors up to `root`, which is our child,
 * wait, and they and we have no other child that lives. */
bool ab_processes_wait_for(const struct ab_processes *t, pid_t pid, pid_t root);
/* NULL = not in the list. */
struct ab_process *ab_processes_find(struct ab_processes *t, pid_t pid);
void ab_processes_fini(struct ab_processes *t);

/* How long a process could have run and had no CPU, as the kernel counts it: the second number of
 * /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux). */

/* ns, of the threads that it has now together; NaN where the system does not say. */
double ab_run_delay_ns(pid_t pid);

struct ab_run_delay_end { /* a process that has been looked at and may still be there */
    pid_t pid;
    uint64_t start; /* of a process: a later one can have the same id */
};
struct ab_run_delays { /* of processes that are about to end; begins as zeroes */
    double ns;
    struct ab_run_delay_end *ends;
    size_t n, cap;
};
/* Adds that of a process once, however many of its threads end it: false where it has been added. */
bool ab_run_delays_add(struct ab_run_delays *d, pid_t pid);
void ab_run_delays_fini(struct ab_run_delays *d);

/* The environment of a program that is measured: the user's, with the allocator in front of what
 * else is preloaded and the variables of its settings in place of others of their name. */

/* A list that ends with NULL, to be freed by ab_environment_free.
 * `preload` NULL: LD_PRELOAD stays as it is; paths in it are divided by colons. */
char **ab_environment_build(const char *preload, const char *const *settings);
void ab_environment_free(char **list);

#endif
