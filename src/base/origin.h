/* SPDX-License-Identifier: MIT
 *
 * What a recording knows of each allocation beyond its op, and a placement may ask for: one byte for
 * each allocation of a tape, refused ones as well, in the common order. A resize is asked the same as
 * the allocation of its block. In no tape and in no digest.
 */
#ifndef AB_BASE_ORIGIN_H
#define AB_BASE_ORIGIN_H

#define AB_ORIGIN_CLASSES 64
#define AB_ORIGIN_CLASS 0x3fu  /* call sites that the same patterns fit are of one class */
#define AB_ORIGIN_SCOPED 0x40u /* it dies before the scope ends in which it was born */
#define AB_ORIGIN_ODD 0x80u    /* of that scope, counted from 0 */

#endif
