/* SPDX-License-Identifier: MIT
 *
 * Measures what the proposals of an advice gain. Replays the trace with each proposal alone, with
 * all of them together, and with each general malloc for all blocks. Uses the code of `replay
 * --map`.
 */
#ifndef AB_APP_ADVISE_ADVISE_MEASURE_H
#define AB_APP_ADVISE_ADVISE_MEASURE_H

#include "advise/advise.h"
#include "app/request.h"
#include "app/trace/trace_pass.h"
#include "result/result.h"
#include "stats/effect.h"

struct ab_advise_request {
    struct ab_trace_pass pass; /* how the trace is read */
    /* Back ends, settings and conditions of the replays. measure.args is the trace. */
    struct ab_measure_request measure;
    uint64_t budget_ns; /* time limit of one scope; 0 = none */
};

enum { AB_ADVISED_GENERALS_MAX = 64 };

/* Reduction of memory that counts as a gain: at least LESS_BYTES, and at least 1/LESS_PART of the
 * base's memory. */
enum { AB_ADVISED_LESS_BYTES = 1 << 16, AB_ADVISED_LESS_PART = 64 };

/* Call sites that pin pages in the general malloc, at the moment when the malloc has the most
 * external bytes. */
struct ab_advised_pins { /* begins as {0}; release with free(pins) */
    struct ab_pin *pins; /* NULL = unknown; then all other fields are unknown too */
    uint32_t n, position;
    double resident_bytes, pinned_bytes;
};

/* Reason of a row whose calls, or whose base's calls, take no more time than the harness. */
#define AB_ADVISED_TOO_FAST "too fast to measure: within harness overhead"

struct ab_advised_row {
    char name[128];
    bool is_measured; /* True if the row ran as requested; if not, the other fields are n/a */
    /* True if the row has malloc's interface, so that programs can use it unchanged */
    bool is_malloc;
    char reason[512];                       /* why the row was not measured */
    double time_ns;                         /* time of a replay, median of the rounds; NaN = n/a */
    double memory_bytes;                    /* peak resident memory; NaN = n/a */
    double base_time_ns, base_memory_bytes; /* time and memory of the base in the same session */
    /* bytes in pages with live blocks, of the row and of the base, at the moment when the base has
     * the most external bytes; such pages cannot be given back; NaN = n/a */
    double held_bytes, base_held_bytes;
    struct ab_effect speed; /* time of the base divided by the time of this row */
};

struct ab_advised {
    struct ab_advised_row base; /* the general malloc for all blocks */
    /* each proposed heap alone; the base serves all other blocks */
    struct ab_advised_row heaps[AB_ADVICE_HEAPS_MAX];
    /* all advised heaps; the base serves all other blocks */
    struct ab_advised_row together;
    /* the advised heaps compiled into the loop, as --code writes them; only times */
    struct ab_advised_row compiled;
    bool has_compiled; /* False if no advised heap can be compiled in */
    struct ab_advised_row generals[AB_ADVISED_GENERALS_MAX]; /* other mallocs for all blocks */
    size_t n_generals;
    /* bit i: heap i is advised, because alone it gains time or memory, and together the advised
     * heaps gain enough */
    uint32_t used;
    uint32_t small; /* bit i: heap i gains alone, but such heaps gain too little together; else 0 */
    bool by_memory; /* True if the advised heaps gain memory, but less time than `limit` */
    double limit;   /* least gain in time of all advised heaps together, 0.05 = 5 % */
    uint32_t n_rounds;
    bool is_whole;     /* True if all proposed heaps are used */
    uint32_t n_stages; /* number of stages of the command (struct ab_stage) */
};

/* Returns "heaps", "keep", "small_gain" (malloc is kept although heaps would gain a little) or
 * "open" (too few rounds to decide). */
const char *ab_advised_answer(const struct ab_advised *m);

/* Decides what is advised in the end, from the heaps in `used`, each of which gains alone, and from
 * `together`. Changing the code must gain memory, or at least `limit` of the time by the lower
 * bound of the interval. */
void ab_advised_decide(struct ab_advised *m);

/* Comparison of nested scopes with one arena for the whole scope. Both rows replay the same groups:
 * the `frame` and `nested` proposals of an advice together. The general malloc serves all other
 * blocks. Times include the harness and a write to each cache line. */
struct ab_advised_nested {
    /* True if the advice has both kinds of proposals; if not, the other fields are unset */
    bool is_asked;
    /* flat: one arena for the whole scope; nested: nested scopes; flat is the base of both */
    struct ab_advised_row flat, nested;
    uint32_t n_rounds;
    uint32_t n_stages; /* as in struct ab_advised */
    double limit;      /* as in struct ab_advised */
    /* True if nested scopes surely gain `limit`, or are not clearly slower and take less memory */
    bool is_taken;
    bool by_memory; /* True if nested scopes are taken because of their memory */
};

