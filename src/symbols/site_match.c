/* SPDX-License-Identifier: MIT
 *
 * Matches call sites. All patterns are tried on a frame when the frame is first met.
 */
#include "symbols/site_match.h"

#include "core/alloc.h"
#include "core/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum kind { FUNCTION, LINE, ADDRESS };

struct pattern {
    enum kind kind;
    char *name;       /* FUNCTION, FILE or MODULE */
    int line, column; /* 0 = any */
    uint64_t address;
};

struct known {
    uint64_t mask;
    bool is_known;
};

struct ab_site_matcher {
    const struct ab_site_table *table;
    struct ab_site_names names; /* used if `name` is NULL */
    ab_site_name *name;
    void *user;
    struct pattern patterns[AB_SITE_PATTERNS_MAX];
    size_t n;
    struct known *frames, *stacks; /* results so far: `frames` by index, `stacks` by number */
    size_t cap_frames, cap_stacks;
};

/* ---- patterns ---- */

static bool is_address(const char *text, struct pattern *out)
{
    const char *plus = strstr(text, "+0x");
    if (plus == NULL || plus == text || plus[3] == 0 ||
        plus[3 + strspn(plus + 3, "0123456789abcdefABCDEF")] != 0)
        return false;
    errno = 0;
    out->address = strtoull(plus + 3, NULL, 16);
    if (errno != 0)
        return false;
    out->kind = ADDRESS;
    out->name = ab_strndup(text, (size_t)(plus - text));
    return true;
}

/* Reads the number after the last colon of text[0..*n), and shortens *n to exclude both. Returns -1
 * if there is no number, 0 for "*". The "::" of a C++ name does not count as a colon. Lines and
 * columns begin with 1. */
static int read_last_number(const char *text, size_t *n)
{
    enum { DIGITS_MOST = 8 };
    size_t colon = *n;
    while (colon > 0 && text[colon - 1] != ':')
        colon--;
    size_t digits = *n - colon;
    if (colon < 2 || text[colon - 2] == ':' || digits == 0 || digits > DIGITS_MOST)
        return -1;
    bool is_any = digits == 1 && text[colon] == '*';
    if (!is_any && (strspn(text + colon, "0123456789") < digits || atoi(text + colon) == 0))
        return -1;
    *n = colon - 1;
    return is_any ? 0 : atoi(text + colon);
}

static bool is_line(const char *text, struct pattern *out)
{
    size_t n = strlen(text);
    int last = read_last_number(text, &n), line;
    if (last < 0)
        return false;
    size_t n_file = n;
    bool has_column = (line = read_last_number(text, &n_file)) > 0 && last > 0;
    out->line = has_column ? line : last;
    out->column = has_column ? last : 0;
    out->kind = LINE;
    out->name = ab_strndup(text, has_column ? n_file : n);
    return true;
}

/* True if the pattern can be the name of a function. A name never contains a single colon. */
static bool is_function(const char *text, struct pattern *out)
{
    for (const char *c = strchr(text, ':'); c != NULL; c = strchr(c + 2, ':'))
        if (c[1] != ':')
            return false;
    out->kind = FUNCTION;
    out->name = ab_strdup(text);
    return text[0] != 0;
}

static enum ab_status read_pattern(const char *text, struct pattern *out, struct ab_err *err)
{
    *out = (struct pattern){0};
    if (is_address(text, out) || is_line(text, out) || is_function(text, out))
        return AB_OK;
    free(out->name);
    out->name = NULL;
    return ab_fail(err, AB_USAGE,
                   "'%s' is not a call site: expected FUNCTION (a pattern such as parse_*), "
                   "FILE:LINE, FILE:LINE:COLUMN or MODULE+0xADDRESS",
                   AB_SHOWN(300, text));
}

enum ab_status ab_site_pattern_check(const char *pattern, struct ab_err *err)
{
    struct pattern p;
    AB_TRY(read_pattern(pattern, &p, err));
    free(p.name);
    return AB_OK;
}

/* ---- matching ---- */

static bool is_path(const char *pattern, const char *path)
{
    size_t parts = 0;
    const char *at = path + strlen(path);
    for (const char *c = pattern; *c != 0; c++)
        parts += *c == '/';
    for (parts++; at > path; at--)
        if (at[-1] == '/' && --parts == 0)
            break;
    return fnmatch(pattern, at, FNM_PATHNAME) == 0 || fnmatch(pattern, path, FNM_PATHNAME) == 0;
}

