/* SPDX-License-Identifier: MIT
 *
 * Reads .eh_frame_hdr and .eh_frame of a loaded module. The tables belong to the program and may
 * contain anything. So each byte is read within bounds, and each loop ends.
 */
#include "record/preload/unwind/unwind.h"

#include <stddef.h>
#include <string.h>

/* register numbers of DWARF on x86-64: frame pointer, stack pointer, return address */
enum { REG_FP = 6, REG_SP = 7, REG_RA = 16 };
enum { REMEMBERED = 8, INSTRUCTIONS_MOST = 4096 };

struct bytes {
    uintptr_t at, end;
    bool has_failed;
};

static uint64_t take(struct bytes *b, unsigned n)
{
    uint64_t v = 0;
    if (b->has_failed || b->end - b->at < n) {
        b->has_failed = true;
        return 0;
    }
    memcpy(&v, (const void *)b->at, n);
    b->at += n;
    return v;
}

static uint64_t take_uleb(struct bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take(b, 1);
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    b->has_failed = true;
    return 0;
}

static int64_t take_sleb(struct bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take(b, 1);
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return shift < 57 && (byte & 0x40) != 0 ? (int64_t)(v | ~UINT64_C(0) << (shift + 7))
                                                    : (int64_t)v;
    }
    b->has_failed = true;
    return 0;
}

static void skip(struct bytes *b, uint64_t n)
{
    if (b->has_failed || b->end - b->at < n)
        b->has_failed = true;
    else
        b->at += n;
}

/* ---- pointers, in the DW_EH_PE_… encodings ---- */

static uint64_t take_format(struct bytes *b, uint8_t encoding)
{
    switch (encoding & 15) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return take(b, 8);
    case 0x01:
        return take_uleb(b);
    case 0x02:
        return take(b, 2);
    case 0x03:
        return take(b, 4);
    case 0x09:
        return (uint64_t)take_sleb(b);
    case 0x0a:
        return (uint64_t)(int16_t)take(b, 2);
    case 0x0b:
        return (uint64_t)(int32_t)take(b, 4);
    default:
        b->has_failed = true;
        return 0;
    }
}

/* Reads a pointer, which is absolute (encoding 0x00), relative to its own address (0x10) or
 * relative to `data` (0x30). Fails for other encodings. */
static uint64_t take_pointer(struct bytes *b, uint8_t encoding, uintptr_t data)
{
    uintptr_t here = b->at;
    uint64_t v = take_format(b, encoding);
    switch (encoding & 0xf0) {
    case 0x00:
        return v;
    case 0x10:
        return v + here;
    case 0x30:
        return v + data;
    default:
        b->has_failed = true;
        return 0;
    }
}

/* ---- finding the description (FDE) of an address ---- */

static uintptr_t begin_of(uintptr_t rows, uintptr_t table, size_t i)
{
    int32_t begin;
    memcpy(&begin, (const void *)(rows + i * 8), sizeof begin);
    return table + (uintptr_t)(intptr_t)begin;
}

/* Returns the address of the description (FDE) of the last function that begins at or before pc; 0
 * = none. */
static uintptr_t search(uintptr_t table, uintptr_t low, uintptr_t high, uintptr_t pc)
{
    struct bytes b = {table, high, table < low || table >= high};
    uint8_t version = (uint8_t)take(&b, 1), frame = (uint8_t)take(&b, 1);
    uint8_t count = (uint8_t)take(&b, 1), format = (uint8_t)take(&b, 1);
    take_pointer(&b, frame, table);
    uint64_t n = take_pointer(&b, count, table);
    if (b.has_failed || version != 1 || format != 0x3b || n == 0 || n > (high - b.at) / 8 ||
        begin_of(b.at, table, 0) > pc)
        return 0;
    /* invariant: rows[first] begins at or before pc, rows[end] begins after pc */
    size_t first = 0, end = n;
    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;
        if (begin_of(b.at, table, middle) <= pc)
            first = middle;
        else
            end = middle;
    }
    int32_t description;
    memcpy(&description, (const void *)(b.at + first * 8 + 4), sizeof description);
    return table + (uintptr_t)(intptr_t)description;
}

