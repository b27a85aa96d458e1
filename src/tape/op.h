/* SPDX-License-Identifier: MIT
 *
 * The format of an op of a tape: 8 bytes, decoded before anything is timed.
 *
 *     bits 0–3   code            bits 4–31  slot            bits 32–63  size or operand
 *
 * `word & ~15` is the byte offset of the slot in a table of 16-byte entries, so that the hot loop
 * decodes it with one instruction. A slot names a live block, never an address. It is reused after
 * its free, last in, first out.
 *
 * Codes ALLOC … RESIZE exist twice. With AB_CODE_TOUCHED the block is touched after the op, outside
 * the timed interval. An allocation of at most a page is touched in its first byte; a resize is
 * touched once a page from its old size on. This is the default touch (page). It is fused with the
 * op because a second dispatch would cost the harness more than the store. Every other touch is an
 * op of its own.
 *
 * Ops that do not fit go through AB_CODE_WIDE, whose operand is an index in the tape's side table.
 * These are sizes ≥ 4 GiB, more than 2^28 slots, large alignments, and requests that failed in the
 * recorded program.
 */
#ifndef AB_TAPE_OP_H
#define AB_TAPE_OP_H

#include "allocators/ab_backend.h"

#include <stdint.h>

enum ab_code {
    AB_CODE_FREE = 0,
    AB_CODE_ALLOC = 1,
    AB_CODE_ALLOC_ZEROED = 2,
    AB_CODE_ALLOC_ALIGNED = 3, /* operand: size in 27 bits, log2(alignment) above */
    AB_CODE_RESIZE = 4,
    AB_CODE_TOUCH = 5,      /* operand: enum ab_touch in 3 bits, above it n of `first(n)`, or enum
                               ab_escape for AB_TOUCH_NONE */
    AB_CODE_ACCESS = 6,     /* operand: enum ab_access */
    AB_CODE_RESET = 7,      /* operand: number of following FREE ops that one call replaces; slot:
                               enum ab_reset, the kind of that call */
    AB_CODE_TOUCHED = 8,    /* flag: codes 9 … 12 are 1 … 4 followed by a touch as above */
    AB_CODE_FREE_SIZED = 8, /* free through the function that takes the size, if there is one;
                               operand: log2 of the requested alignment, else 0. It equals the
                               code of a touched FREE, which does not exist */
    AB_CODE_WAIT = 13,      /* slot AB_SLOT_OF_LANE(l): wait until lane l has published `operand`;
                               AB_SLOT_FRAME: enter frame `operand` of the skew window;
                               AB_SLOT_GROUP: the window binds the lane to group `operand` */
    AB_CODE_PUBLISH = 14,   /* operand: the count; slot: that of the op before */
    AB_CODE_WIDE = 15,
};

/* Flags of a RESET's slot; 0 = a bulk reset. A scope begins with a MARK and may end with a RESET of
 * the same depth. */
enum ab_reset {
    AB_RESET_OTHERS = 1,  /* other blocks stay alive: no bulk reset */
    AB_RESET_RELEASE = 2, /* return to the save point; all younger blocks are dead then, even with 0
                             frees; in a MARK: a release will follow */
    AB_RESET_MARK = 4,    /* take a save point; no FREE belongs to it */
    AB_RESET_CROWDED = 8, /* other lanes are active: only in a heap of the lane's own */
};
#define AB_RESET_DEPTH(slot) ((slot) >> 4) /* 0 = not a scope; 1 … AB_SAVE_POINTS_MAX */
#define AB_RESET_MAKE(flags, depth) ((uint32_t)(flags) | (uint32_t)(depth) << 4)

