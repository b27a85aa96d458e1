/* SPDX-License-Identifier: MIT
 *
 * From an address in a file to a function and a line, by the file's symbols and its debug
 * information, where there are any: in the file, or where the system keeps it apart. Functions that
 * were inlined are told apart. Names of C++ and Rust are as people write them.
 */
#ifndef AB_SYMBOLS_SYMBOLS_H
#define AB_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_symbols; /* of one file */

enum ab_symbols_state {
    AB_SYMBOLS_OPEN,
    AB_SYMBOLS_MISSING, /* no such file, or it cannot be read */
    AB_SYMBOLS_CHANGED, /* it is another one than was asked for */
};

struct ab_symbol { /* "", 0 = not known; texts live as long as what named them */
    const char *function;
    const char *file;       /* as the compiler wrote it */
    const char *defined_in; /* file that holds the definition of the function */
    int line, column;
    bool is_new;     /* a C++ operator new */
    bool is_rust;    /* its name is one of Rust */
    bool is_inlined; /* into the next one */
};

enum { AB_SYMBOLS_MAX = 32 }; /* functions that are inlined into each other at one address */

/* *out is NULL unless the state is AB_SYMBOLS_OPEN. build_id may be of 0 bytes: not known, then
 * the file is taken as it is. */
enum ab_symbols_state ab_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id,
                                      struct ab_symbols **out);
void ab_symbols_close(struct ab_symbols *s);

enum ab_symbols_depth { AB_SYMBOLS_ADDRESSES, AB_SYMBOLS_FUNCTIONS, AB_SYMBOLS_LINES };

/* Returns as what addresses of the file can be told at best. */
enum ab_symbols_depth ab_symbols_depth(const struct ab_symbols *s);

/* `address`: in the addresses of the file, within the instruction. The function that was compiled
 * comes last, ahead of it those inlined there, the innermost first. Returns how many: one at least.
 * Texts live until `s` is closed. */
size_t ab_symbols_find(struct ab_symbols *s, uint64_t address,
                       struct ab_symbol out[AB_SYMBOLS_MAX]);

#endif