/* ---- the two kinds of entries: CIE and FDE ---- */

struct common { /* a CIE */
    uint64_t code_factor;
    uint64_t data_factor; /* signed, but stored as unsigned so that products may wrap */
    uint8_t encoding;
    bool is_signal, has_augmentation;
    struct bytes program;
};

struct function { /* an FDE: one function */
    struct common common;
    uintptr_t begin;
    struct bytes program;
};

/* Reads the length of the entry at `at`. Returns the bytes of the entry after its length. */
static struct bytes open_entry(uintptr_t at, uintptr_t low, uintptr_t high)
{
    struct bytes b = {at, high, at < low || at >= high};
    uint64_t n = take(&b, 4);
    if (n == 0xffffffff)
        n = take(&b, 8);
    if (b.has_failed || n == 0 || n > b.end - b.at)
        b.has_failed = true;
    else
        b.end = b.at + n;
    return b;
}

static void read_augmentation(struct bytes *b, const char *letters, struct common *c)
{
    c->has_augmentation = true;
    uint64_t n = take_uleb(b);
    struct bytes data = *b;
    skip(b, n);
    for (const char *p = letters + 1; *p != 0 && !data.has_failed; p++) {
        if (*p == 'R')
            c->encoding = (uint8_t)take(&data, 1);
        else if (*p == 'L')
            take(&data, 1);
        else if (*p == 'P')
            take_format(&data, (uint8_t)take(&data, 1) & 0x7f);
        else if (*p == 'S')
            c->is_signal = true;
        else
            break; /* a letter that is for aarch64 or unknown: the rest cannot be read */
    }
    b->has_failed |= data.has_failed;
}

static bool read_common(uintptr_t at, uintptr_t low, uintptr_t high, struct common *c)
{
    enum { LETTERS = 8 };
    char letters[LETTERS] = "";
    struct bytes b = open_entry(at, low, high);
    uint64_t id = take(&b, 4), version = take(&b, 1);
    size_t n = 0;
    do
        letters[n] = (char)take(&b, 1);
    while (letters[n] != 0 && ++n < LETTERS);
    if (b.has_failed || id != 0 || (version != 1 && version != 3) || n == LETTERS)
        return false;
    *c = (struct common){.code_factor = take_uleb(&b), .data_factor = (uint64_t)take_sleb(&b)};
    if (version == 1)
        take(&b, 1);
    else
        take_uleb(&b);
    if (letters[0] == 'z')
        read_augmentation(&b, letters, c);
    else if (letters[0] != 0)
        return false;
    c->program = b;
    return !b.has_failed;
}

static bool read_function(uintptr_t at, uintptr_t low, uintptr_t high, uintptr_t pc,
                          struct function *f)
{
    struct bytes b = open_entry(at, low, high);
    uintptr_t here = b.at;
    uint64_t distance = take(&b, 4);
    if (b.has_failed || distance == 0 || distance > here - low ||
        !read_common(here - distance, low, high, &f->common))
        return false;
    f->begin = take_pointer(&b, f->common.encoding, 0);
    uint64_t n = take_format(&b, f->common.encoding);
    if (f->common.has_augmentation)
        skip(&b, take_uleb(&b));
    f->program = b;
    return !b.has_failed && pc >= f->begin && pc - f->begin < n;
}

/* ---- the programs in CIEs and FDEs ---- */

struct row {
    uint64_t cfa_register;
    int64_t cfa_offset, fp_offset;
    /* enum ab_frame_base; AB_CFA_SP means cfa_register + cfa_offset here, whichever register it
     * is */
    uint8_t cfa;
    uint8_t fp;
    bool is_outermost, is_ra_known; /* is_ra_known: True if the return address is at CFA - 8 */
};

struct machine {
    const struct common *common;
    struct row row, initial, remembered[REMEMBERED];
    unsigned n_remembered;
    uintptr_t location;
    bool has_failed;
};