/* True if the pattern matches the name, or the name without parameters, version and suffix. */
static bool is_function_name(const char *pattern, const char *function)
{
    char plain[512];
    if (function[0] == 0)
        return false;
    if (fnmatch(pattern, function, 0) == 0)
        return true;
    size_t n = strcspn(function, "(@.");
    n = n < sizeof plain ? n : sizeof plain - 1;
    memcpy(plain, function, n);
    plain[n] = 0;
    return n > 0 && fnmatch(pattern, plain, 0) == 0;
}

static bool is_meant(const struct pattern *p, const struct ab_site_frame *frame,
                     const struct ab_site_module *module, const struct ab_symbol *symbol)
{
    switch (p->kind) {
    case LINE:
        return symbol->file[0] != 0 && (p->line == 0 || p->line == symbol->line) &&
               (p->column == 0 || p->column == symbol->column) && is_path(p->name, symbol->file);
    case ADDRESS:
        return module != NULL && frame->address == p->address && is_path(p->name, module->path);
    default:
        return is_function_name(p->name, symbol->function);
    }
}

static uint64_t match_frame(struct ab_site_matcher *m, uint32_t index)
{
    const struct ab_site_frame *frame = &m->table->frames[index];
    const struct ab_site_module *module = ab_site_module_of(m->table, frame);
    uint64_t mask = 0;
    AB_GROW_ZEROED(m->frames, m->cap_frames, index);
    if (m->frames[index].is_known)
        return m->frames[index].mask;
    struct ab_site_named named = m->name != NULL ? m->name(m->user, m->table, frame)
                                                 : ab_site_names_find(&m->names, frame);
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < named.n; k++)
            if (is_meant(&m->patterns[i], frame, module, &named.items[k]))
                mask |= UINT64_C(1) << i;
    m->frames[index] = (struct known){mask, true};
    return mask;
}

uint64_t ab_site_matcher_mask(struct ab_site_matcher *m, uint32_t stack)
{
    uint64_t mask = 0;
    if (stack == 0 || stack > m->table->n_stacks)
        return 0;
    AB_GROW_ZEROED(m->stacks, m->cap_stacks, stack);
    if (m->stacks[stack].is_known)
        return m->stacks[stack].mask;
    const struct ab_site_stack *s = &m->table->stacks[stack - 1];
    for (size_t i = 0; i < s->depth; i++)
        mask |= match_frame(m, m->table->lists[s->first + i]);
    m->stacks[stack] = (struct known){mask, true};
    return mask;
}

/* ---- the matcher ---- */

struct ab_site_matcher *ab_site_matcher_open(const struct ab_site_table *table, ab_site_name *name,
                                             void *user)
{
    struct ab_site_matcher *m = ab_alloc_zeroed(1, sizeof *m);
    m->table = table;
    m->name = name;
    m->user = user;
    ab_site_names_init(&m->names, table);
    return m;
}

void ab_site_matcher_close(struct ab_site_matcher *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->n; i++)
        free(m->patterns[i].name);
    ab_site_names_fini(&m->names);
    free(m->frames);
    free(m->stacks);
    free(m);
}

enum ab_status ab_site_matcher_add(struct ab_site_matcher *m, const char *pattern,
                                   struct ab_err *err)
{
    if (m->n == AB_SITE_PATTERNS_MAX)
        return ab_fail(err, AB_USAGE, "more than %d patterns of call sites", AB_SITE_PATTERNS_MAX);
    AB_TRY(read_pattern(pattern, &m->patterns[m->n], err));
    m->n++;
    return AB_OK;
}

/* ---- names; a file is opened when one of its frames is first asked for ---- */

void ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table)
{
    *n = (struct ab_site_names){.table = table};
    AB_GROW_ZEROED(n->modules, n->cap_modules, table->n_modules);
}

void ab_site_names_fini(struct ab_site_names *n)
{
    for (size_t i = 0; n->modules != NULL && i < n->cap_modules; i++)
        ab_symbols_close(n->modules[i].symbols);
    for (size_t i = 0; i < n->cap_frames; i++)
        free(n->frames[i].items);
    free(n->modules);
    free(n->frames);
    *n = (struct ab_site_names){.table = n->table};
}

/* Returns the symbols of a module; NULL = none. */
static struct ab_symbols *symbols_of(struct ab_site_names *n, size_t i)
{
    const struct ab_site_module *m = &n->table->modules[i];
    AB_GROW_ZEROED(n->modules, n->cap_modules, i);
    if (!n->modules[i].is_tried) {
        n->modules[i].is_tried = true;
        n->modules[i].state = ab_symbols_open(m->path, m->build_id, m->n_build_id,
                                              &n->modules[i].symbols);
    }
    return n->modules[i].symbols;
}

