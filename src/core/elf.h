/* SPDX-License-Identifier: MIT
 *
 * Facts about an ELF file, read without loading it, because the parent must know what a library is
 * before a worker runs the library's constructors. Any file may be hostile. So every offset is
 * checked against the file's size, every loop has an end, and nothing is mapped.
 */
#ifndef AB_CORE_ELF_H
#define AB_CORE_ELF_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_elf {
    uint64_t dev, ino;
    bool is_dynamic;    /* True if the file has a dynamic section. */
    bool is_executable; /* True for ET_EXEC or PIE; false for a shared object */
    /* the dynamic loader (PT_INTERP); "" = none: a library or a static program */
    char interp[256];
    char soname[256];  /* "" = none */
    char build_id[41]; /* in hexadecimal; "" = none */
    uint64_t defined;  /* bit 1 << i: names[i] is defined as a visible dynamic symbol */
};

enum { AB_ELF_NAMES_MAX = 64 };

/* Reads facts about the file, and which of the n_names names it defines; n_names ≤
 * AB_ELF_NAMES_MAX. Names are looked up through the hash table, as by the dynamic loader. Fails
 * with AB_INPUT and a reason that ends a sentence which begins with the path: absent, not a regular
 * file, not ELF, of another class or machine, truncated, inconsistent. */
enum ab_status ab_elf_read(const char *path, const char *const *names, size_t n_names,
                           struct ab_elf *out, struct ab_err *err);

/* ---- functions by address ---- */

struct ab_elf_place {
    uint64_t address;   /* address in the file's own numbering, for addr2line and disassemblers */
    char function[128]; /* function that has the address; "" = no symbol covers it */
    uint64_t offset;    /* offset of the address in the function */
};

/* Finds the function at file offset `at`, which is an offset as in a mapping. Uses the symbols of
 * the sections (.symtab, else .dynsym). Returns false, and leaves *out untouched, if the file is
 * not a readable ELF file or has no segment there. */
bool ab_elf_find_place(const char *path, uint64_t at, struct ab_elf_place *out);
/* Reads the n bytes of the file that precede offset `at`. Returns false if there are fewer. */
bool ab_elf_read_before(const char *path, uint64_t at, unsigned char *buf, size_t n);

#endif
