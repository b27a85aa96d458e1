/* SPDX-License-Identifier: MIT
 *
 * Memory by places of 64 KiB: where blocks of a program have been, and where its memory is resident.
 */
#ifndef AB_BASE_PLACES_H
#define AB_BASE_PLACES_H

enum { AB_PLACE_LOG2 = 16 };

#endif