static void set_register(struct machine *m, uint64_t reg, uint8_t how, int64_t offset)
{
    if (reg == REG_FP) {
        m->row.fp = how;
        m->row.fp_offset = offset;
    } else if (reg == REG_RA) {
        m->row.is_ra_known = how == AB_FP_AT_CFA && offset == -8;
    } else if (reg == REG_SP) {
        m->has_failed = true;
    }
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg == REG_FP) {
        m->row.fp = m->initial.fp;
        m->row.fp_offset = m->initial.fp_offset;
    } else if (reg == REG_RA) {
        m->row.is_ra_known = m->initial.is_ra_known;
    }
}

static struct bytes take_block(struct bytes *b)
{
    uint64_t n = take_uleb(b);
    struct bytes block = {b->at, b->at, b->has_failed};
    skip(b, n);
    if (!b->has_failed)
        block.end = b->at;
    return block;
}

/* Recognizes two expressions for the CFA: the one that linkers write for procedure linkage tables,
 * and the one of functions that align their stack (DW_OP_breg6 offset, DW_OP_deref). Any other
 * expression makes the CFA unknown. */
static void set_cfa_expression(struct machine *m, struct bytes e)
{
    static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    m->row.cfa = AB_CFA_UNKNOWN;
    if (e.has_failed)
        return;
    if (e.end - e.at == sizeof plt && memcmp((const void *)e.at, plt, sizeof plt) == 0) {
        m->row.cfa = AB_CFA_PLT;
    } else if (take(&e, 1) == 0x70 + REG_FP) {
        m->row.cfa_offset = take_sleb(&e);
        if (take(&e, 1) == 0x06 && !e.has_failed && e.at == e.end)
            m->row.cfa = AB_CFA_AT_FP;
    }
}

/* Sets the place where a register is stored, from an expression. Knows only DW_OP_breg6 offset, for
 * the frame pointer; otherwise the register is lost. */
static void set_expression(struct machine *m, uint64_t reg, struct bytes e)
{
    bool is_by_fp = take(&e, 1) == 0x70 + REG_FP;
    int64_t offset = take_sleb(&e);
    is_by_fp = is_by_fp && !e.has_failed && e.at == e.end;
    set_register(m, reg, is_by_fp && reg == REG_FP ? AB_FP_AT_FP : AB_FP_LOST, offset);
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row.cfa = AB_CFA_SP;
    m->row.cfa_register = reg;
    m->row.cfa_offset = offset;
}

/* Executes an instruction that defines the CFA. Returns false for any other instruction. */
static bool run_cfa(struct machine *m, struct bytes *b, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x0c: /* def_cfa */
        reg = take_uleb(b);
        set_cfa(m, reg, (int64_t)take_uleb(b));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(m, take_uleb(b), m->row.cfa_offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        m->row.cfa_offset = (int64_t)take_uleb(b);
        return true;
    case 0x0f: /* def_cfa_expression */
        set_cfa_expression(m, take_block(b));
        return true;
    case 0x12: /* def_cfa_sf */
        reg = take_uleb(b);
        set_cfa(m, reg, (int64_t)((uint64_t)take_sleb(b) * m->common->data_factor));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        m->row.cfa_offset = (int64_t)((uint64_t)take_sleb(b) * m->common->data_factor);
        return true;
    default:
        return false;
    }
}

/* Executes an instruction that says where a register is stored. Returns false for any other
 * instruction. */
static bool run_register(struct machine *m, struct bytes *b, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x05: /* offset_extended */
        reg = take_uleb(b);
        set_register(m, reg, AB_FP_AT_CFA, (int64_t)(take_uleb(b) * m->common->data_factor));
        return true;
    case 0x11: /* offset_extended_sf */
        reg = take_uleb(b);
        set_register(m, reg, AB_FP_AT_CFA,
                     (int64_t)((uint64_t)take_sleb(b) * m->common->data_factor));
        return true;
    case 0x06: /* restore_extended */
        restore(m, take_uleb(b));
        return true;
    case 0x07: /* undefined */
        reg = take_uleb(b);
        if (reg == REG_RA)
            m->row.is_outermost = true;
        else
            set_register(m, reg, AB_FP_LOST, 0);
        return true;
    case 0x08: /* same_value */
        set_register(m, take_uleb(b), AB_FP_SAME, 0);
        return true;
    case 0x10: /* expression */
        reg = take_uleb(b);
        set_expression(m, reg, take_block(b));
        return true;
    case 0x09: /* register */
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf */
        set_register(m, take_uleb(b), AB_FP_LOST, 0);
        take_uleb(b);
        return true;
    case 0x16: /* val_expression */
        set_register(m, take_uleb(b), AB_FP_LOST, 0);
        take_block(b);
        return true;
    default:
        return false;
    }
}

