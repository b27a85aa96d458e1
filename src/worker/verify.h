/* SPDX-License-Identifier: MIT */
#ifndef AB_WORKER_VERIFY_H
#define AB_WORKER_VERIFY_H

#include "worker/worker.h"

/* Runs the first request.verify_ops ops over a heap-shaped view of either boundary. Fails the run
 * at the first thing that is wrong. */
void ab_pass_verify(struct ab_worker *w, struct ab_heap_face *face);

/* A heap-shaped view of malloc functions: a shim, so never for anything that is timed. */
void ab_malloc_as_heap(const struct ab_malloc_face *face, struct ab_heap_face *out);

#endif
