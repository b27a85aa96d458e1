/* SPDX-License-Identifier: MIT
 *
 * Walks up a stack, one frame at a time. On the stack that the thread began on, a range of pages is
 * tested once. On another stack (of a signal or a coroutine), each page is tested before it is
 * read.
 */
#include "record/preload/unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096, /* least page size; a larger page is tested in several parts */
    /* largest number of pages by which the known part of the thread's own stack grows at a time: 16
     * MiB */
    OWN_PAGES = 4096,
    FOREIGN_PAGES = 64,  /* largest number of pages that are tested on another stack in one walk */
    NEAREST = 256 << 20, /* an address farther below the top than this is on another stack */
    USUAL = 128,         /* flag in `cfa` of a cached rule, set if is_usual() is true */
};

/* ---- memory ---- */

/* True if the page can be read. Calls sigprocmask with an invalid action: the kernel reads the
 * signal set before it refuses the action, so another error means that the page cannot be read.
 * Does not use the C library's function, which would set errno. */
bool ab_unwind_can_read(uintptr_t address)
{
    enum { NO_ACTION = -1, SET_BYTES = 8, REFUSED = -EINVAL };
    uintptr_t set = address & ~(uintptr_t)7;
#if defined(__x86_64__)
    register long result __asm__("rax") = SYS_rt_sigprocmask;
    register long bytes __asm__("r10") = SET_BYTES;
    __asm__ volatile("syscall"
                     : "+r"(result)
                     : "D"((long)NO_ACTION), "S"(set), "d"(0L), "r"(bytes)
                     : "rcx", "r11", "memory");
#else
    register long number __asm__("x8") = SYS_rt_sigprocmask;
    register long result __asm__("x0") = NO_ACTION;
    register uintptr_t second __asm__("x1") = set;
    register long third __asm__("x2") = 0, bytes __asm__("x3") = SET_BYTES;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(second), "r"(third), "r"(bytes), "r"(number)
                     : "memory");
#endif
    return result == REFUSED;
}

static bool can_read_pages(uintptr_t low, uintptr_t high)
{
    for (uintptr_t at = low & ~(uintptr_t)(PAGE - 1); at < high; at += PAGE)
        if (!ab_unwind_can_read(at))
            return false;
    return true;
}

struct window { /* part of a stack that is known to be readable */
    uintptr_t low, high;
    unsigned n_pages; /* number of further pages that may be tested */
};

/* True if `sp` is on the stack that the thread began on. Extends the known part of that stack down
 * to `sp`. */
static bool is_own(struct ab_unwinder *u, uintptr_t sp)
{
    uintptr_t low = sp & ~(uintptr_t)(PAGE - 1);
    if (sp >= u->stack_low && sp < u->stack_high)
        return true;
    if (u->stack_high != 0 && sp < u->stack_low && u->stack_low - low <= OWN_PAGES * PAGE &&
        can_read_pages(low, u->stack_low)) {
        u->stack_low = low;
        return true;
    }
    for (size_t i = 0; u->stack_high == 0 && i < 2; i++) {
        uintptr_t top = u->stack_tops[i] & ~(uintptr_t)7;
        if (sp >= top || top - sp > NEAREST || top - low > OWN_PAGES * PAGE ||
            !can_read_pages(low, top))
            continue;
        u->stack_low = low;
        u->stack_high = top;
        return true;
    }
    return false;
}

static struct window window_at(struct ab_unwinder *u, bool is_nested, uintptr_t sp)
{
    if (sp >= u->stack_low && sp < u->stack_high)
        return (struct window){sp, u->stack_high, 0};
    if (!is_nested && is_own(u, sp))
        return (struct window){sp, u->stack_high, 0};
    return (struct window){sp, sp, FOREIGN_PAGES};
}

/* Reads a word without a check by AddressSanitizer, which must not report reads that the program
 * does not make. */
