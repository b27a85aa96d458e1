/* SPDX-License-Identifier: MIT
 *
 * One check of `allocbench verify`, as parent and worker see it: what is asked for, what came out.
 */
#ifndef AB_WIRE_VERIFY_RUN_H
#define AB_WIRE_VERIFY_RUN_H

#include <stdint.h>

enum ab_verify_answer {
    AB_ANSWER_NONE, /* the check did not come to its end */
    AB_ANSWER_PASS,
    AB_ANSWER_SKIPPED, /* has nothing to check here; `text` says why */
    AB_ANSWER_INFO,    /* `text` says how it behaves: neither right nor wrong */
    AB_ANSWER_BROKEN,  /* informational, but the back end claims otherwise than `text` */
};

struct ab_verify_request {
    uint32_t check; /* index in ab_checks */
    uint32_t reserved;
    uint64_t seed;
};

struct ab_verify_report {
    uint32_t answer;
    uint32_t n_live; /* blocks live at a NULL that ended the check */
    uint64_t work;   /* of the check's unit; below its floor nothing is proven */
    char text[160];
};

#endif
