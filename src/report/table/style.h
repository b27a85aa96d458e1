/* SPDX-License-Identifier: MIT
 *
 * How tables may look on a terminal, or wherever else standard output goes.
 */
#ifndef AB_REPORT_TABLE_STYLE_H
#define AB_REPORT_TABLE_STYLE_H

#include <stdbool.h>

/* What is printed of a session besides the answer. */
enum ab_topic {
    AB_TOPIC_TIME = 1,   /* latencies and throughput by phase, latency over time, conditions */
    AB_TOPIC_SIZE = 2,   /* latency by size of the request */
    AB_TOPIC_WORST = 4,  /* the slowest calls */
    AB_TOPIC_MEMORY = 8, /* memory by phase, over the ops, and when all is freed */
    AB_TOPIC_PERCENTILES = 16, /* how far the samples of one round carry */
    AB_TOPIC_PINS = 32,        /* who holds the pages; the memory pass is asked for it */
    AB_TOPICS_USUAL = AB_TOPIC_TIME | AB_TOPIC_WORST | AB_TOPIC_MEMORY,
    AB_TOPICS_ALL = 31
};

struct ab_table_style {
    unsigned width; /* columns */
    bool color, utf8;
    bool is_verbose; /* of what has no topics: all of it */
    unsigned topics; /* of enum ab_topic; 0 = the answer alone */
    bool is_live;    /* straight after the measurement: what to do next is said after the report */
    const char *phase; /* topics by phase: of this one only; NULL = of all */
};

#endif
