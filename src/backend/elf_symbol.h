/* SPDX-License-Identifier: MIT
 *
 * Which function an address in a mapped ELF file belongs to, by the symbols of its sections (.symtab,
 * else .dynsym). Any file may be hostile or gone by now: every offset is checked against its size.
 */
#ifndef AB_BACKEND_ELF_SYMBOL_H
#define AB_BACKEND_ELF_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_elf_place {
    uint64_t address;   /* as the file counts, what addr2line and disassemblers take */
    char function[128]; /* "" = no symbol covers it */
    uint64_t offset;    /* into the function */
};

/* `at` is an offset in the file, as a mapping has it. False: not a readable ELF file, or no segment
 * of it is there; *out is untouched. */
bool ab_elf_find_place(const char *path, uint64_t at, struct ab_elf_place *out);
/* Bytes of the file before offset `at`; false if the file is shorter. */
bool ab_elf_read_before(const char *path, uint64_t at, unsigned char *buf, size_t n);

#endif
