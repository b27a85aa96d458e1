/* SPDX-License-Identifier: MIT
 *
 * Asks elfutils (libdw). The C++ library is loaded when the first C++ name comes, for its names
 * alone: nothing else here is C++.
 */
#include "symbols/symbols.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ab_symbols {
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t moved_by; /* what libdw has put the file's addresses to */
};

static char *default_debug_path;
static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &default_debug_path,
};

void ab_symbols_close(struct ab_symbols *s)
{
    if (s == NULL)
        return;
    dwfl_end(s->session);
    free(s);
}

static bool is_same_build(Dwfl_Module *module, const uint8_t *build_id, size_t n)
{
    const unsigned char *bits;
    GElf_Addr where;
    int n_bits = dwfl_module_build_id(module, &bits, &where);
    return n == 0 || ((size_t)n_bits == n && memcmp(bits, build_id, n) == 0);
}

static enum ab_symbols_state report(struct ab_symbols *s, const char *path, const uint8_t *build_id,
                                    size_t n_build_id)
{
    GElf_Addr moved_by;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe would be waited for */
        return AB_SYMBOLS_MISSING;
    s->session = dwfl_begin(&callbacks);
    if (s->session == NULL)
        return AB_SYMBOLS_MISSING;
    dwfl_report_begin(s->session);
    s->module = dwfl_report_offline(s->session, path, path, -1);
    if (dwfl_report_end(s->session, NULL, NULL) != 0 || s->module == NULL ||
        dwfl_module_getelf(s->module, &moved_by) == NULL)
        return AB_SYMBOLS_MISSING;
    s->moved_by = moved_by;
    return is_same_build(s->module, build_id, n_build_id) ? AB_SYMBOLS_OPEN : AB_SYMBOLS_CHANGED;
}

enum ab_symbols_state ab_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id,
                                      struct ab_symbols **out)
{
    struct ab_symbols *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return AB_SYMBOLS_MISSING;
    enum ab_symbols_state state = report(s, path, build_id, n_build_id);
    if (state == AB_SYMBOLS_OPEN)
        *out = s;
    else
        ab_symbols_close(s);
    return state;
}

/* NULL, or a name to be freed. */
static char *demangle(const char *name)
{
    static char *(*demangler)(const char *, char *, size_t *, int *);
    static bool has_tried;
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    if (!has_tried) {
        has_tried = true;
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        if (library != NULL)
            *(void **)&demangler = dlsym(library, "__cxa_demangle");
    }
    return demangler != NULL ? demangler(name, NULL, NULL, &status) : NULL;
}

static void set_function(struct ab_symbol *out, const char *name)
{
    char *shown = demangle(name);
    snprintf(out->function, sizeof out->function, "%s", shown != NULL ? shown : name);
    out->is_new = strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0;
    free(shown);
}

void ab_symbols_find(struct ab_symbols *s, uint64_t address, struct ab_symbol *out)
{
    GElf_Addr at = address + s->moved_by, ignored_address;
    GElf_Sym symbol;
    GElf_Off offset;
    *out = (struct ab_symbol){.line = 0};
    const char *name = dwfl_module_addrinfo(s->module, at, &offset, &symbol, NULL, NULL, NULL);
    if (name != NULL)
        set_function(out, name);
    Dwfl_Line *line = dwfl_module_getsrc(s->module, at);
    const char *file = line == NULL
                           ? NULL
                           : dwfl_lineinfo(line, &ignored_address, &out->line, NULL, NULL, NULL);
    if (file != NULL)
        snprintf(out->file, sizeof out->file, "%s", file);
}
