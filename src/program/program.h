/* SPDX-License-Identifier: MIT
 *
 * Runs a real program under all allocators. An untimed first run of each allocator proves that
 * the program works and records its output. Then come rounds, in which each allocator runs once
 * in a random order. The order of a round depends only on the seed and the number of the round.
 */
#ifndef AB_PROGRAM_PROGRAM_H
#define AB_PROGRAM_PROGRAM_H

#include "base/aging.h"
#include "core/status.h"
#include "program/memory_curve.h"
#include "program/proof.h"
#include "result/result.h"
#include "runner/run_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- output of a program ----
 *
 * Standard output is hashed while it streams, so that its size does not matter. Of standard error
 * only the end is kept, for messages. */

struct ab_output_digest {
    uint64_t high, low; /* XXH3, 128 bits */
    uint64_t bytes;
};

enum { AB_OUTPUT_TAIL = 400 };

struct ab_program_output {
    int read_fd, write_fd; /* the program inherits write_fd; −1 = closed */
    void *hash;            /* XXH3 state; NULL = keep the tail instead of hashing */
    uint64_t bytes;
    char tail[AB_OUTPUT_TAIL + 1];
    size_t n_tail;
};

enum ab_status ab_program_output_open(struct ab_program_output *o, bool is_hashed,
                                      struct ab_err *err);
/* Closes write_fd in the parent, once the program has inherited it. */
void ab_program_output_started(struct ab_program_output *o);
/* Reads the output that is available without blocking; closes read_fd at end of file. Stops
 * after a number of reads that takes about a millisecond, so that other work does not have to
 * wait. */
void ab_program_output_take(struct ab_program_output *o);
/* Reads all remaining output, once no process writes to the pipe any more, and returns the
 * digest. */
struct ab_output_digest ab_program_output_finish(struct ab_program_output *o);
/* Writes the last line of the tail to `buf` in printable form; "" if there is none. Returns
 * `buf`. */
const char *ab_program_output_says(const struct ab_program_output *o, char *buf, size_t cap);
void ab_program_output_fini(struct ab_program_output *o);

/* ---- how a program is started ---- */

struct ab_program_start {
    const char *path;
    const char *const *argv;
    char *const *envp;
    int stdin_fd, stdout_fd, stderr_fd;
    /* True if its processes stop when they are about to end, so that we can examine them
     * (program/program_run.c) */
    bool is_watched;
    /* True if its processes also stop when they are about to close a library
     * (src/inside/closes.c) */
    bool shows_closes;
};

struct ab_program_started {
    pid_t pid;
    /* descriptor of the seccomp notifications; −1 = not watched, or the system has none */
    int listener;
    uint64_t begin_ns; /* time of the start, by ab_clock_now_ns */
};

/* Starts the program. Returns AB_USAGE if it cannot be executed. */
enum ab_status ab_program_start(const struct ab_program_start *start,
                                struct ab_program_started *out, struct ab_err *err);

/* ---- ends a program when allocbench is killed: program/start.c ---- */

struct ab_processes;

/* Starts the guardian, a process that waits for the end of allocbench. Call this once, before
 * the first thread and before ab_supervise_begin, so that the guardian is not taken for a
 * process of the program. Without a guardian the functions below do nothing. */
void ab_guardian_begin(void);
/* Adds a process group that the guardian ends if allocbench is killed. ab_program_start() adds the
 * group of the program that it starts. */
void ab_guardian_add(pid_t group);
/* Removes a process group that has ended, because another group may get its number. */
void ab_guardian_forget(pid_t group);
/* Tells the guardian which processes the program has now, including those that have left its
 * group. NULL = none. */
void ab_guardian_list(const struct ab_processes *processes);

/* ---- the malloc library that a program is linked to ---- */

struct ab_own_malloc {
    /* allocator of the program; path NULL = the C library serves it */
    struct ab_proof_wanted served;
    struct ab_proof_wanted libc; /* C library of the same program; path NULL = not known */
    /* True if the program file itself exports malloc, so that no preloaded library can replace
     * it */
    bool is_program;
    /* Paths of these libraries and of libstdc++; "" = not known. libstdc++ has an operator new that
     * calls malloc. If libstdc++ is preloaded, it replaces the operator new of `served`. */
    char path[4096], libc_path[4096], libcxx_path[4096];
};

/* Finds the malloc library that the program is linked to, in the order in which ld.so would load
 * its dependencies, without running the program. Finds nothing for scripts. */
