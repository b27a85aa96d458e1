/* SPDX-License-Identifier: MIT
 *
 * By names of functions, files and modules.
 */
#include "symbols/wrappers.h"

#include <fnmatch.h>
#include <string.h>

static const char *const wrappers[] = {
    "*malloc*", "*calloc*", "*realloc*", "*memalign*", "*strdup*", "*strndup*",  "alloc",
    "allocate", "xalloc",   "*_alloc",   "*_allocate", "*::alloc", "*::allocate"};
static const char *const library[] = {"operator new*", "*::operator new*", "std::*",
                                      "__gnu_cxx::*"};
static const char *const library_modules[] = {"libstdc++.so*", "libc++*"};
static const char *const c_modules[] = {"libc.so*", "ld-linux*", "liballocbench*"};
/* Containers of other libraries are headers too, and inlined where they are used. */
static const char *const library_files[] = {"/usr/include/*", "/usr/local/include/*", "/usr/lib/*"};

void ab_wrappers_bare_name(const char *function, char *out, size_t cap)
{
    static const char nameless[] = "(anonymous namespace)"; /* it is part of a name */
    size_t n = 0, depth = 0;
    bool is_operator = strstr(function, "operator ") != NULL;
    for (const char *s = function; *s != 0 && n + 1 < cap; s++) {
        bool is_nameless = strncmp(s, nameless, sizeof nameless - 1) == 0;
        if (depth == 0 && is_nameless && n + sizeof nameless <= cap) {
            memcpy(out + n, nameless, sizeof nameless - 1);
            n += sizeof nameless - 1;
            s += sizeof nameless - 2;
            continue;
        }
        if (depth == 0 && *s == '(' && s != function)
            break;
        if (depth == 0 && *s == ' ' && !is_operator) {
            n = 0; /* what was before is the type */
            continue;
        }
        depth += *s == '<';
        if (depth == 0)
            out[n++] = *s;
        depth -= *s == '>' && depth > 0;
    }
    out[n] = 0;
}

static bool is_any(const char *const *patterns, size_t n, const char *text, int flags)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], text, flags) == 0)
            return true;
    return false;
}

#define IS_ANY(patterns, text, flags) \
    is_any(patterns, sizeof patterns / sizeof patterns[0], text, flags)

static bool is_of(const struct ab_site_module *module, const char *const *patterns, size_t n)
{
    if (module == NULL)
        return false;
    const char *slash = strrchr(module->path, '/');
    return is_any(patterns, n, slash != NULL ? slash + 1 : module->path, 0);
}

bool ab_wrappers_has_name(const char *function)
{
    char name[512];
    ab_wrappers_bare_name(function, name, sizeof name);
    return IS_ANY(wrappers, name, FNM_CASEFOLD) || IS_ANY(library, name, FNM_CASEFOLD);
}

bool ab_wrappers_is_library(const struct ab_site_module *module, const struct ab_symbol *symbol)
{
    char name[512];
    ab_wrappers_bare_name(symbol->function, name, sizeof name);
    return symbol->is_new || IS_ANY(library, name, 0) || IS_ANY(library_files, symbol->file, 0) ||
           is_of(module, library_modules, sizeof library_modules / sizeof library_modules[0]);
}

bool ab_wrappers_has(const struct ab_site_module *module, const struct ab_symbol *symbol)
{
    return ab_wrappers_is_library(module, symbol) || ab_wrappers_has_name(symbol->function) ||
           is_of(module, c_modules, sizeof c_modules / sizeof c_modules[0]);
}