struct ab_site_named ab_site_names_none(void)
{
    static struct ab_symbol unknown = {.function = "", .file = "", .defined_in = ""};
    return (struct ab_site_named){&unknown, 1};
}

struct ab_site_named ab_site_names_find(struct ab_site_names *n, const struct ab_site_frame *frame)
{
    struct ab_symbol found[AB_SYMBOLS_MAX];
    size_t index = (size_t)(frame - n->table->frames);
    struct ab_symbols *symbols = frame->module != 0 ? symbols_of(n, frame->module - 1) : NULL;
    if (symbols == NULL)
        return ab_site_names_none();
    AB_GROW_ZEROED(n->frames, n->cap_frames, index);
    struct ab_site_named *known = &n->frames[index];
    if (known->n > 0)
        return *known;
    /* the return address minus 1 is inside the call instruction */
    size_t count = ab_symbols_find(symbols, frame->address - 1, found);
    known->items = ab_alloc(count * sizeof found[0]);
    memcpy(known->items, found, count * sizeof found[0]);
    known->n = count;
    return *known;
}

/* ---- wrappers, by names of functions, files and modules ---- */

static const char *const wrappers[] = {
    "*malloc*", "*calloc*", "*realloc*", "*memalign*", "*strdup*", "*strndup*",  "alloc",
    "allocate", "xalloc",   "*_alloc",   "*_allocate", "*::alloc", "*::allocate"};
static const char *const library[] = {"operator new*", "*::operator new*", "std::*",
                                      "__gnu_cxx::*"};
/* used only for functions of Rust, because other languages have namespaces with these names */
static const char *const rust_library[] = {"alloc::*",  "core::*",   "hashbrown::*",  "__rust*",
                                           "<alloc::*", "<core::*",  "<hashbrown::*", "<std::*",
                                           "<T as *",   "<[T] as *", "<&T as *",      "__rdl_*"};
static const char *const library_modules[] = {"libstdc++.so*", "libc++*"};
static const char *const c_modules[] = {"libc.so*", "ld-linux*", "liballocbench*"};
/* Files of libraries. Containers of other libraries are headers too, and are inlined into their
 * users. */
static const char *const library_files[] = {"/usr/include/*", "/usr/local/include/*", "/usr/lib/*"};
/* Files of Rust's own library, as its compiler names them or at the places where its source is
 * installed; and files of crates, at the places where cargo and Debian install them. */
static const char *const rust_files[] = {
    "/rustc/*/library/*",      "*/lib/rustlib/src/rust/library/*",
    "library/alloc/src/*.rs",  "library/core/src/*.rs",
    "library/std/src/*.rs",    "/rust/deps/*.rs",
    "*/cargo/registry/*",      "*/.cargo/registry/*",
    "*/.cargo/git/checkouts/*"};

void ab_wrappers_bare_name(const char *function, char *out, size_t cap)
{
    static const char nameless[] = "(anonymous namespace)"; /* part of a name */
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
            n = 0; /* the text before is the return type */
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
    return is_any(patterns, n, basename(module->path), 0);
}

bool ab_wrappers_has_name(const char *function)
{
    char name[512];
    ab_wrappers_bare_name(function, name, sizeof name);
    return IS_ANY(wrappers, name, FNM_CASEFOLD) || IS_ANY(library, name, FNM_CASEFOLD);
}

/* True if a function belongs to Rust's library or to a crate. Decides by the file of its
 * definition, or by its name if the file is not known (line tables alone do not tell it). */
static bool is_of_rust(const struct ab_symbol *symbol)
{
    bool is_known = symbol->defined_in != NULL && symbol->defined_in[0] != 0;
    return IS_ANY(rust_files, is_known ? symbol->defined_in : symbol->file, 0) ||
           (symbol->is_rust && IS_ANY(rust_library, symbol->function, 0));
}

bool ab_wrappers_is_library(const struct ab_site_module *module, const struct ab_symbol *symbol)
{
    char name[512];
    ab_wrappers_bare_name(symbol->function, name, sizeof name);
    return symbol->is_new || IS_ANY(library, name, 0) || IS_ANY(library_files, symbol->file, 0) ||
           is_of_rust(symbol) ||
           is_of(module, library_modules, sizeof library_modules / sizeof library_modules[0]);
}

bool ab_wrappers_has(const struct ab_site_module *module, const struct ab_symbol *symbol)
{
    return ab_wrappers_is_library(module, symbol) || ab_wrappers_has_name(symbol->function) ||
           is_of(module, c_modules, sizeof c_modules / sizeof c_modules[0]);
}
