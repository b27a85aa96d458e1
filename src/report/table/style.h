/* SPDX-License-Identifier: MIT
 *
 * The appearance of tables on a terminal, or on any other standard output.
 */
#ifndef AB_REPORT_TABLE_STYLE_H
#define AB_REPORT_TABLE_STYLE_H

#include <stdbool.h>

/* Topics of a session that are printed besides the answer. */
enum ab_topic {
    AB_TOPIC_TIME = 1,   /* latencies and throughput by phase, latency over time, conditions */
    AB_TOPIC_SIZE = 2,   /* latency by requested size */
    AB_TOPIC_WORST = 4,  /* the slowest calls */
    AB_TOPIC_MEMORY = 8, /* memory by phase, over the ops, and once everything is freed */
    AB_TOPIC_PERCENTILES = 16, /* precision of percentiles that follows from the samples of one
                                  round */
    AB_TOPIC_PINS = 32,        /* blocks that pin pages; must also be requested from the memory
                                  pass */
    AB_TOPICS_USUAL = AB_TOPIC_TIME | AB_TOPIC_WORST | AB_TOPIC_MEMORY,
    AB_TOPICS_ALL = 31
};

struct ab_table_style {
    unsigned width; /* columns */
    bool color, utf8;
    bool is_verbose; /* True to print everything, for output without topics */
    unsigned topics; /* bits of enum ab_topic; 0 = only the answer */
    bool is_live;    /* True directly after the measurement; the next command is then printed after
                        the report */
    const char *phase; /* only this phase in topics by phase; NULL = all phases */
};

#endif