enum ab_status ab_own_malloc_find(const char *program, const char *const *argv,
                                  struct ab_own_malloc *out, struct ab_err *err);

/* ---- one run of a program under one allocator: cost, success, and proof of the allocator ----
 *
 * Times are in ns, sizes in bytes. */

struct ab_program_command { /* strings are borrowed */
    const char *path;
    const char *const *argv;
    const char *prepare; /* shell command to run before each run; NULL = none */
};

struct ab_program { /* the program to run; strings are borrowed */
    const char *path;
    const char *const *argv;
    const char *stdin_path; /* NULL = empty */
    uint64_t timeout_ns;    /* limit of one run; 0 = none */
    /* plan for a server (program/server.h); NULL = the program ends by itself */
    const struct ab_server *server;
    /* True for an untimed run: a server gets no rest after the load, and ab_program_outcome.passes
     * is filled */
    bool is_trial;
    /* Callback for a trial that has run for 10 s or more: called once when a program without
     * --server has used almost no CPU time for some seconds. NULL = none. */
    void (*waits)(void *user);
    void *user;
};

struct ab_program_case { /* the conditions of a run */
    const struct ab_program_command *command;
    struct ab_proof_wanted wanted;
    const char *const *env; /* "VARIABLE=VALUE", ends with NULL */
    /* environment variable that tells the interposer where its counters are; NULL = no
     * interposer */
    const char *inside_memory;
    /* aged heap to make before the program starts; NULL = fresh heap */
    const struct ab_aging_plan *aging;
    /* path of the library that makes the aged heap, preloaded ahead of the allocator */
    const char *aging_library;
    /* environment variable that tells that library where its memory is; set during a run */
    const char *aging_memory;
    /* Folder for copies of /proc/PID/maps, taken at the end of each process as "maps.PID"; NULL
     * = none. */
    const char *maps_folder;
    /* set to measure memory that was not requested from malloc (program/unasked.h); the library of
     * that file is then preloaded in front. NULL = not measured */
    struct ab_unasked *unasked;
};

struct ab_program_outcome {
    enum ab_backend_status status;
    char reason[1024]; /* why the run failed; "" if it succeeded */
    /* libraries that bypass the allocator, see ab_proof_passes; filled in trials only, because it
     * takes time */
    char passes[AB_PASSES_BYTES];
    struct ab_output_digest output;
    double wall_ns, user_ns, system_ns;
    double resident_peak_bytes, resident_mean_bytes; /* NaN = not known */
    /* time without a CPU of all processes, read when each ends; NaN = not known */
    double run_delay_ns;
    /* Time that processes waited at their end while their allocator was proven. proof_ns: while no
     * other process could run; it is subtracted from wall_ns. proof_beside_ns: while other
     * processes ran, so that its share of wall_ns is not known. */
    double proof_ns, proof_beside_ns;
    uint64_t faults_minor, faults_major, switches_voluntary, switches_involuntary;
    struct ab_memory_curve curve; /* resident memory over time; without points if not known */
    /* number of processes that outlived the program and were killed */
    unsigned n_left;
    double ready_ns, loaded_bytes, rested_bytes; /* servers only; NaN = unknown */
    /* metrics that the load printed; NaN = not known */
    double named[AB_NAMED_MAX];
};

/* Runs a program once under one allocator. A failing program is an outcome, not an error.
 * Returns AB_USAGE if the program cannot be executed, AB_INTERRUPTED on a signal, and another
 * error if the system refuses a resource. */
enum ab_status ab_program_run(const struct ab_program *program, const struct ab_program_case *c,
                              struct ab_proof_cache *cache, struct ab_program_outcome *out,
                              struct ab_err *err);

/* Runs `sh -c command` with its output to `fd` and kills what the command leaves running.
 * Returns AB_SYSTEM if the command fails. */
enum ab_status ab_program_prepare(const char *command, int fd, uint64_t timeout_ns,
                                  struct ab_err *err);

/* Starts `sh -c command` in a process group of its own, with an empty standard input. The caller
 * waits for it. Call ab_supervise_expect afterwards for the supervised process. */
enum ab_status ab_program_start_shell(const char *command, int out_fd, int errors_fd, pid_t *out,
                                      struct ab_err *err);

/* ---- time of calls inside the program, measured by the interposer of src/inside ---- */

struct ab_inside_file;

/* Timings of empty calls in all runs of a command, in ticks. They are pooled, because with a
 * counter that moves in steps the median of one run jumps by a whole step from run to run.
 * Zero-initialize it; free `ticks`. */
