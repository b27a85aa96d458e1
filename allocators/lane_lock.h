/* SPDX-License-Identifier: MIT
 *
 * The parameter of back ends whose allocator is for one thread and has no other form: a lock around
 * every call, taken only when the work has more than one lane. Hot hooks test `is_shared` themselves
 * and leave the locked form out of line; the others use AB_LOCK_GUARD.
 */
#ifndef AB_ALLOCATORS_LANE_LOCK_H
#define AB_ALLOCATORS_LANE_LOCK_H

#include "allocators/common/lock.h"
#include "allocators/params.h"

enum ab_lane_lock_choice { AB_LANE_LOCK_AUTO, AB_LANE_LOCK_MUTEX };

static const char *const ab_lane_lock_choices[] = {"auto", "mutex", NULL};

/* The entry of the table of parameters. */
#define AB_LANE_LOCK_PARAM \
    AB_CHOICE_ROW("threads", ab_lane_lock_choices, \
                  "auto = a mutex with more than one lane, mutex = always")

static inline void ab_lane_lock_init(struct ab_lock *lock, uint64_t choice, uint32_t lanes)
{
    ab_lock_init(lock, choice == AB_LANE_LOCK_MUTEX || lanes > 1);
}

#endif
