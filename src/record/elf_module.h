/* SPDX-License-Identifier: MIT
 *
 * The modules of another process as they are mapped, and their dynamic symbols and relocations, read
 * from its memory.
 */
#ifndef AB_RECORD_ELF_MODULE_H
#define AB_RECORD_ELF_MODULE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_module {
    uint64_t begin, end; /* addresses */
    uint64_t memory_end; /* with its variables that begin as zero; 0 = not read */
    char path[PATH_MAX];
    bool is_read, is_sound; /* its tables are here: */
    uint64_t bias;          /* from its own addresses to those of the process */
    void *symbols;
    char *strings;
    size_t n_symbols, n_strings;
    uint64_t rela[2], rela_bytes[2];
};

struct ab_modules {
    int memory; /* /proc/PID/mem */
    struct ab_module *list;
    size_t n, cap;
};

/* False when the process may not be looked into. */
bool ab_modules_open(pid_t pid, struct ab_modules *out);
void ab_modules_close(struct ab_modules *all);

/* NULL = in none. */
struct ab_module *ab_modules_find(struct ab_modules *all, uint64_t address);
const char *ab_module_name(const struct ab_module *m);

/* Does the module itself have a function of this name, there (0: anywhere)? Else the address may be
 * that of a stub which has yet to find it. */
bool ab_module_defines(struct ab_modules *all, struct ab_module *m, const char *name,
                       uint64_t address);

/* Visits what the dynamic linker has bound: each name that is wanted, with the address it has now. */
struct ab_module_visit {
    bool (*wants)(const char *name);
    void (*see)(const char *name, uint64_t value, void *user);
    void *user;
};
void ab_module_bindings(struct ab_modules *all, struct ab_module *m,
                        const struct ab_module_visit *visit);

#endif
