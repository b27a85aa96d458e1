/* SPDX-License-Identifier: MIT
 *
 * Which functions of a stack only hand memory on: xmalloc, operator new, containers, the C library.
 * The place in a program that wants the memory is the first one that does not.
 */
#ifndef AB_SYMBOLS_WRAPPERS_H
#define AB_SYMBOLS_WRAPPERS_H

#include "symbols/symbols.h"
#include "trace/site_table.h"

/* Does a function of this name, as people write it, only hand memory on? */
bool ab_wrappers_has_name(const char *function);
/* Does this one, of a module (NULL = none)? */
bool ab_wrappers_has(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* Is it part of the C++ library, or of a header that the system has installed? */
bool ab_wrappers_is_library(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* "void ns::box<int, std::allocator<int> >::add(int)" -> "ns::box::add" */
void ab_wrappers_bare_name(const char *function, char *out, size_t cap);

#endif
