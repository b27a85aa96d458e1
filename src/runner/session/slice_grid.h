/* SPDX-License-Identifier: MIT
 *
 * How many ops a slice has. The states of a shared machine last from a millisecond on, and a slice
 * that begins and ends in quiet must not hide one: where ops are slow, slices have fewer of them. One
 * number for all back ends and rounds of a session, because they share the grid.
 */
#ifndef AB_RUNNER_SLICE_GRID_H
#define AB_RUNNER_SLICE_GRID_H

#include "runner/session/conductor.h"

/* A power of two in [AB_SLICE_OPS_MIN, AB_SLICE_OPS]: the most with which a slice takes no longer than
 * AB_SLICE_NS_MAX. NaN: AB_SLICE_OPS. */
uint32_t ab_slice_grid(double ns_per_op);
#define AB_SLICE_NS_MAX 400e3

/* Decides it for the session by its fastest back end: a slice that is much shorter than a reading of
 * the canary would measure little but readings. Each runs once for it. */
enum ab_status ab_slice_grid_settle(struct ab_conductor *c, struct ab_err *err);

#endif
