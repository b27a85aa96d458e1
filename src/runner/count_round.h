/* SPDX-License-Identifier: MIT
 *
 * Counts for --instr the instructions and system calls of every back end, in runs of their own.
 * They hardly depend on the machine's state, so one round has them.
 */
#ifndef AB_RUNNER_COUNT_ROUND_H
#define AB_RUNNER_COUNT_ROUND_H

#include "core/status.h"
#include "core/unfinished.h"
#include "runner/run.h"
#include "tape/tape_file.h"
#include "wire/run.h"

#include <stdbool.h>

enum { AB_INSTR_OPS = 500000 };

struct ab_count_plan {
    const struct ab_run_context *context;
    const struct ab_case *cases; /* one a back end of the session */
    struct ab_session *session;  /* the round's throughput is in it */
    uint32_t combination;        /* whose back ends are counted */
    uint32_t round, sample_ops; /* of callgrind; the processor's own counter takes the whole tape */
    void (*progress)(void *user, const char *backend, enum ab_pass pass); /* before each run */
    void *user;
};

/* Fills session->counting, the counts of results and nulls, and says of each back end why it has
 * none. What fails here fails only here: AB_OK unless it was interrupted or memory ran out. */
enum ab_status ab_count_round(const struct ab_count_plan *plan, struct ab_err *err);

/* The beginning of a tape as a tape of its own, for what takes too long to be done with all of it. */

/* Its first ops, at most n and at least one: whole phases, and of the phase that does not fit what
 * comes before op n; a reset stays together with the frees that it stands for. Phases behind that are
 * there and empty. Facts are those of the whole tape, so that a back end is opened as for that. Of a
 * tape in bursts no more than its first. Of one lane only: AB_USAGE else. Ended by
 * ab_tape_map_close. */
enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err);

/* Valgrind's callgrind, which runs a program on a processor made of software and counts each of its
 * instructions. It replaces no function of the program (unlike memcheck), so the allocator that
 * serves is the one that was asked for, and the worker proves it there as anywhere. */

#define AB_CALLGRIND_PACKAGE "valgrind"

struct ab_callgrind {
    char program[4096];
    struct ab_temporary folder;
    const char *arguments[12]; /* for struct ab_run_context.under; ends with NULL */
    char out_file[1100], log_file[1100];
};

/* Looks for valgrind in $PATH and makes a folder for its counts. False: there is none. */
bool ab_callgrind_open(struct ab_callgrind *g);
/* Instructions of each phase that the last run wrote, AB_NOT_COUNTED = none; the files are removed. */
void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases);
/* First line that valgrind itself had to say about the last run, "" = nothing. */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap);
void ab_callgrind_close(struct ab_callgrind *g);

#endif