/* True if the row ran and is faster or takes less memory, but has too few usable rounds to call
 * this a gain. Either fewer than 6 rounds were run, or in the other rounds the calls of the row or
 * of its base took no more time than the harness. */
bool ab_advised_is_open(const struct ab_advised_row *row);
/* True if the row ran and the whole interval of its speed is above 1. */
bool ab_advised_is_gain(const struct ab_advised_row *row);
/* True if the row ran, has an interval, is not clearly slower than the base, and takes less memory.
 * Its peak must be lower by 64 KiB and by 1/64. If its peak is not higher by these amounts, it is
 * enough that held_bytes are lower by them. */
bool ab_advised_is_memory_gain(const struct ab_advised_row *row);
/* True if the row ran and its held_bytes are lower than the base's by 64 KiB and by 1/64. */
bool ab_advised_holds_less(const struct ab_advised_row *row);
/* True if the row gains time or memory. */
bool ab_advised_pays(const struct ab_advised_row *row);

/* Sets `name` to the base: the malloc that the proposals are compared with and that serves all
 * other blocks. The base is the first name of -b, else glibc. Sets *is_list if -b has more names.
 * Fails with AB_USAGE if -b is invalid. */
enum ab_status ab_advise_base(const struct ab_advise_request *request, char *name, size_t cap,
                              bool *is_list, struct ab_err *err);

/* Returns the request to replay the trace, with only the throughput pass. */
struct ab_measure_request ab_advise_replay(const struct ab_advise_request *request,
                                           const struct ab_stage *stage);

/* Measures the advice `nested`, which has nested scopes, against the advice `flat` for the same
 * trace, which has none. Fails as ab_advise_measure() does. */
enum ab_status ab_advise_measure_nested(const struct ab_advise_request *request,
                                        const struct ab_stage *stage,
                                        const struct ab_advice *nested,
                                        const struct ab_advice *flat,
                                        const struct ab_advised_pins *pins,
                                        struct ab_advised_nested *out, struct ab_err *err);
/* Sets is_taken and by_memory from the rows, n_rounds and limit. */
void ab_advise_decide_nested(struct ab_advised_nested *n);
/* True if there are nested scopes, and an arena with blocks that live across nested scopes. Without
 * such blocks, the arena of the whole scope becomes empty just as often. */
bool ab_advise_has_nested(const struct ab_advice *a);

/* Measures the proposals of `a`. *stage is the first stage. Fails as a replay does, or with
 * AB_BACKEND if the base has no numbers. */
enum ab_status ab_advise_measure(const struct ab_advise_request *request,
                                 const struct ab_stage *stage, const struct ab_advice *a,
                                 const struct ab_advised_pins *pins, struct ab_advised *out,
                                 struct ab_err *err);

/* Time of the allocator's calls in single scopes, before and after the advice. It is measured by
 * replays that time each call (the tail pass, as in `replay --each scope --budget`). */

struct ab_advised_scopes { /* scopes of one row, counted over all rounds */
    /* False if unknown, for the given `reason`; then the other fields are unset */
    bool is_known;
    double worst_ns;      /* time of the worst scope of a round; median over the rounds */
    uint32_t n_rounds;    /* number of rounds with a worst scope */
    uint64_t n, n_missed; /* n: timed scopes; n_missed: timed scopes over the budget */
    uint64_t n_scheduler; /* scopes left out because the scheduler took the CPU away */
    struct ab_hdr *hdr;   /* times of the n scopes in ns; NULL = none */
    char reason[192];
};

struct ab_advised_budget {
    struct ab_advised_scopes before, after; /* `after` is empty if nothing is advised */
};

/* Sums up all records of a back end's scopes in the session. Release *out with
 * ab_advised_scopes_fini(). */
void ab_advise_read_scopes(const struct ab_session *s, uint32_t backend,
                           struct ab_advised_scopes *out);

void ab_advised_scopes_fini(struct ab_advised_scopes *x);

/* Measures scopes before and after the advice. `used` has the advised heaps as bits. Fails as a
 * replay does. If only one row fails, sets its `reason` and does not fail. Call
 * ab_advised_scopes_fini() for both members of *out in any case. Runs nothing for a trace without
 * scopes. */
enum ab_status ab_advise_budget(const struct ab_advise_request *request,
                                const struct ab_stage *stage, const struct ab_advice *a,
                                const char *base, uint32_t used, struct ab_advised_budget *out,
                                struct ab_err *err);

#endif
