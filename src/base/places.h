/* SPDX-License-Identifier: MIT
 *
 * The size of a place, the unit in which it is noted where a program's blocks have been and where its
 * memory is resident: an aligned stretch of 64 KiB.
 */
#ifndef AB_BASE_PLACES_H
#define AB_BASE_PLACES_H

enum { AB_PLACE_LOG2 = 16 };

#endif
