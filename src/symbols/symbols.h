/* SPDX-License-Identifier: MIT
 *
 * Finds the function and line of an address in a file, by its symbols and its debug information,
 * which may be in the file or in a separate one. Distinguishes inlined functions. Demangles
 * names of C++ and Rust.
 */
#ifndef AB_SYMBOLS_SYMBOLS_H
#define AB_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_symbols; /* symbols of one file */

enum ab_symbols_state {
    AB_SYMBOLS_OPEN,
    AB_SYMBOLS_MISSING, /* the file does not exist or cannot be read */
    AB_SYMBOLS_CHANGED, /* the file has another build id than requested */
};

/* "" or 0 = not known; texts are valid until the object that returned them is closed */
struct ab_symbol {
    const char *function;
    const char *file;       /* as the compiler wrote it */
    const char *defined_in; /* file with the definition of the function */
    int line, column;
    bool is_new;     /* True for a C++ operator new */
    bool is_rust;    /* True if its name is one of Rust */
    bool is_inlined; /* True if the function is inlined into the next one in the result */
};

enum { AB_SYMBOLS_MAX = 32 }; /* most functions that are inlined into each other at one address */

/* Opens a file. *out is NULL unless the state is AB_SYMBOLS_OPEN. With n_build_id 0 (not known)
 * any file is accepted. */
enum ab_symbols_state ab_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id,
                                      struct ab_symbols **out);
void ab_symbols_close(struct ab_symbols *s);

enum ab_symbols_depth { AB_SYMBOLS_ADDRESSES, AB_SYMBOLS_FUNCTIONS, AB_SYMBOLS_LINES };

/* Returns how detailed the descriptions can be that the file allows. */
enum ab_symbols_depth ab_symbols_depth(const struct ab_symbols *s);

/* Finds the functions at an address of the file, which must be within the instruction: functions
 * inlined there, the innermost first, then the compiled function. Returns their number, at least
 * one. Texts live until `s` is closed. */
size_t ab_symbols_find(struct ab_symbols *s, uint64_t address,
                       struct ab_symbol out[AB_SYMBOLS_MAX]);

#endif
