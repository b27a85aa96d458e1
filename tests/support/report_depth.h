/* SPDX-License-Identifier: MIT
 *
 * What a fake session lacks: size classes, windows, memory records,
 * distributions and time lines, of two back
 * ends that worked and of one that crashed. Made up and deterministic as well.
 */
#ifndef AB_TESTS_REPORT_DEPTH_H
#define AB_TESTS_REPORT_DEPTH_H

#include "report_session.h"

enum { FAKE_POINTS = 5, FAKE_WINDOWS = 4 };

struct fake_depth {
    struct fake_session *f;
    struct ab_size_class classes[64];
    struct ab_window windows[64];
    struct ab_memory memory[64];
    struct ab_timeline lines[16];
    struct ab_timeline_point points[16][FAKE_POINTS];
    struct ab_memory_dist dists[128];
    struct ab_overview overview;
};

struct fake_depth *fake_depth_new(void);
void fake_depth_free(struct fake_depth *d);

#endif
