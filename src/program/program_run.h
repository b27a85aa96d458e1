/* SPDX-License-Identifier: MIT
 *
 * One run of a real program under one allocator: what it took, whether it succeeded, and whether
 * it was this allocator that served it. Times in ns, sizes in bytes.
 */
#ifndef AB_PROGRAM_PROGRAM_RUN_H
#define AB_PROGRAM_PROGRAM_RUN_H

#include "core/status.h"
#include "program/output.h"
#include "program/proof.h"
#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

/* Resident memory of a program over its time, in few points whatever the time: where there are too
 * many, two neighbours become the larger of them, so that the peak stays. */

enum { AB_COURSE_POINTS = 100 };

struct ab_course { /* begins as zeroes */
    struct {
        uint64_t ns; /* since the start of the program */
        double bytes;
    } points[AB_COURSE_POINTS];
    uint32_t n;
    uint32_t n_looks, stride; /* looks in the last point, and in a full one; stride 0 = 1 */
};

/* A look at the program, later than those before it. */
void ab_course_add(struct ab_course *course, uint64_t ns, double bytes);

/* As a time line of the session: positions are ms. False when out of memory; nothing is added where
 * there are no points. */
void ab_course_note(const struct ab_course *course, struct ab_session *session, uint32_t backend,
                    uint32_t round);

struct ab_program { /* what is run; strings are borrowed */
    const char *path;
    const char *const *argv;
    const char *stdin_path; /* NULL = empty */
    uint64_t timeout_ns;    /* of a run; 0 = none */
};

struct ab_program_case { /* under what */
    struct ab_proof_wanted wanted;
    const char *const *env; /* "VARIABLE=VALUE", ends with NULL */
};

struct ab_program_outcome {
    enum ab_backend_status status;
    char reason[1024]; /* "" when ok */
    struct ab_output_digest output;
    double wall_ns, user_ns, system_ns;
    double resident_peak_bytes, resident_mean_bytes; /* NaN = not known */
    double run_delay_ns; /* of all its processes at their ends; NaN = not known */
    uint64_t faults_minor, faults_major, switches_voluntary, switches_involuntary;
    struct ab_course course; /* resident memory over time; no points where it is not known */
    unsigned n_left;         /* processes that outlived it, ended by us */
};

/* Fails where the system refuses a resource, AB_USAGE where the program cannot be executed,
 * AB_INTERRUPTED on a signal; a program that fails is an outcome. */
enum ab_status ab_program_run(const struct ab_program *program, const struct ab_program_case *c,
                              struct ab_proof_cache *cache, struct ab_program_outcome *out,
                              struct ab_err *err);

/* `sh -c command`, its output to `fd`; AB_SYSTEM when it fails. What it leaves running is ended. */
enum ab_status ab_program_prepare(const char *command, int fd, uint64_t timeout_ns,
                                  struct ab_err *err);

#endif