enum ab_touch { /* bytes of a block that are written after its allocation */
                AB_TOUCH_NONE,
                AB_TOUCH_FIRST, /* the first n bytes */
                AB_TOUCH_ENDS,  /* first and last byte */
                AB_TOUCH_PAGE,  /* the first byte, one every 4096, and the last one if larger than
                                  4096 */
                AB_TOUCH_LINE,  /* the first byte, then one every 64 */
                AB_TOUCH_ALL,
                AB_TOUCH_APART, /* as page, but never timed; of small blocks one for each
                                   AB_APART_BYTES, because they share pages */
                AB_TOUCH_WALK,  /* writes nothing: the next n ACCESS ops are one walk over blocks,
                                  which may be run instead of them; slot: the first of them */
};
/* Touches of requests that are not modes of an op; a tape encodes them differently. */
enum {
    AB_TOUCH_LEADING = 8, /* as page or apart, but only the first n pages: AB_ESCAPE_LEADING */
    AB_TOUCH_SHARE, /* the same, where n is a share of the block in millionths; at least a page */
};

/* Whether a replay touches as much of a large block as the recorded program wrote. Blocks of which
 * this is not known are touched like the others. */
enum ab_touch_recorded {
    AB_RECORDED_NOT,  /* no: the touch mode applies to large blocks too */
    AB_RECORDED_AUTO, /* yes; if the trace does not say, zeroed blocks are not touched */
    AB_RECORDED_MUST, /* yes; a trace that does not say is refused */
};

/* Kinds of AB_CODE_TOUCH that are not touch modes, because there was no code left for them. */
enum ab_escape {
    AB_ESCAPE_LEADING = 1, /* touch the first byte and one every 4096, n pages in all */
    AB_ESCAPE_TRIM = 2, /* no block: the program called malloc_trim, which should leave n pages */
};
#define AB_TOUCH_ESCAPE(operand) ((operand) >> 3 & 3u)
/* n may be or'ed with AB_LEADING_APART: touch while the clock stands still. */
#define AB_LEADING_MAKE(n) \
    ((uint32_t)AB_TOUCH_NONE | (uint32_t)AB_ESCAPE_LEADING << 3 | (uint32_t)(n) << 5)
#define AB_LEADING_APART (1u << 26)
#define AB_LEADING_MOST (AB_LEADING_APART - 1)
#define AB_LEADING_PAGES(operand) ((operand) >> 5 & AB_LEADING_MOST)

#define AB_TRIM_MAKE(n) \
    ((uint32_t)AB_TOUCH_NONE | (uint32_t)AB_ESCAPE_TRIM << 3 | (uint32_t)(n) << 5)
#define AB_TRIM_PAGES(operand) ((operand) >> 5)
#define AB_TRIM_MOST ((1u << 27) - 1)

enum ab_walk_order { /* order of a walk; all but ADDRESS are the order of the ops */
                     AB_WALK_ALLOCATION,
                     AB_WALK_ADDRESS, /* ascending */
                     AB_WALK_RANDOM,
                     AB_WALK_LINKED, /* each block holds the address of the next */
};
/* Names as written in files, in the order of enum ab_touch. `first` is the name of the mode with a
 * number. */
#define AB_TOUCH_NAMES(first) "none", first, "ends", "page", "line", "all", "apart"
#define AB_TOUCH_WORDS(first) \
    { \
        AB_TOUCH_NAMES(first), NULL \
    }

enum ab_access { /* access to the first byte, and so to one cache line, of a block that is not
                    empty */
                 AB_ACCESS_READ,
                 AB_ACCESS_WRITE,
};

#define AB_OP_CODE(word) ((unsigned)(word)&15u)
#define AB_OP_SLOT(word) ((uint32_t)(word) >> 4)
#define AB_OP_SIZE(word) ((uint32_t)((word) >> 32))
#define AB_OP_MAKE(code, slot, operand) \
    ((uint64_t)(code) | (uint64_t)(slot) << 4 | (uint64_t)(operand) << 32)

#define AB_ALIGNED_SIZE(operand) ((operand)&0x7ffffffu)
#define AB_ALIGNED_LOG2(operand) ((operand) >> 27)
#define AB_ALIGNED_MAKE(size, log2) ((uint32_t)(size) | (uint32_t)(log2) << 27)

