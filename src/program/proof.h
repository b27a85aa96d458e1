/* SPDX-License-Identifier: MIT
 *
 * Which allocator serves malloc in a running process, from what it has mapped. The dynamic linker
 * resolves malloc to the first object that defines it: the program itself, then what is preloaded,
 * then the libraries, the C library last. So it is the one asked for when
 *   - its file (device and inode) is mapped to be executed,
 *   - the program does not export a malloc of its own, which would come before it,
 *   - no other object but the C library defines malloc: neither one that was linked nor one that was
 *     loaded later.
 * Without a preload it is the C library's, by the same three. A program without glibc (static,
 * another C library) has neither. Not seen: an allocator that a program calls by a private name.
 */
#ifndef AB_PROGRAM_PROOF_H
#define AB_PROGRAM_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_proof_wanted {
    const char *path; /* of the preloaded library; NULL = the C library's malloc */
    uint64_t dev, ino;
};

enum ab_proof_answer {
    AB_PROOF_GONE, /* it has ended, or cannot be read */
    AB_PROOF_YES,
    AB_PROOF_NO, /* not, or not yet: it may still be loading its libraries */
};

/* What the symbols of files say, read once each. Begins as zeroes. */
struct ab_proof_cache {
    struct ab_proof_file *files;
    size_t n, cap;
};

/* On NO `why` has a sentence that begins with the name of the process. */
enum ab_proof_answer ab_proof_look(struct ab_proof_cache *cache, pid_t pid,
                                   const struct ab_proof_wanted *wanted, char *why, size_t cap);
void ab_proof_cache_fini(struct ab_proof_cache *cache);

#endif