struct ab_inside_empty {
    struct ab_hdr *ticks; /* NULL = no readings yet */
};
void ab_inside_take_empty(const struct ab_inside_file *f, struct ab_inside_empty *to);

/* Adds a row for each kind of call that occurred, and writes the sums to session->results[all].
 * `cpu_ns` is the CPU time of the program with the interposer. */
void ab_inside_note(const struct ab_inside_file *f, const struct ab_inside_empty *empty,
                    double ns_per_tick, double cpu_ns, struct ab_session *session, uint32_t all);

/* Computes the numbers of all rounds again at the end of a command, with the pooled cost of an
 * empty call. If a call then takes less than an empty one, the numbers inside and outside of that
 * round become NaN. */
void ab_inside_settle(const struct ab_inside_empty *empty, double ns_per_tick,
                      struct ab_session *session);

/* ---- counts under callgrind: program/program_instr.c ---- */

enum ab_instr_event {
    AB_INSTR_EXECUTED,
    AB_INSTR_REFERENCES, /* reads and writes of data */
    AB_INSTR_I1_MISSES,
    AB_INSTR_D1_MISSES,
    AB_INSTR_LL_MISSES,
    AB_INSTR_EVENTS
};

/* Caches that callgrind simulates, the same on every machine: size in bytes, ways, bytes per
 * line. */
#define AB_INSTR_I1 "32768,8,64"
#define AB_INSTR_D1 "32768,8,64"
#define AB_INSTR_LL "8388608,16,64"

struct ab_instr_counts {
    bool is_known; /* False: all counts are n/a */
    double inside[AB_INSTR_EVENTS], outside[AB_INSTR_EVENTS];
};

/* Counts one run of a program, all its processes together. Writes to `reason` why there are no
 * counts; "" = there are. Returns AB_OK even if the program fails; *out and `reason` then tell
 * why. */
struct ab_callgrind;
enum ab_status ab_instr_count(struct ab_callgrind *callgrind, const struct ab_program *program,
                              const struct ab_program_case *c, struct ab_proof_cache *cache,
                              struct ab_program_outcome *out, struct ab_instr_counts *counts,
                              char *reason, size_t cap, struct ab_err *err);
void ab_instr_note(const struct ab_instr_counts *counts, struct ab_result *result);

struct ab_program_plan {
    /* the program to run; without path and argv, which come from the cases */
    struct ab_program program;
    const struct ab_program_case *cases; /* one per back end of the session, in the same order */
    /* index of the back end with whose output the others are compared */
    uint32_t base;
    uint32_t rounds;
    /* Interposer of --inside: each allocator runs a second time in each round with the
     * interposer in front. NULL = none. */
    const struct ab_proof_wanted *interposer;
    /* Library that records at which addresses blocks have been (program/unasked.h). It is preloaded
     * in the first, untimed run of the C library's malloc. NULL = none. */
    const struct ab_proof_wanted *noter;
    bool wants_sites; /* True if the interposer also attributes calls to call sites */
    /* True if each allocator is counted once under callgrind, ahead of the rounds */
    bool wants_instr;
    /* Called before callgrind counts, with the total time that the programs took without callgrind.
     * May be NULL. */
    void (*counting)(void *user, double plain_ns);
    int prepare_fd;      /* descriptor for the output of the shell commands before the runs */
    bool is_output_free; /* True if outputs may differ */
    void (*progress)(void *user, const struct ab_progress *p); /* may be NULL */
    bool (*round_done)(void *user, const struct ab_session *session);
    void *user;
};

struct ab_program_summary {
    struct ab_output_digest output; /* output of the program under the base back end */
    unsigned n_left;                /* processes that outlived a run: the maximum over all runs */
};

/* Runs the whole session: fills session->results and rounds, and the status of each back end.
 * Returns AB_OK also if some back ends failed, and AB_BACKEND if the output depends on more than
 * the allocator. AB_INTERRUPTED leaves the complete rounds in place. */
enum ab_status ab_program_session_run(const struct ab_program_plan *plan,
                                      struct ab_session *session, struct ab_program_summary *out,
                                      struct ab_err *err);

/* ---- environment of a measured program ----
 *
 * The environment is the user's, with the allocator ahead of other preloaded libraries. Variables
 * of the allocator's settings replace variables of the same name. */

/* Returns a NULL-terminated list; free it with ab_environment_free. `preload` holds paths
 * divided by colons; NULL = LD_PRELOAD stays as it is. */
char **ab_environment_build(const char *preload, const char *const *settings);
void ab_environment_free(char **list);

#endif
