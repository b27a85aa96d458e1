/* SPDX-License-Identifier: MIT
 *
 * The size of a place: an aligned stretch of 64 KiB of addresses. Places are the unit for recording
 * where a program has had blocks and where its memory is resident.
 */
#ifndef AB_BASE_PLACES_H
#define AB_BASE_PLACES_H

enum { AB_PLACE_LOG2 = 16 };

#endif
