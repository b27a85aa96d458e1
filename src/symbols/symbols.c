/* SPDX-License-Identifier: MIT
 *
 * Asks elfutils (libdw). The C++ library is loaded when the first C++ name comes, for its names
 * alone: nothing else here is C++.
 */
#include "symbols/symbols.h"

#include "core/grow.h"
#include "core/memory.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file stays open after its last user: what is measured in several sessions asks for the same again,
 * and the debug information of the C library alone may take 50 ms to unpack. */
struct ab_symbols {
    struct ab_symbols *next;
    unsigned n_users;
    char *path;
    struct stat st; /* when it was opened */
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t moved_by; /* what libdw has put the file's addresses to */
    char **texts;      /* names that symbols point to */
    size_t n_texts, cap_texts;
};

static struct ab_symbols *kept;
static char *default_debug_path;

/* It stays open, and is for none of the programs that are started meanwhile. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr begin,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    int fd = dwfl_standard_find_debuginfo(module, user, name, begin, file, link, crc, found);
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &default_debug_path,
};

static void forget_texts(struct ab_symbols *s)
{
    for (size_t i = 0; i < s->n_texts; i++)
        free(s->texts[i]);
    s->n_texts = 0;
}

void ab_symbols_close(struct ab_symbols *s)
{
    if (s != NULL && --s->n_users == 0)
        forget_texts(s);
}

static void drop(struct ab_symbols *s)
{
    dwfl_end(s->session);
    free(s->path);
    free(s);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_same_build(Dwfl_Module *module, const uint8_t *build_id, size_t n)
{
    const unsigned char *bits;
    GElf_Addr where;
    int n_bits = dwfl_module_build_id(module, &bits, &where);
    return n == 0 || ((size_t)n_bits == n && memcmp(bits, build_id, n) == 0);
}

static bool report(struct ab_symbols *s)
{
    GElf_Addr moved_by;
    s->session = dwfl_begin(&callbacks);
    if (s->session == NULL)
        return false;
    dwfl_report_begin(s->session);
    s->module = dwfl_report_offline(s->session, s->path, s->path, -1);
    if (dwfl_report_end(s->session, NULL, NULL) != 0 || s->module == NULL ||
        dwfl_module_getelf(s->module, &moved_by) == NULL)
        return false;
    s->moved_by = moved_by;
    return true;
}

/* NULL if it cannot be read. */
static struct ab_symbols *find_or_open(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe would be waited for */
        return NULL;
    for (struct ab_symbols *s = kept; s != NULL; s = s->next)
        if (strcmp(s->path, path) == 0 && is_same_file(&s->st, &st))
            return s;
    struct ab_symbols *s = ab_alloc_zeroed(1, sizeof *s);
    s->path = ab_strdup(path);
    s->st = st;
    if (!report(s)) {
        drop(s);
        return NULL;
    }
    s->next = kept;
    return kept = s;
}

enum ab_symbols_state ab_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id,
                                      struct ab_symbols **out)
{
    struct ab_symbols *s = find_or_open(path);
    *out = NULL;
    if (s == NULL)
        return AB_SYMBOLS_MISSING;
    if (!is_same_build(s->module, build_id, n_build_id))
        return AB_SYMBOLS_CHANGED;
    s->n_users++;
    *out = s;
    return AB_SYMBOLS_OPEN;
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

/* Takes the text. */
static const char *keep(struct ab_symbols *s, char *text)
{
    AB_GROW(s->texts, s->cap_texts, s->n_texts);
    return s->texts[s->n_texts++] = text;
}

static void set_function(struct ab_symbols *s, struct ab_symbol *out, const char *name)
{
    char *shown = demangle(name);
    out->is_new = strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0;
    out->function = keep(s, shown != NULL ? shown : ab_strdup(name));
}

/* ---- inlined functions ---- */

/* Not every compiler writes the index of units by address. */
static Dwarf_Die *find_unit(const struct ab_symbols *s, Dwarf_Addr at, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(s->module, at, bias);
    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(s->module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, at - *bias) > 0)
            break;
    return unit;
}

/* The scopes around a piece of code as they lie in it, the innermost first. dwarf_getscopes gives those
 * of the source: around an inlined function it has where that was defined. */
