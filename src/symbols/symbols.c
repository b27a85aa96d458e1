/* SPDX-License-Identifier: MIT
 *
 * Uses elfutils (libdw) for functions and lines, and libiberty to demangle names of C++ and
 * Rust.
 */
#include "symbols/symbols.h"

#include "core/alloc.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* symbols of one file. The file stays open after its last user, because a program measured in
 * several sessions asks for the same names again. The debug information of the C library alone may
 * take 50 ms to unpack. */
struct ab_symbols {
    struct ab_symbols *next;
    unsigned n_users;
    char *path;
    struct stat st; /* state of the file when it was opened */
    Dwfl *session;
    Dwfl_Module *module;
    uint64_t moved_by; /* libdw's address minus the address in the file */
    char **texts;      /* texts to which symbols point */
    size_t n_texts, cap_texts;
};

static struct ab_symbols *kept;
static char *default_debug_path;

/* Opens a file of separate debug information with close-on-exec, because the file stays open while
 * other programs are started. */
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

/* Returns the symbols of a file, and opens the file if that was not done yet; NULL if it cannot be
 * read. */
static struct ab_symbols *find_or_open(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* opening a pipe would block */
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

/* Returns how detailed the descriptions can be. Ignores symbols without a size, because a stripped
 * program still has symbols of the library functions that it calls. */
enum ab_symbols_depth ab_symbols_depth(const struct ab_symbols *s)
{
    Dwarf_Addr bias;
    int n = dwfl_module_getsymtab(s->module);
    if (dwfl_module_getdwarf(s->module, &bias) != NULL)
        return AB_SYMBOLS_LINES;
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        if (dwfl_module_getsym(s->module, i, &symbol, NULL) != NULL && symbol.st_size > 0 &&
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
            return AB_SYMBOLS_FUNCTIONS;
    }
    return AB_SYMBOLS_ADDRESSES;
}

/* Demangles a name; free the result. Returns NULL if the name is neither of C++ nor of Rust.
 * Tries Rust first, because its older form is also valid in C++. */
static char *demangle(const char *name, bool *is_rust)
{
    char *shown = rust_demangle(name, DMGL_AUTO);
    *is_rust = shown != NULL;
    return shown != NULL                 ? shown
           : strncmp(name, "_Z", 2) == 0 ? cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES)
                                         : NULL;
}

/* Keeps a text until the file is closed, and takes ownership of it. */
static const char *keep(struct ab_symbols *s, char *text)
{
    AB_GROW(s->texts, s->cap_texts, s->n_texts);
    return s->texts[s->n_texts++] = text;
}

static void set_function(struct ab_symbols *s, struct ab_symbol *out, const char *name)
{
    char *shown = demangle(name, &out->is_rust);
    out->is_new = strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0;
    out->function = keep(s, shown != NULL ? shown : ab_strdup(name));
}

/* ---- inlined functions ---- */

/* Finds the compilation unit of an address. Searches all units if the index does not have the
 * address, because not every compiler writes that index. */
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

/* True if the entry contains the address. An entry without addresses counts as one without code, at
 * which dwarf_getscopes would fail. */
static bool holds(Dwarf_Die *entry, Dwarf_Addr at)
{
    return dwarf_haspc(entry, at) > 0;
}

enum { NESTED_MOST = 24 }; /* most namespaces and types around a function */

/* Finds the compiled function that contains the address, in a unit, a namespace, a type or
 * another function. */
static bool find_function(Dwarf_Die *in, Dwarf_Addr at, int depth, Dwarf_Die *out)
{
    Dwarf_Die entry;
    int status = dwarf_child(in, &entry);
    for (; status == 0; status = dwarf_siblingof(&entry, &entry)) {
        int tag = dwarf_tag(&entry);
        bool is_around = tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
                         tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
                         tag == DW_TAG_module || tag == DW_TAG_subprogram;
        if (tag == DW_TAG_subprogram && holds(&entry, at)) {
            *out = entry;
            return true;
        }
        if (is_around && depth < NESTED_MOST && find_function(&entry, at, depth + 1, out))
            return true;
    }
    return false;
}

/* Moves *scope to the scope inside it that contains the address. Returns false if there is none. */
static bool find_inner(Dwarf_Die *scope, Dwarf_Addr at)
{
    Dwarf_Die entry;
    int status = dwarf_child(scope, &entry);
    for (; status == 0; status = dwarf_siblingof(&entry, &entry)) {
        int tag = dwarf_tag(&entry);
        bool is_scope = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
                        tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
        if (is_scope && holds(&entry, at)) {
            *scope = entry;
            return true;
        }
    }
    return false;
}

/* Finds the functions inlined at an address, the outermost first. If there are too many, the
 * innermost are dropped. Returns their number. */
static size_t find_inlined(const Dwarf_Die *function, Dwarf_Addr at,
                           Dwarf_Die out[AB_SYMBOLS_MAX - 1])
{
    Dwarf_Die scope = *function;
    size_t n = 0;
    while (n < AB_SYMBOLS_MAX - 1 && find_inner(&scope, at))
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            out[n++] = scope;
    return n;
}

static const char *file_of(Dwarf_Die *function)
{
    const char *file = dwarf_decl_file(function);
    return file != NULL ? file : "";
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* Writes the qualifier of a function that has no linkage name, such as "ns::type::". */
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

/* Sets the position in `next`, the function around an inlined one: it is the line of the call that
 * was inlined. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct ab_symbol *next)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0, column = 0;
    Dwarf_Files *files;
    size_t n;
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_column, &attribute), &column);
    if (dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
        return;
    const char *name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
    next->file = name != NULL ? name : "";
    next->line = name != NULL ? (int)line : 0;
    next->column = name != NULL ? (int)column : 0;
}

static const struct ab_symbol unknown = {.function = "", .file = "", .defined_in = ""};

/* Adds the functions inlined at an address. out[0] has the file and line already. Sets the function
 * names of all entries except the last, and returns the index of the last entry. */
static size_t add_inlined(struct ab_symbols *s, Dwarf_Addr at, struct ab_symbol *out)
{
    Dwarf_Addr bias;
    Dwarf_Die function, inlined[AB_SYMBOLS_MAX - 1], *unit = find_unit(s, at, &bias);
    if (unit == NULL || !find_function(unit, at - bias, 0, &function))
        return 0;
    const size_t n = find_inlined(&function, at - bias, inlined);
    for (size_t i = 0; i < n; i++) {
        set_inlined_function(s, &out[i], &inlined[n - 1 - i]);
        out[i].is_inlined = true;
        out[i].defined_in = file_of(&inlined[n - 1 - i]);
        out[i + 1] = unknown;
        set_call(unit, &inlined[n - 1 - i], &out[i + 1]);
    }
    out[n].defined_in = file_of(&function);
    return n;
}

static void set_line(const struct ab_symbols *s, Dwarf_Addr at, struct ab_symbol *out)
{
    Dwarf_Addr bias, ignored;
    Dwfl_Line *line = dwfl_module_getsrc(s->module, at);
    const char *file = NULL;
    if (line != NULL) {
        file = dwfl_lineinfo(line, &ignored, &out->line, &out->column, NULL, NULL);
    } else {
        Dwarf_Die *unit = find_unit(s, at, &bias);
        Dwarf_Line *row = unit != NULL ? dwarf_getsrc_die(unit, at - bias) : NULL;
        file = row != NULL ? dwarf_linesrc(row, NULL, NULL) : NULL;
        if (file != NULL) {
            dwarf_lineno(row, &out->line);
            dwarf_linecol(row, &out->column);
        }
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
