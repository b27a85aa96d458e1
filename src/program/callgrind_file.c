/* SPDX-License-Identifier: MIT
 *
 * Reads callgrind's file format (callgrind-format in valgrind's manual): lines that set the
 * current object and function, with numbers in place of repeated names, and lines of costs. The
 * cost line after `calls=` is the inclusive cost of that call.
 */
#include "program/callgrind_file.h"

#include "base/bits.h"
#include "base/malloc_names.h"
#include "core/alloc.h"
#include "core/elf.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Maps callgrind's columns Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw to events. */
static const enum ab_instr_event event_of[] = {
    AB_INSTR_EXECUTED,  AB_INSTR_REFERENCES, AB_INSTR_REFERENCES,
    AB_INSTR_I1_MISSES, AB_INSTR_D1_MISSES,  AB_INSTR_D1_MISSES,
    AB_INSTR_LL_MISSES, AB_INSTR_LL_MISSES,  AB_INSTR_LL_MISSES};
#define EVENTS "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw"

enum { IDS_MOST = 1 << 24, ROW = AB_ARRAY_LEN(event_of) };

enum whose { OTHERS, ALLOCATORS, NOT_KNOWN /* callgrind writes "???" for the object */ };

struct extent { /* executable mapping of a process, from a copy of its /proc/PID/maps */
    uint64_t begin, end;
    bool is_allocator;
};

struct place { /* a function: whose object it is in, and facts from its name */
    enum whose whose;
    bool is_family, is_named;
};

struct reader {
    struct ab_grind_sum *sum;
    /* objects and functions, indexed by the numbers that the file gives them; each fills one half
     * of a struct place */
    struct place *objects, *functions;
    size_t n_objects, n_functions;
    struct extent *code;
    size_t n_code, cap_code;
    struct place here, there; /* caller and callee; each combines its object and its function */
    bool has_there_object, is_call, has_events, is_whole;
    uint64_t at, target, n_calls; /* addresses */
};

/* ---- which objects are the allocator ---- */

/* True if the object is the allocator: the wanted file, or the C library if nothing is
 * preloaded. */
static bool is_allocator(const struct ab_proof_wanted *w, const char *path)
{
    static const char *const names[] = {"gnu_get_libc_version"};
    struct ab_elf elf;
    struct stat st;
    if (path[0] != '/')
        return false;
    if (w->path == NULL)
        return ab_elf_read(path, names, 1, &elf, NULL) == AB_OK && elf.defined != 0;
    return stat(path, &st) == 0 && st.st_dev == w->dev && st.st_ino == w->ino;
}

static bool is_of_allocator(struct ab_grind_sum *sum, const char *path)
{
    for (size_t i = 0; i < sum->n; i++)
        if (strcmp(sum->objects[i].path, path) == 0)
            return sum->objects[i].is_allocator;
    AB_GROW(sum->objects, sum->cap, sum->n);
    struct ab_grind_object *o = &sum->objects[sum->n++];
    AB_COPY(o->path, path);
    o->is_allocator = is_allocator(sum->wanted, path);
    return o->is_allocator;
}

static void read_maps(struct reader *r, const char *path)
{
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    while (f != NULL && getline(&line, &cap, f) >= 0) {
        struct extent e;
        char flags[8];
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*s %*u %n", &e.begin, &e.end, flags,
                   &at) != 3 ||
            flags[2] != 'x' || at == 0)
            continue;
        line[at + (int)strcspn(line + at, "\n")] = 0;
        e.is_allocator = is_of_allocator(r->sum, line + at);
        AB_GROW(r->code, r->cap_code, r->n_code);
        r->code[r->n_code++] = e;
    }
    free(line);
    if (f != NULL)
        fclose(f);
}

/* Finds the owner of code by its address. Needed for code outside of .text, such as tcmalloc's
 * malloc, generated code and linkage stubs. If the maps of a process are missing (a signal ended
 * it), the owner of a named function is not known. An exception is the C library as allocator,
 * because its malloc is in .text. */
static enum whose at_address(const struct reader *r, const struct place *p, uint64_t address)
{
    for (size_t i = 0; i < r->n_code; i++)
        if (address >= r->code[i].begin && address < r->code[i].end)
            return r->code[i].is_allocator ? ALLOCATORS : OTHERS;
    return r->n_code > 0 || !p->is_named || r->sum->wanted->path == NULL ? OTHERS : NOT_KNOWN;
}

/* ---- functions ---- */

/* True if a function is of the malloc family. Ignores a symbol version ("free@@GLIBC_2.2.5") and
 * the depth of a recursion ("'2"). */
static bool is_family(const char *name)
{
    size_t n = strcspn(name, "@'");
    if (strncmp(name, "__libc_", 7) == 0) {
        name += 7;
        n -= 7;
    } else if (strncmp(name, "__", 2) == 0) {
        name += 2;
        n -= 2;
    }
    return ab_malloc_name_flags(name, n) != 0;
}

/* Finds the entry for a name in the file: "(12) name" defines number 12, a later "(12)" refers to
 * it. Returns NULL for other text, or for too large a number. */
