/* SPDX-License-Identifier: MIT
 *
 * A heap in a shared mapping: its pages are in no private footprint.
 */
#include <sys/mman.h>

#undef MAP_PRIVATE
#define MAP_PRIVATE MAP_SHARED
#include "toy.h"
