/* SPDX-License-Identifier: MIT
 *
 * Proves which allocator serves malloc in a running process, from the files that it has mapped.
 * The dynamic linker resolves malloc to the first object that defines it: the program itself,
 * then preloaded libraries, then the other libraries, the C library last. The requested
 * allocator serves malloc if
 *   - its file (device and inode) is mapped as executable,
 *   - the program does not export a malloc of its own, which would come before it,
 *   - no other object except the C library defines malloc, whether linked or loaded later. If
 * one does, the symbols that the linker has resolved must show that only the requested allocator
 * is called from its slots.
 * Without a preload the C library must serve malloc; the same three conditions apply. A program
 * without glibc (static, or with another C library) cannot be proven. An allocator that a
 * program calls by a private name is not detected.
 */
#ifndef AB_PROGRAM_PROOF_H
#define AB_PROGRAM_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_proof_wanted {
    const char *path; /* path of the preloaded library; NULL = the C library's malloc */
    uint64_t dev, ino;
    /* an interposer, which also defines malloc and must be loaded too; NULL = none */
    const struct ab_proof_wanted *in_front;
    /* True if the program brings the allocator along, so that it is not preloaded */
    bool is_own;
    const char *after; /* path of a library that is preloaded after the allocator; NULL = none */
    /* Start of the path in /proc/PID/maps of the memory in which the interposer counts; NULL =
     * not checked. */
    const char *memory;
};

enum ab_proof_answer {
    AB_PROOF_GONE, /* the process has ended, or its files in /proc cannot be read */
    AB_PROOF_YES,
    AB_PROOF_NO, /* another allocator serves the process, or its libraries are still being loaded */
};

/* Symbols of files, each read once. Zero-initialize it. */
struct ab_proof_cache {
    struct ab_proof_file *files;
    size_t n, cap;
};

/* Checks which allocator serves the process. On AB_PROOF_NO, `why` is a sentence that begins
 * with the name of the process. */
enum ab_proof_answer ab_proof_check(struct ab_proof_cache *cache, pid_t pid,
                                    const struct ab_proof_wanted *wanted, char *why, size_t cap);
void ab_proof_cache_fini(struct ab_proof_cache *cache);

/* True if a library is preloaded. */
bool ab_proof_has_preload(const struct ab_proof_wanted *wanted);

/* Finds libraries of a process that bypass the preloaded allocator and call the C library's malloc,
 * because they were loaded with RTLD_DEEPBIND or dlmopen. Adds them to `names`. Reads the symbols
 * that the dynamic linker has resolved. With lazy binding, a call that was not made yet is not
 * seen. */
enum { AB_PASSES_BYTES = 240 };
void ab_proof_passes(struct ab_proof_cache *cache, pid_t pid, const struct ab_proof_wanted *wanted,
                     char names[AB_PASSES_BYTES]);

#endif
