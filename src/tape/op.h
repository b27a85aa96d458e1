/* SPDX-License-Identifier: MIT
 *
 * The op of a tape: 8 bytes, decoded before anything is timed.
 *
 *     bits 0–3   code            bits 4–31  slot            bits 32–63  size or operand
 *
 * The slot sits where `word & ~15` is its byte offset in a table of 16-byte entries, so that the
 * hot loop decodes it with one instruction. A slot names a live block, never an address, and is
 * recycled (last in, first out) after its free.
 *
 * Codes ALLOC … RESIZE exist twice: with AB_CODE_TOUCHED the block is touched after the op,
 * outside the timed interval: an allocation of at most a page in its first byte, a resize once a
 * page from its old size on. That is the default touch (page), fused because a second dispatch
 * would cost the harness more than the store it does; every other touch is an op of its own.
 * What does not fit (sizes ≥ 4 GiB, more than 2^28 slots, large alignments, requests that the
 * recorded program saw fail) goes through AB_CODE_WIDE: its operand indexes the tape's side table.
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
    AB_CODE_TOUCH = 5,      /* operand: enum ab_touch in 3 bits, n of `first(n)` above; of
                             AB_TOUCH_NONE enum ab_escape above */
    AB_CODE_ACCESS = 6,     /* operand: enum ab_access */
    AB_CODE_RESET = 7,      /* operand: how many FREE ops after it one call makes needless; slot:
                             enum ab_reset, which says what call that may be */
    AB_CODE_TOUCHED = 8,    /* flag: 9 … 12 are 1 … 4, then a touch as above */
    AB_CODE_FREE_SIZED = 8, /* by the function that takes the size, where there is one; operand:
                               log2 of the alignment that was asked for, else 0. (A free has no touch) */
    AB_CODE_WAIT = 13,      /* slot AB_SLOT_OF_LANE(l): lane l must have published `operand`;
                             AB_SLOT_FRAME: enter frame `operand` of the skew window;
                             AB_SLOT_GROUP: the window binds the lane to those of group `operand` */
    AB_CODE_PUBLISH = 14,   /* operand: the count; slot: as the op before it */
    AB_CODE_WIDE = 15,
};

/* 0: a bulk reset. A scope begins with a MARK and may end with a RESET of the same depth. */
enum ab_reset {
    AB_RESET_OTHERS = 1,  /* other blocks live on: no bulk reset */
    AB_RESET_RELEASE = 2, /* back to the save point, whose younger blocks are all dead then, also of
                             0 frees; of a MARK: a release comes */
    AB_RESET_MARK = 4,    /* takes a save point; no FREE belongs to it */
    AB_RESET_CROWDED = 8, /* other lanes are at work: only in a heap of the lane's own */
};
#define AB_RESET_DEPTH(slot) ((slot) >> 4) /* 0: of no scope; 1 … AB_SAVE_POINTS_MAX */
#define AB_RESET_MAKE(flags, depth) ((uint32_t)(flags) | (uint32_t)(depth) << 4)

enum ab_touch { /* which bytes of a block are written after it was handed out */
                AB_TOUCH_NONE,
                AB_TOUCH_FIRST, /* the first n bytes */
                AB_TOUCH_ENDS,  /* first and last byte */
                AB_TOUCH_PAGE, /* the first byte, one every 4096, and the last one of more than 4096 */
                AB_TOUCH_LINE, /* the first byte, then one every 64 */
                AB_TOUCH_ALL,
                AB_TOUCH_APART, /* as page, never in a time, and of small blocks one for each
                                   AB_APART_BYTES of them: they share their pages */
                AB_TOUCH_WALK, /* writes nothing: the n ACCESS ops behind it are one walk over blocks, which
                                  may be carried out in place of them; slot: the first of them */
};
/* Touches that are none of the modes of an op: of a request, and in a tape otherwise. */
enum {
    AB_TOUCH_LEADING = 8, /* as page or apart, the first n pages alone: AB_ESCAPE_LEADING */
    AB_TOUCH_SHARE, /* the same, n being a share of the block in millionths; the page at least */
};

/* Of a replay: is of a large block that much touched which the program wrote? Where it is not known, as of the
 * others. */
enum ab_touch_recorded {
    AB_RECORDED_NOT,  /* no: as of the others */
    AB_RECORDED_AUTO, /* yes; in a trace that says nothing, zeroed ones are left alone */
    AB_RECORDED_MUST, /* yes; a trace that says nothing is refused */
};

