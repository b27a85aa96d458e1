/* SPDX-License-Identifier: MIT
 *
 * A known waste: every block is rounded up to a multiple of 4096 bytes.
 */
#define TOY_ROUND(size) (((size) + 4095) & ~(size_t)4095)
#include "toy.h"