static int scopes_of(Dwarf_Die *unit, Dwarf_Addr at, Dwarf_Die **out)
{
    Dwarf_Die *defined = NULL, innermost;
    int n = dwarf_getscopes(unit, at, &defined);
    if (n <= 0)
        return 0;
    innermost = defined[0];
    free(defined);
    n = dwarf_getscopes_die(&innermost, out);
    return n > 0 ? n : 0;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* "ns::type::" of a function whose name for the linker is not known. */
static void put_qualifier(FILE *to, Dwarf_Die *function)
{
    Dwarf_Die *scopes = NULL, declared = *function, next;
    Dwarf_Attribute attribute;
    while (dwarf_attr(&declared, DW_AT_abstract_origin, &attribute) != NULL ||
           dwarf_attr(&declared, DW_AT_specification, &attribute) != NULL) {
        if (dwarf_formref_die(&attribute, &next) == NULL)
            break;
        declared = next;
    }
    for (int i = dwarf_getscopes_die(&declared, &scopes) - 1; i > 0; i--) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name = dwarf_diename(&scopes[i]);
        if (tag == DW_TAG_namespace)
            fprintf(to, "%s::", name != NULL ? name : "(anonymous namespace)");
        else if ((tag == DW_TAG_structure_type || tag == DW_TAG_class_type) && name != NULL)
            fprintf(to, "%s::", name);
    }
    free(scopes);
}

static void set_inlined_function(struct ab_symbols *s, struct ab_symbol *out, Dwarf_Die *function)
{
    char *text = NULL;
    size_t n;
    const char *linked = text_of(function, DW_AT_linkage_name);
    const char *name = text_of(function, DW_AT_name);
    if (linked != NULL) {
        set_function(s, out, linked);
        return;
    }
    FILE *to = name != NULL ? open_memstream(&text, &n) : NULL;
    if (to == NULL)
        return;
    put_qualifier(to, function);
    fputs(name, to);
    if (fclose(to) == 0)
        out->function = keep(s, text);
}

/* Where an inlined function was called: that is the place in the next one. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct ab_symbol *next)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files *files;
    size_t n;
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
    if (dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
        return;
    const char *name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
    next->file = name != NULL ? name : "";
    next->line = name != NULL ? (int)line : 0;
}

static const struct ab_symbol unknown = {.function = "", .file = ""};

/* out[0] has its file and line; gives it and those ahead of the last one their functions. Returns the
 * number of the last one. */
static size_t add_inlined(struct ab_symbols *s, Dwarf_Addr at, struct ab_symbol *out)
{
    Dwarf_Addr bias;
    Dwarf_Die *scopes = NULL, *unit = find_unit(s, at, &bias);
    size_t n = 0;
    int n_scopes = unit != NULL ? scopes_of(unit, at - bias, &scopes) : 0;
    for (int i = 0; i < n_scopes && n + 1 < AB_SYMBOLS_MAX; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        set_inlined_function(s, &out[n], &scopes[i]);
        out[n++].is_inlined = true;
        out[n] = unknown;
        set_call(unit, &scopes[i], &out[n]);
    }
    free(scopes);
    return n;
}

static void set_line(const struct ab_symbols *s, Dwarf_Addr at, struct ab_symbol *out)
{
    Dwarf_Addr bias, ignored;
    Dwfl_Line *line = dwfl_module_getsrc(s->module, at);
    const char *file = NULL;
    if (line != NULL) {
        file = dwfl_lineinfo(line, &ignored, &out->line, NULL, NULL, NULL);
    } else {
        Dwarf_Die *unit = find_unit(s, at, &bias);
        Dwarf_Line *row = unit != NULL ? dwarf_getsrc_die(unit, at - bias) : NULL;
        file = row != NULL ? dwarf_linesrc(row, NULL, NULL) : NULL;
        if (file != NULL)
            dwarf_lineno(row, &out->line);
    }
    out->file = file != NULL ? file : "";
}

size_t ab_symbols_find(struct ab_symbols *s, uint64_t address, struct ab_symbol out[AB_SYMBOLS_MAX])
{
    GElf_Addr at = address + s->moved_by;
    GElf_Sym symbol;
    GElf_Off offset;
    out[0] = unknown;
    set_line(s, at, &out[0]);
    size_t last = add_inlined(s, at, out);
    const char *name = dwfl_module_addrinfo(s->module, at, &offset, &symbol, NULL, NULL, NULL);
    if (name != NULL)
        set_function(s, &out[last], name);
    return last + 1;
}