static struct place *place_of(struct place **list, size_t *n, const char *text, const char **name)
{
    char *end;
    unsigned long id = text[0] == '(' ? strtoul(text + 1, &end, 10) : IDS_MOST;
    if (id >= IDS_MOST || *end != ')')
        return NULL;
    if (id >= *n) {
        size_t grown = (size_t)id * 2 + 64;
        *list = ab_realloc(*list, grown, sizeof **list);
        memset(*list + *n, 0, (grown - *n) * sizeof **list);
        *n = grown;
    }
    *name = end[1] == ' ' ? end + 2 : NULL;
    return &(*list)[id];
}

static void take_object(struct reader *r, const char *text, struct place *to)
{
    const char *name;
    struct place *of = place_of(&r->objects, &r->n_objects, text, &name);
    if (of != NULL && name != NULL)
        of->whose = strcmp(name, "???") == 0        ? NOT_KNOWN
                    : is_of_allocator(r->sum, name) ? ALLOCATORS
                                                    : OTHERS;
    if (of != NULL)
        to->whose = of->whose;
}

static void take_function(struct reader *r, const char *text, struct place *to)
{
    const char *name;
    struct place *of = place_of(&r->functions, &r->n_functions, text, &name);
    if (of != NULL && name != NULL) {
        of->is_family = is_family(name);
        of->is_named = strncmp(name, "0x", 2) != 0;
    }
    if (of != NULL) {
        to->is_family = of->is_family;
        to->is_named = of->is_named;
    }
}

/* True if the code belongs to the allocator. If that is the C library, only the functions of the
 * malloc family do. */
static bool is_inside(struct reader *r, const struct place *p, uint64_t address)
{
    enum whose whose = p->whose == NOT_KNOWN ? at_address(r, p, address) : p->whose;
    r->sum->n_unplaced += whose == NOT_KNOWN;
    return whose == ALLOCATORS && (r->sum->wanted->path != NULL || p->is_family);
}

/* ---- lines ---- */

/* Parses an absolute address, or one relative to the previous address: "+7", "-3", "*" (the
 * same). */
static const char *take_address(const char *s, uint64_t *at)
{
    char *end;
    bool is_less = *s == '-';
    if (*s == '*')
        return s + 1;
    bool is_relative = is_less || *s == '+';
    s += is_relative;
    uint64_t n = strtoull(s, &end, strncmp(s, "0x", 2) == 0 ? 16 : 10);
    *at = !is_relative ? n : is_less ? *at - n : *at + n;
    return end;
}

static void add_costs(const char *s, uint64_t to[AB_INSTR_EVENTS])
{
    for (unsigned i = 0; i < ROW; i++) {
        char *end;
        uint64_t n = strtoull(s, &end, 10);
        if (end == s)
            return; /* callgrind omits zeroes at the end of a line */
        to[event_of[i]] += n;
        s = end;
    }
}

/* Parses a cost line "0x4e30000 12 5 1": address, source line, costs. Uses only the inclusive costs
 * of calls, because the `totals:` line has the sum of all other costs. */
static void take_costs(struct reader *r, const char *line)
{
    const char *s = take_address(line, &r->at);
    s += strspn(s, " ");
    s += strcspn(s, " ");
    if (!r->is_call)
        return;
    r->is_call = false;
    if (!r->has_there_object)
        r->there.whose = r->here.whose;
    r->has_there_object = false;
    if (!is_inside(r, &r->there, r->target) || is_inside(r, &r->here, r->at))
        return;
    r->sum->n_calls += r->n_calls;
    add_costs(s, r->sum->inside);
}

static void take_line(struct reader *r, const char *line)
{
    char *end;
    if (strchr("+-*0123456789", line[0]) != NULL) {
        if (line[0] != 0)
            take_costs(r, line);
    } else if (strncmp(line, "ob=", 3) == 0) {
        take_object(r, line + 3, &r->here);
    } else if (strncmp(line, "fn=", 3) == 0) {
        take_function(r, line + 3, &r->here);
    } else if (strncmp(line, "cob=", 4) == 0) {
        take_object(r, line + 4, &r->there);
        r->has_there_object = true;
    } else if (strncmp(line, "cfn=", 4) == 0) {
        take_function(r, line + 4, &r->there);
    } else if (strncmp(line, "calls=", 6) == 0) {
        r->is_call = true;
        r->n_calls = strtoull(line + 6, &end, 10);
        r->target = r->at;
        take_address(end + strspn(end, " "), &r->target);
    } else if (strncmp(line, "events:", 7) == 0) {
        r->has_events = strcmp(line, EVENTS) == 0;
    } else if (strncmp(line, "totals:", 7) == 0 && r->has_events) {
        add_costs(line + 7, r->sum->total);
        r->is_whole = true;
    }
}

void ab_grind_add(struct ab_grind_sum *sum, const char *path, const char *maps)
{
    struct reader r = {.sum = sum};
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    read_maps(&r, maps);
    while (f != NULL && getline(&line, &cap, f) >= 0) {
        line[strcspn(line, "\n")] = 0;
        take_line(&r, line);
    }
    free(line);
    if (f != NULL)
        fclose(f);
    sum->n_files++;
    sum->n_cut += !r.is_whole;
    free(r.objects);
    free(r.functions);
    free(r.code);
}
