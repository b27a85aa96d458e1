/* SPDX-License-Identifier: MIT
 *
 * The toy malloc with no vice at all: what the other guests do wrong is theirs, not the toy's.
 */
#include "toy.h"