#define AB_TOUCH_MODE(operand) ((enum ab_touch)((operand)&7u))
#define AB_TOUCH_BYTES(operand) ((operand) >> 3)
#define AB_TOUCH_MAKE(mode, n) ((uint32_t)(mode) | (uint32_t)(n) << 3)

#define AB_WALK_ORDER(operand) ((enum ab_walk_order)((operand) >> 3 & 3u))
#define AB_WALK_COUNT(operand) ((operand) >> 5)
#define AB_WALK_MAKE(order, n) \
    ((uint32_t)AB_TOUCH_WALK | (uint32_t)(order) << 3 | (uint32_t)(n) << 5)
#define AB_WALK_BLOCKS_MAX ((1u << 27) - 1)
/* largest part of a block that a walk reads, because its cache lines are counted in 16 bits */
#define AB_WALK_BYTES_MAX (65535u * 64)

static inline int ab_touch_is_leading(uint32_t operand)
{
    return AB_TOUCH_MODE(operand) == AB_TOUCH_NONE && AB_TOUCH_ESCAPE(operand) == AB_ESCAPE_LEADING;
}

/* Returns how many bytes of a block of `size` a touch once a page covers. */
static inline uint64_t ab_touch_reach(uint32_t operand, uint64_t size)
{
    uint64_t bytes = UINT64_C(4096) * AB_LEADING_PAGES(operand);
    return ab_touch_is_leading(operand) && bytes < size ? bytes : size;
}

static inline int ab_touch_is_apart(uint32_t operand)
{
    return AB_TOUCH_MODE(operand) == AB_TOUCH_APART ||
           (ab_touch_is_leading(operand) && (operand >> 5 & AB_LEADING_APART) != 0);
}

/* Largest allocation whose page touch is just its first byte. */
#define AB_FUSED_TOUCH_MAX 4096
#define AB_APART_BYTES 4096

#define AB_SLOT_MAX ((1u << 28) - 1)
/* Slots of WAITs. They do not belong to a block, so prefetching them does not take a cache line
 * away from a lane. */
#define AB_SLOT_FRAME AB_SLOT_MAX
#define AB_SLOT_GROUP (AB_SLOT_MAX - 1)
#define AB_SLOT_OF_LANE(lane) (AB_SLOT_MAX - 2 - (uint32_t)(lane))
#define AB_LANE_OF_SLOT(slot) (AB_SLOT_MAX - 2 - (uint32_t)(slot))

/* True for ops that keep lanes in order. */
static inline int ab_op_is_guard(uint64_t word)
{
    return AB_OP_CODE(word) == AB_CODE_WAIT || AB_OP_CODE(word) == AB_CODE_PUBLISH;
}

/* Side table entry of an AB_CODE_WIDE op. */
struct ab_wide {
    uint64_t size;
    uint64_t align; /* ALLOC_ALIGNED only */
    uint32_t slot;
    uint16_t code;  /* FREE … TOUCHED|RESIZE */
    uint16_t flags; /* AB_WIDE_… */
};
/* The program got NULL here. NULL is accepted, and a block is freed at once. */
#define AB_WIDE_MAY_FAIL 1u

/* Returns the name of an op kind as in results: "alloc", "alloc_zeroed" … */
const char *ab_op_kind_name(enum ab_op_kind kind);

