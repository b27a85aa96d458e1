/* SPDX-License-Identifier: MIT
 *
 * Facts about an ELF file, read without loading it, because the parent must know what a library is
 * before a worker runs its constructors. Any file may be hostile: every offset is checked against
 * the file's size, every loop has an end, nothing is mapped.
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
    bool is_executable; /* True for ET_EXEC or PIE; else a shared object. */
    char interp[256];   /* PT_INTERP, "" = none: a library or a static program */
    char soname[256];   /* "" = none */
    char build_id[41];  /* hex, "" = none */
    uint64_t defined;   /* bit 1 << i: names[i] is a defined, visible dynamic symbol */
};

enum { AB_ELF_NAMES_MAX = 64 };

/* Looks the names up as the dynamic loader would, through the hash table; n_names ≤
 * AB_ELF_NAMES_MAX. Fails with AB_INPUT and a reason, as the end of a sentence that begins with the
 * path: absent, not a regular file, not ELF, of another class or machine, truncated,
 * inconsistent. */
enum ab_status ab_elf_read(const char *path, const char *const *names, size_t n_names,
                           struct ab_elf *out, struct ab_err *err);

/* ---- functions by address ---- */

struct ab_elf_place {
    uint64_t address;   /* address in the file's own numbering, for addr2line and disassemblers */
    char function[128]; /* "" = no symbol covers it */
    uint64_t offset;    /* into the function */
};

/* Finds the function at file offset `at`, which is an offset as in a mapping. Uses the symbols of
 * the sections (.symtab, else .dynsym). Returns false, and leaves *out untouched, if the file is no
 * readable ELF file or has no segment there. */
bool ab_elf_find_place(const char *path, uint64_t at, struct ab_elf_place *out);
/* Reads the n bytes of the file before offset `at`. Returns false if the file is shorter. */
bool ab_elf_read_before(const char *path, uint64_t at, unsigned char *buf, size_t n);

#endif
