/* SPDX-License-Identifier: MIT
 *
 * A worker in this process, for tests of its passes.
 */
#ifndef AB_TESTS_SUPPORT_WORKER_H
#define AB_TESTS_SUPPORT_WORKER_H

#include "tape/tape_file.h"
#include "worker/checks/target.h"
#include "worker/lanes.h"

/* Fills what the worker's main would, from a tape's mapping; w->page is the caller's, its request
 * written before. Slots are allocated here. */
void test_worker_open(struct ab_worker *w, const struct ab_tape_map *map);
void test_worker_close(struct ab_worker *w);

/* The hooks of a face as a target; `hooks` is filled and must outlive it. */
struct ab_target test_target_of_face(const struct ab_heap_face *face, struct ab_backend *hooks);

#endif
