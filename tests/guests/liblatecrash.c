/* SPDX-License-Identifier: MIT
 *
 * As libnthcrash, but past the pre-flight: the crash falls into a timed pass.
 */
#define NTH 30000
#include "libnthcrash.c"