static void run_other(struct machine *m, struct bytes *b, uint8_t op)
{
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x01: /* set_loc */
        m->location = take_pointer(b, m->common->encoding, 0);
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        m->location += take(b, 1U << (op - 2)) * m->common->code_factor;
        break;
    case 0x0a: /* remember_state */
        if (m->n_remembered < REMEMBERED)
            m->remembered[m->n_remembered++] = m->row;
        else
            m->has_failed = true;
        break;
    case 0x0b: /* restore_state */
        if (m->n_remembered > 0)
            m->row = m->remembered[--m->n_remembered];
        else
            m->has_failed = true;
        break;
    case 0x2e: /* GNU_args_size */
        take_uleb(b);
        break;
    default:
        m->has_failed = true;
    }
}

static void run_one(struct machine *m, struct bytes *b)
{
    uint8_t op = (uint8_t)take(b, 1), low = op & 0x3f;
    if (op >> 6 == 1)
        m->location += low * m->common->code_factor;
    else if (op >> 6 == 2)
        set_register(m, low, AB_FP_AT_CFA, (int64_t)(take_uleb(b) * m->common->data_factor));
    else if (op >> 6 == 3)
        restore(m, low);
    else if (!run_cfa(m, b, op) && !run_register(m, b, op))
        run_other(m, b, op);
}

/* Executes instructions until the row that applies to pc is complete. m->row is this row
 * afterwards. */
static void run(struct machine *m, struct bytes b, uintptr_t pc)
{
    for (unsigned i = 0; b.at < b.end && !m->has_failed; i++) {
        struct row before = m->row;
        run_one(m, &b);
        m->has_failed |= b.has_failed || i == INSTRUCTIONS_MOST;
        if (m->location > pc) {
            m->row = before;
            return;
        }
    }
}

static struct ab_frame_rule rule_of(const struct row *row)
{
    struct ab_frame_rule rule = {.cfa_offset = (int32_t)row->cfa_offset,
                                 .fp_offset = (int16_t)row->fp_offset,
                                 .cfa = row->cfa,
                                 .fp = row->fp};
    if (row->is_outermost)
        return (struct ab_frame_rule){.cfa = AB_CFA_OUTERMOST};
    if (row->cfa == AB_CFA_SP && row->cfa_register == REG_FP)
        rule.cfa = AB_CFA_FP;
    else if (row->cfa == AB_CFA_SP && row->cfa_register != REG_SP)
        rule.cfa = AB_CFA_UNKNOWN;
    if (rule.cfa_offset != row->cfa_offset || !row->is_ra_known)
        rule.cfa = AB_CFA_UNKNOWN;
    if (rule.fp_offset != row->fp_offset)
        rule.fp = AB_FP_LOST;
    return rule;
}

struct ab_frame_rule ab_eh_frame_rule(uintptr_t table, uintptr_t low, uintptr_t high, uintptr_t pc)
{
    struct ab_frame_rule none = {.cfa = AB_CFA_UNKNOWN};
#if defined(__x86_64__)
    struct function f;
    uintptr_t at = search(table, low, high, pc);
    if (at == 0 || !read_function(at, low, high, pc, &f))
        return none;
    if (f.common.is_signal)
        return (struct ab_frame_rule){.cfa = AB_CFA_SIGNAL};
    struct machine m = {.common = &f.common};
    run(&m, f.common.program, UINTPTR_MAX);
    m.initial = m.row;
    m.location = f.begin;
    run(&m, f.program, pc);
    return m.has_failed ? none : rule_of(&m.row);
#else
    (void)table, (void)low, (void)high, (void)pc, (void)search, (void)read_function, (void)run;
    (void)rule_of;
    return none;
#endif
}