/* What is no touch of a mode: kinds of ops for which there was no code. */
enum ab_escape {
    AB_ESCAPE_LEADING = 1, /* the first byte of the block and one every 4096, n pages in all */
    AB_ESCAPE_TRIM = 2, /* of no block: the program called malloc_trim, which is to leave n pages */
};
#define AB_TOUCH_ESCAPE(operand) ((operand) >> 3 & 3u)
/* n, or'ed with AB_LEADING_APART: while the clock stands still. */
#define AB_LEADING_MAKE(n) \
    ((uint32_t)AB_TOUCH_NONE | (uint32_t)AB_ESCAPE_LEADING << 3 | (uint32_t)(n) << 5)
#define AB_LEADING_APART (1u << 26)
#define AB_LEADING_MOST (AB_LEADING_APART - 1)
#define AB_LEADING_PAGES(operand) ((operand) >> 5 & AB_LEADING_MOST)

#define AB_TRIM_MAKE(n) \
    ((uint32_t)AB_TOUCH_NONE | (uint32_t)AB_ESCAPE_TRIM << 3 | (uint32_t)(n) << 5)
#define AB_TRIM_PAGES(operand) ((operand) >> 5)
#define AB_TRIM_MOST ((1u << 27) - 1)

enum ab_walk_order { /* its order: that of the ops, but for ADDRESS */
                     AB_WALK_ALLOCATION,
                     AB_WALK_ADDRESS, /* ascending */
                     AB_WALK_RANDOM,
                     AB_WALK_LINKED, /* each block holds where the next one is */
};
/* As they are written, in this order; `first` is how the one with a number is. */
#define AB_TOUCH_NAMES(first) "none", first, "ends", "page", "line", "all", "apart"
#define AB_TOUCH_WORDS(first) \
    { \
        AB_TOUCH_NAMES(first), NULL \
    }

enum ab_access { /* of the first byte of a block that is not empty: of one cache line */
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
#define AB_WALK_BYTES_MAX (65535u * 64) /* of a block: its cache lines are counted in 16 bits */

static inline int ab_touch_is_leading(uint32_t operand)
{
    return AB_TOUCH_MODE(operand) == AB_TOUCH_NONE && AB_TOUCH_ESCAPE(operand) == AB_ESCAPE_LEADING;
}

/* Of a touch once a page: how many bytes of a block of `size` it goes over. */
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

/* Largest allocation whose page-wise touch is its first byte. */
#define AB_FUSED_TOUCH_MAX 4096
#define AB_APART_BYTES 4096

#define AB_SLOT_MAX ((1u << 28) - 1)
/* What a WAIT has for a slot: no block's, so that a lane that prefetches it takes no line away. */
#define AB_SLOT_FRAME AB_SLOT_MAX
#define AB_SLOT_GROUP (AB_SLOT_MAX - 1)
#define AB_SLOT_OF_LANE(lane) (AB_SLOT_MAX - 2 - (uint32_t)(lane))
#define AB_LANE_OF_SLOT(slot) (AB_SLOT_MAX - 2 - (uint32_t)(slot))

/* Is it one of the ops that keep lanes in order? */
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
#define AB_WIDE_MAY_FAIL 1u /* the program got NULL here; NULL is fine, a block is freed at once */

/* Name of an op kind as results spell it: "alloc", "alloc_zeroed" … */
const char *ab_op_kind_name(enum ab_op_kind kind);

/* The kind of a tape code, or -1 where the code asks nothing of a back end (touch, wait …). */
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

/* Is it one of the operations that users count? These are the requests to an allocator and the accesses to
 * blocks. A reset counts as the frees behind it; what writes to a block, keeps lanes in order, marks a
 * place or trims the heap is none. */
static inline int ab_op_is_counted(uint64_t word)
{
    unsigned code = AB_OP_CODE(word);
    return code == AB_CODE_WIDE || (code != AB_CODE_RESET && ab_op_code_kind(code) >= 0);
}

/* Does it write to the block of the op before it, which is not done without that? */
static inline int ab_op_is_touch(uint64_t word)
{
    enum ab_touch mode = AB_TOUCH_MODE(AB_OP_SIZE(word));
    return AB_OP_CODE(word) == AB_CODE_TOUCH && mode != AB_TOUCH_WALK &&
           (mode != AB_TOUCH_NONE || ab_touch_is_leading(AB_OP_SIZE(word)));
}

/* Is it a call of malloc_trim? It has no block: its slot is 0 and says nothing. */
static inline int ab_op_is_trim(uint64_t word)
{
    uint32_t operand = AB_OP_SIZE(word);
    return AB_OP_CODE(word) == AB_CODE_TOUCH && AB_TOUCH_MODE(operand) == AB_TOUCH_NONE &&
           AB_TOUCH_ESCAPE(operand) == AB_ESCAPE_TRIM;
}

struct ab_op_view { /* an op outside the loops that carry it out */
    int kind;       /* enum ab_op_kind, or -1 */
    uint32_t slot;
    uint32_t flags; /* AB_WIDE_… */
    uint64_t size;  /* of an allocation or resize; of others the operand */
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
