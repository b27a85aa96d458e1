/* SPDX-License-Identifier: MIT
 *
 * Counts the instructions and system calls of every back end for --instr, in separate runs. One
 * round is enough, because the counts hardly depend on the state of the machine.
 */
#ifndef AB_RUNNER_COUNT_ROUND_H
#define AB_RUNNER_COUNT_ROUND_H

#include "core/status.h"
#include "core/unfinished.h"
#include "runner/run.h"
#include "tape/tape_file.h"
#include "wire/run_page.h"

#include <stdbool.h>

enum { AB_INSTR_OPS = 500000 };

struct ab_count_plan {
    const struct ab_run_context *context;
    const struct ab_case *cases; /* one for each back end of the session */
    struct ab_session *session;  /* already has the throughput results of the round */
    uint32_t combination;        /* combination whose back ends are counted */
    uint32_t round, sample_ops; /* sample_ops: for callgrind; the counter of the processor takes the
                                   whole tape */
    /* called before each run */
    void (*progress)(void *user, const char *backend, enum ab_pass pass);
    void *user;
};

/* Fills session->counting and the counts of results and null records, and records for each back end
 * why it has none. A failed count does not fail the session: returns AB_OK unless it was
 * interrupted or memory ran out. */
enum ab_status ab_count_round(const struct ab_count_plan *plan, struct ab_err *err);

/* Samples of tapes: the beginning of a tape as a tape of its own, for work that is too slow for all
 * of it. */

/* Makes a tape of the first ops, at most n and at least one. It has whole phases, and of the first
 * phase that does not fit, the ops before op n. A reset stays together with its frees. Later phases
 * exist but are empty. The facts are those of the whole tape, so that a back end is opened in the
 * same way. Of a tape in bursts it takes at most the first burst. Returns AB_USAGE for a tape with
 * several lanes. Free with ab_tape_map_close. */
enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err);

/* Interface to Valgrind's callgrind, which runs a program on a simulated processor and counts each
 * instruction. Unlike memcheck it replaces no functions of the program. The requested allocator
 * therefore serves the program, and the worker proves it as usual. */

#define AB_CALLGRIND_PACKAGE "valgrind"

struct ab_callgrind {
    char program[4096];
    struct ab_temporary folder;
    const char *arguments[12]; /* for struct ab_run_context.under; ends with NULL */
    char out_file[1100], log_file[1100];
};

/* Looks for valgrind in $PATH and makes a folder for its counts. Returns false if valgrind is not
 * installed. */
bool ab_callgrind_open(struct ab_callgrind *g);
/* Reads the instructions of each phase of the last run and removes its files. AB_NOT_COUNTED =
 * none. */
void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases);
/* Writes the first message of valgrind itself about the last run; "" = none. */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap);
void ab_callgrind_close(struct ab_callgrind *g);

#endif
