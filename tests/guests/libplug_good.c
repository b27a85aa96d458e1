/* SPDX-License-Identifier: MIT
 *
 * A plug-in that is right in all respects: the skeleton as it stands.
 */
#include "allocators/skeleton/skeleton.c"
