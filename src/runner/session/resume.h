/* SPDX-License-Identifier: MIT
 *
 * Going on with a session that was interrupted: is it the same work on the same machine, and whose
 * rounds are these. Numbers of two different set-ups in one result would be worse than none.
 */
#ifndef AB_RUNNER_RESUME_H
#define AB_RUNNER_RESUME_H

#include "core/status.h"
#include "result/result.h"

/* Before anything runs: tool, workload, tape, settings, seed, rounds, machine, and the list of back
 * ends. AB_USAGE names all that differs; AB_INPUT: `old` is no partial result. */
enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err);

/* Back ends that failed or were absent stay so: their rounds could no longer be complete. */
void ab_resume_keep_failed(struct ab_session *session, const struct ab_session *old);

/* After the pre-flight, which tells what really serves the ops: the same versions, files and build
 * ids as before. */
enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err);

/* Moves all that was measured from `old` into `session`, whose strings it refers to from then on. */
void ab_resume_adopt(struct ab_session *session, struct ab_session *old);

#endif