static inline __attribute__((no_sanitize("address"))) uintptr_t load(uintptr_t at)
{
    return *(const volatile uintptr_t *)at;
}

static inline bool read_word(struct window *w, uintptr_t at, uintptr_t *out)
{
    if (at % sizeof *out != 0 || at < w->low)
        return false;
    while (at >= w->high) { /* `at` is aligned, so the word is within one page */
        uintptr_t page = w->high & ~(uintptr_t)(PAGE - 1);
        if (w->n_pages == 0 || !ab_unwind_can_read(page))
            return false;
        w->n_pages--;
        w->high = page + PAGE;
    }
    *out = load(at);
    return true;
}

/* ---- modules ---- */

/* struct dl_find_object of glibc 2.35 and later, with space for fields of later versions */
struct found_object {
    unsigned long long flags;
    void *begin, *end;
    struct link_map *map;
    void *table;
    unsigned long long reserved[16];
};

void ab_unwind_find_tables(struct ab_unwind_module *m)
{
    const ElfW(Ehdr) *head = (const void *)m->begin;
    if (m->table == 0 || !ab_unwind_can_read(m->begin) ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof(ElfW(Phdr)) ||
        head->e_phoff > PAGE || head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > PAGE)
        return;
    const ElfW(Phdr) *segments = (const void *)(m->begin + head->e_phoff);
    uintptr_t bias = (uintptr_t)((const struct link_map *)m->map)->l_addr;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        const ElfW(Phdr) *s = &segments[i];
        uintptr_t low = bias + s->p_vaddr;
        if (s->p_type != PT_LOAD || (s->p_flags & PF_R) == 0 || m->table < low ||
            m->table - low >= s->p_filesz)
            continue;
        m->low = low;
        m->high = low + s->p_filesz;
    }
}

struct ab_unwind_module ab_unwind_module(const struct ab_unwinder *u, uintptr_t pc)
{
    int (*find)(void *, struct found_object *);
    struct found_object found = {0};
    *(void **)&find = u->find_object;
    if (find == NULL || find((void *)pc, &found) != 0)
        return (struct ab_unwind_module){0};
    return (struct ab_unwind_module){.table = (uintptr_t)found.table,
                                     .map = (uintptr_t)found.map,
                                     .begin = (uintptr_t)found.begin};
}

/* ---- rules ---- */

static __attribute__((noinline)) struct ab_frame_rule find_rule(const struct ab_unwinder *u,
                                                                uintptr_t pc)
{
    struct ab_unwind_module m = ab_unwind_module(u, pc);
    ab_unwind_find_tables(&m);
    if (m.low == 0)
        return (struct ab_frame_rule){.cfa = AB_CFA_UNKNOWN, .fp = AB_FP_LOST};
    return ab_eh_frame_rule(m.table, m.low, m.high, pc);
}

/* True if walk_usual() can follow the rule without further checks: it is of one of the two usual
 * kinds, and its words are aligned and inside the frame. */
static bool is_usual(struct ab_frame_rule r)
{
    bool has_fp = r.fp == AB_FP_AT_CFA;
    return (r.cfa == AB_CFA_SP || r.cfa == AB_CFA_FP) && (has_fp || r.fp == AB_FP_SAME) &&
           r.cfa_offset >= 8 && r.cfa_offset % 8 == 0 &&
           (!has_fp ||
            (r.fp_offset <= -16 && r.fp_offset % 8 == 0 && -r.fp_offset <= r.cfa_offset));
}

