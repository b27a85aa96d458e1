/* SPDX-License-Identifier: MIT
 *
 * Embeds source files in the program, so that it needs none of them at run time.
 */
#ifndef AB_CORE_EMBED_H
#define AB_CORE_EMBED_H

/* Declares `name` in the file that uses this macro: the text of the file at `path` (from the top of
 * the sources), followed by a 0. The assembler reads the file, so the Makefile must name it as a
 * prerequisite of the object. */
#define AB_EMBED(name, path) \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n"); \
    extern const char name[] __attribute__((visibility("hidden")));

#endif
