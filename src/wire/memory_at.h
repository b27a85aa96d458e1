/* SPDX-License-Identifier: MIT
 *
 * When memory is read: in a phase, and once every block was freed.
 */
#ifndef AB_WIRE_MEMORY_AT_H
#define AB_WIRE_MEMORY_AT_H

enum ab_memory_at {
    AB_AT_FOOTPRINT_PEAK,
    AB_AT_LIVE_PEAK,
    AB_AT_END, /* after the last op of the phase */
    AB_AT_COUNT
};

#define AB_DRAIN_COUNT 5 /* readings after the last free: result/result.h names them */

#endif