/* Returns the kind of a tape code, or -1 for codes that do not call a back end (touch, wait …). */
static inline int ab_op_code_kind(unsigned code)
{
    static const int8_t kinds[16] = {
        [AB_CODE_FREE] = AB_OP_FREE,
        [AB_CODE_ALLOC] = AB_OP_ALLOC,
        [AB_CODE_ALLOC | AB_CODE_TOUCHED] = AB_OP_ALLOC,
        [AB_CODE_ALLOC_ZEROED] = AB_OP_ALLOC_ZEROED,
        [AB_CODE_ALLOC_ZEROED | AB_CODE_TOUCHED] = AB_OP_ALLOC_ZEROED,
        [AB_CODE_ALLOC_ALIGNED] = AB_OP_ALLOC_ALIGNED,
        [AB_CODE_ALLOC_ALIGNED | AB_CODE_TOUCHED] = AB_OP_ALLOC_ALIGNED,
        [AB_CODE_RESIZE] = AB_OP_RESIZE,
        [AB_CODE_RESIZE | AB_CODE_TOUCHED] = AB_OP_RESIZE,
        [AB_CODE_ACCESS] = AB_OP_ACCESS,
        [AB_CODE_RESET] = AB_OP_RESET,
        [AB_CODE_TOUCH] = -1,
        [AB_CODE_FREE_SIZED] = AB_OP_FREE,
        [AB_CODE_WAIT] = -1,
        [AB_CODE_PUBLISH] = -1,
        [AB_CODE_WIDE] = -1,
    };
    return kinds[code & 15];
}

static inline int ab_op_is_mark(uint64_t word)
{
    return AB_OP_CODE(word) == AB_CODE_RESET && (AB_OP_SLOT(word) & AB_RESET_MARK) != 0;
}

/* True for operations that users count: requests to an allocator and accesses to blocks. A reset
 * counts as its frees. Writes to a block, ops that keep lanes in order, marks and trims do not
 * count. */
static inline int ab_op_is_counted(uint64_t word)
{
    unsigned code = AB_OP_CODE(word);
    return code == AB_CODE_WIDE || (code != AB_CODE_RESET && ab_op_code_kind(code) >= 0);
}

/* True if the op touches the block of the op before, which is incomplete without it. */
static inline int ab_op_is_touch(uint64_t word)
{
    enum ab_touch mode = AB_TOUCH_MODE(AB_OP_SIZE(word));
    return AB_OP_CODE(word) == AB_CODE_TOUCH && mode != AB_TOUCH_WALK &&
           (mode != AB_TOUCH_NONE || ab_touch_is_leading(AB_OP_SIZE(word)));
}

/* True for a call of malloc_trim. It has no block: its slot is 0 and has no meaning. */
static inline int ab_op_is_trim(uint64_t word)
{
    uint32_t operand = AB_OP_SIZE(word);
    return AB_OP_CODE(word) == AB_CODE_TOUCH && AB_TOUCH_MODE(operand) == AB_TOUCH_NONE &&
           AB_TOUCH_ESCAPE(operand) == AB_ESCAPE_TRIM;
}

struct ab_op_view { /* an op in decoded form, outside the hot loops */
    int kind;       /* enum ab_op_kind, or -1 */
    uint32_t slot;
    uint32_t flags; /* AB_WIDE_… */
    uint64_t size;  /* of an allocation or resize; else the operand */
    uint64_t align; /* ALLOC_ALIGNED only */
};

static inline struct ab_op_view ab_op_decode(uint64_t word, const struct ab_wide *wide)
{
    unsigned code = AB_OP_CODE(word);
    uint32_t operand = AB_OP_SIZE(word);
    struct ab_op_view op = {
        .kind = ab_op_code_kind(code), .slot = AB_OP_SLOT(word), .size = operand};
    if (code == AB_CODE_WIDE) {
        op.kind = ab_op_code_kind(wide[operand].code);
        op.flags = wide[operand].flags;
        op.size = wide[operand].size;
        op.align = wide[operand].align;
    } else if (ab_op_is_mark(word)) {
        op.kind = -1;
    } else if (op.kind == AB_OP_ALLOC_ALIGNED) {
        op.size = AB_ALIGNED_SIZE(operand);
        op.align = UINT64_C(1) << AB_ALIGNED_LOG2(operand);
    }
    return op;
}

#endif
