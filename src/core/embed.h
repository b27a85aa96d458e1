/* SPDX-License-Identifier: MIT
 *
 * Files of the sources inside the program, which needs none of them where it runs.
 */
#ifndef AB_CORE_EMBED_H
#define AB_CORE_EMBED_H

/* Declares `name` for this file alone: the text of the file at `path`, from the top of the sources,
 * and a 0. The assembler reads it: the Makefile names it as a prerequisite of the object. */
#define AB_EMBED(name, path) \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n"); \
    extern const char name[] __attribute__((visibility("hidden")));

#endif
