/* SPDX-License-Identifier: MIT
 *
 * Lists the modules of another process, and reads their dynamic symbols and relocations from its
 * memory.
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
    uint64_t memory_end; /* end of the memory with zero-initialized variables; 0 = not known */
    char path[PATH_MAX];
    /* is_read: True if the tables below were read; is_sound: True if they make sense */
    bool is_read, is_sound;
    uint64_t bias; /* offset from file addresses to process addresses */
    void *symbols;
    char *strings;
    size_t n_symbols, n_strings;
    uint64_t rela[2], rela_bytes[2];
};

struct ab_modules {
    int memory; /* descriptor of /proc/PID/mem */
    struct ab_module *list;
    size_t n, cap;
};

/* Lists the modules of a process. Returns false if the process may not be read. */
bool ab_modules_open(pid_t pid, struct ab_modules *out);
void ab_modules_close(struct ab_modules *all);

/* Returns the module that contains the address; NULL = none. */
struct ab_module *ab_modules_find(struct ab_modules *all, uint64_t address);

/* True if the module itself defines a function of this name at `address` (0 = anywhere). An address
 * that a symbol is bound to can also be a stub that will resolve the symbol at the first call. */
bool ab_module_defines(struct ab_modules *all, struct ab_module *m, const char *name,
                       uint64_t address);

/* Calls `see` for each symbol that `wants` accepts and that the module has bound, with the address
 * that it is bound to now. */
struct ab_module_visit {
    bool (*wants)(const char *name);
    void (*see)(const char *name, uint64_t value, void *user);
    void *user;
};
void ab_module_bindings(struct ab_modules *all, struct ab_module *m,
                        const struct ab_module_visit *visit);

#endif