static inline struct ab_unwind_entry *entry_of(const struct ab_unwinder *u, uintptr_t key)
{
    return &u->cache[(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % AB_UNWIND_RULES];
}

/* Returns the rule for the instruction pointer `pc`. For a return address, looks at pc - 1: a call
 * may be the last instruction of a function, so that pc is in the next function. After a signal
 * (is_exact), pc itself is right. */
static inline struct ab_frame_rule rule_at(struct ab_unwinder *u, bool is_nested, uintptr_t pc,
                                           bool is_exact)
{
    uintptr_t key = pc - !is_exact;
    struct ab_unwind_entry *e = NULL;
    if (u->cache != NULL && !is_nested) {
        e = entry_of(u, key);
        if (__builtin_expect(e->key == key, 1)) {
            struct ab_frame_rule known = e->rule;
            known.cfa &= (uint8_t)~USUAL;
            return known;
        }
    }
    struct ab_frame_rule rule = find_rule(u, key);
    if (e != NULL) {
        *e = (struct ab_unwind_entry){key, rule};
        e->rule.cfa |= is_usual(rule) ? USUAL : 0;
    }
    return rule;
}

void ab_unwind_forget(struct ab_unwinder *u)
{
    if (u->cache != NULL)
        memset(u->cache, 0, AB_UNWIND_RULES * sizeof u->cache[0]);
}

/* ---- frames ---- */

struct walk {
    struct ab_unwinder *u;
    struct ab_code_place at;
    struct window window;
    bool is_nested, is_exact, has_fp;
};

/* offsets of the registers in the kernel's ucontext on x86-64 */
enum { UC_FP = 120, UC_SP = 160, UC_PC = 168 };

/* Steps from a signal frame to the interrupted code, which may be on another stack. */
static bool leave_signal(struct walk *w)
{
    uintptr_t base = w->at.sp;
    if (!read_word(&w->window, base + UC_PC, &w->at.pc) ||
        !read_word(&w->window, base + UC_SP, &w->at.sp) ||
        !read_word(&w->window, base + UC_FP, &w->at.fp))
        return false;
    w->has_fp = true;
    w->is_exact = true;
    w->window = window_at(w->u, w->is_nested, w->at.sp & ~(uintptr_t)7);
    return true;
}

static bool find_cfa(struct walk *w, struct ab_frame_rule rule, uintptr_t *cfa)
{
    uintptr_t offset = (uintptr_t)(intptr_t)rule.cfa_offset;
    switch (rule.cfa) {
    case AB_CFA_SP:
        *cfa = w->at.sp + offset;
        return true;
    case AB_CFA_FP:
        *cfa = w->at.fp + offset;
        return w->has_fp;
    case AB_CFA_AT_FP:
        return w->has_fp && read_word(&w->window, w->at.fp + offset, cfa);
    default: /* AB_CFA_PLT */
        *cfa = w->at.sp + 8 + ((w->at.pc & 15) >= 11 ? 8 : 0);
        return true;
    }
}

static bool restore_fp(struct walk *w, struct ab_frame_rule rule, uintptr_t cfa)
{
    uintptr_t base = rule.fp == AB_FP_AT_CFA ? cfa : w->at.fp;
    if (rule.fp == AB_FP_LOST)
        w->has_fp = false;
    if (rule.fp == AB_FP_LOST || rule.fp == AB_FP_SAME)
        return true;
    return read_word(&w->window, base + (uintptr_t)(intptr_t)rule.fp_offset, &w->at.fp);
}

/* Steps to the caller. The caller's frame must be above the current one, so that the walk ends.
 * Returns false if it cannot be found. */
static bool leave_frame(struct walk *w, struct ab_frame_rule rule)
{
    uintptr_t cfa = 0, pc = 0;
    if (!find_cfa(w, rule, &cfa) || cfa <= w->at.sp || !read_word(&w->window, cfa - 8, &pc) ||
        !restore_fp(w, rule, cfa))
        return false;
    w->at.pc = pc;
    w->at.sp = cfa;
    w->is_exact = false;
    return pc != 0;
}

/* Steps to the caller by the frame pointer, which is the address of the caller's stored frame
 * pointer. The return address is stored above it. */
static bool follow_frame_pointer(struct walk *w)
{
    uintptr_t pc = 0, fp = 0, base = w->at.fp;
    if (!w->has_fp || base < w->at.sp || base - w->at.sp > (1 << 20) ||
        !read_word(&w->window, base, &fp) || !read_word(&w->window, base + 8, &pc))
        return false;
#if defined(__aarch64__)
    pc &= UINT64_C(0xffffffffffff); /* removes the bits of pointer authentication */
#endif
    if (pc < PAGE || ab_unwind_module(w->u, pc - 1).map == 0)
        return false;
    w->at = (struct ab_code_place){pc, base + 16, fp};
    w->is_exact = false;
    return true;
}

/* Steps to the next frame. Returns AB_STACK_DEPTH if there is one; otherwise returns why the stack
 * ends. */
static inline enum ab_stack_end step(struct walk *w)
{
    struct ab_frame_rule rule = rule_at(w->u, w->is_nested, w->at.pc, w->is_exact);
    switch (rule.cfa) {
    case AB_CFA_OUTERMOST:
        return AB_STACK_WHOLE;
    case AB_CFA_UNKNOWN:
        if (follow_frame_pointer(w))
            return AB_STACK_DEPTH;
        return rule.fp == AB_FP_LOST ? AB_STACK_NO_TABLE : AB_STACK_NO_RULE;
    case AB_CFA_SIGNAL:
        return leave_signal(w) ? AB_STACK_DEPTH : AB_STACK_NO_MEMORY;
    default:
        return leave_frame(w, rule) ? AB_STACK_DEPTH : AB_STACK_NO_MEMORY;
    }
}

/* Follows frames on the known part of the stack as long as their rules are in the cache and usual.
 * Does the same as repeated step() in a fifth of the instructions. Returns the new number of
 * addresses. */
static inline __attribute__((no_sanitize("address"))) size_t walk_usual(struct walk *w,
                                                                        uintptr_t *addresses,
                                                                        size_t n, size_t depth)
{
    uintptr_t pc = w->at.pc, sp = w->at.sp, fp = w->at.fp, high = w->window.high;
    while (n < depth) {
        const struct ab_unwind_entry *e = entry_of(w->u, pc - 1);
        uintptr_t cfa = sp;
        if (e->key != pc - 1)
            break;
        if (e->rule.cfa != (AB_CFA_SP | USUAL)) {
            if (e->rule.cfa != (AB_CFA_FP | USUAL) || fp % 8 != 0 || fp < sp || fp >= high)
                break;
            cfa = fp;
        }
        cfa += (uintptr_t)(intptr_t)e->rule.cfa_offset;
        if (cfa > high)
            break;
        uintptr_t next = *(const volatile uintptr_t *)(cfa - 8);
        if (next == 0)
            break;
        if (e->rule.fp == AB_FP_AT_CFA)
            fp = *(const volatile uintptr_t *)(cfa + (uintptr_t)(intptr_t)e->rule.fp_offset);
        addresses[n++] = pc = next;
        sp = cfa;
    }
    w->at = (struct ab_code_place){pc, sp, fp};
    return n;
}

size_t ab_unwind(struct ab_unwinder *u, bool is_nested, struct ab_code_place place,
                 uintptr_t *addresses, size_t depth, enum ab_stack_end *end)
{
    struct walk w = {.u = u, .at = place, .is_nested = is_nested, .has_fp = true};
    size_t n = 0;
    addresses[n++] = place.pc;
    *end = AB_STACK_DEPTH;
    if (n < depth)
        w.window = window_at(u, is_nested, place.sp);
    while (n < depth) {
        if (u->cache != NULL && !is_nested && w.window.n_pages == 0 && w.has_fp && !w.is_exact &&
            (n = walk_usual(&w, addresses, n, depth)) == depth)
            break;
        if ((*end = step(&w)) != AB_STACK_DEPTH)
            break;
        addresses[n++] = w.at.pc;
    }
    return n;
}
