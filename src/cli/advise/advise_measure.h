/* SPDX-License-Identifier: MIT
 *
 * What the proposals of an advice gain: replays of the trace with each of them alone, with all of them
 * together, and with each general malloc for everything, through the code of `replay --map`.
 */
#ifndef AB_CLI_ADVISE_ADVISE_MEASURE_H
#define AB_CLI_ADVISE_ADVISE_MEASURE_H

#include "advise/advise.h"
#include "app/options.h"
#include "result/result.h"
#include "stats/effect.h"

enum { AB_ADVISED_GENERALS_MAX = 64 };

/* So much less memory is a gain: both, of the memory of the base. */
enum { AB_ADVISED_LESS_BYTES = 1 << 16, AB_ADVISED_LESS_PART = 64 };

/* Who pins the pages in the general malloc, where it has the most external bytes. */
struct ab_advised_pins { /* begins as {0}; end it with free(pins) */
    struct ab_pin *pins; /* NULL = not known, as the numbers then */
    uint32_t n, position;
    double resident_bytes, pinned_bytes;
};

/* The reason where its calls, or those of its base, take no more than the harness. */
#define AB_ADVISED_TOO_FAST "too fast to measure: within harness overhead"

struct ab_advised_row {
    char name[128];
    bool is_measured;    /* it ran, and did what was asked for; else the rest is n/a */
    bool is_malloc;      /* called as malloc is: a program can take it without a change */
    char reason[512];    /* why it was not */
    double time_ns;      /* of a replay: the median of the rounds; NaN = n/a */
    double memory_bytes; /* most that was resident; NaN = n/a */
    double base_time_ns, base_memory_bytes; /* of the base in the same session */
    double held_bytes, base_held_bytes;     /* of pages with live blocks, which stay whatever is
                                               given back, where the base has the most external
                                               bytes; NaN = n/a */
    struct ab_effect speed;                 /* time of the base by that of this row */
};

struct ab_advised {
    struct ab_advised_row base;                       /* the general malloc, for everything */
    struct ab_advised_row heaps[AB_ADVICE_HEAPS_MAX]; /* each proposal alone, the rest the base's */
    struct ab_advised_row together;                   /* those that are advised */
    struct ab_advised_row
        compiled;      /* the same compiled in, as --code writes them: its time alone */
    bool has_compiled; /* else nothing is advised that can be */
    struct ab_advised_row generals[AB_ADVISED_GENERALS_MAX]; /* others, for everything */
    size_t n_generals;
    uint32_t used;  /* bit i: heap i is advised: alone it is a gain, in time or memory, and together
                      they gain what is asked for */
    uint32_t small; /* those that would be, but gain less than that together; else 0 */
    bool by_memory; /* used together gain memory, and less time than is asked for */
    double limit;   /* the least gain in time of all together that is advised, 0.05 = 5 % */
    uint32_t n_rounds;
    bool is_whole;     /* used are all that were proposed */
    uint32_t n_stages; /* of the command, as it was said (struct ab_stage) */
};

/* "heaps", "keep", "small_gain" (malloc is kept although heaps would gain a little) or "open" (too few
 * rounds to say). */
const char *ab_advised_answer(const struct ab_advised *m);

/* Of `used`, those that are a gain alone, and `together`: what is advised in the end. A change of the
 * code has to gain memory, or `limit` of the time for certain, by the lower bound of the interval. */
void ab_advised_decide(struct ab_advised *m);

/* Nested scopes against the same groups in the arena of the whole scope: both are the `frame` and
 * `nested` proposals of an advice together, the rest in the general malloc. Times are with the
 * harness and with a write to each cache line. */
struct ab_advised_nested {
    bool is_asked;                      /* the advice has both kinds; else the rest says nothing */
    struct ab_advised_row flat, nested; /* base of both: flat */
    uint32_t n_rounds;
    uint32_t n_stages; /* as in struct ab_advised */
    double limit;      /* the same */
    bool
        is_taken; /* nested gains `limit` for certain, or is not clearly slower and takes less memory */
    bool by_memory; /* the latter */
};

/* It ran and is faster or takes less memory, in too few rounds to say whether it is a gain: fewer
 * than 6 were run, or in the others its calls, or those of the base, took no more than the harness. */
bool ab_advised_is_open(const struct ab_advised_row *row);
/* It ran, and is faster than the base for certain. */
bool ab_advised_is_gain(const struct ab_advised_row *row);
/* It ran, has an interval, is not slower than the base for certain, and takes less memory: by 64 KiB and by a 64th, at
 * its peak, or where its peak is not higher by that, held_bytes. */
bool ab_advised_is_memory_gain(const struct ab_advised_row *row);
/* It ran, and held_bytes are less than the base's by as much. */
bool ab_advised_holds_less(const struct ab_advised_row *row);
/* Either of them. */
bool ab_advised_pays(const struct ab_advised_row *row);

/* What the proposals are compared with, and what is not proposed for a heap stays in: the first of
 * -b, else glibc. AB_USAGE as for -b. *is_list: -b names more than that one. */
enum ab_status ab_advise_base(const struct ab_options *o, char *name, size_t cap, bool *is_list,
                              struct ab_err *err);

/* `nested` is an advice with nested scopes, `flat` one on the same trace without. Fails as
 * ab_advise_measure. */
enum ab_status ab_advise_measure_nested(const struct ab_options *o, const struct ab_advice *nested,
                                        const struct ab_advice *flat,
                                        const struct ab_advised_pins *pins,
                                        struct ab_advised_nested *out, struct ab_err *err);
/* Sets is_taken and by_memory by the rows, n_rounds and limit, which are given. */
void ab_advise_decide_nested(struct ab_advised_nested *n);
/* Are there nested scopes, and an arena that other blocks hold through them? Without such blocks a
 * replay empties the arena of the whole scope as often. */
bool ab_advise_has_nested(const struct ab_advice *a);

/* Its first stage is o->stage. What a replay fails with; AB_BACKEND when the base has no numbers. */
enum ab_status ab_advise_measure(const struct ab_options *o, const struct ab_advice *a,
                                 const struct ab_advised_pins *pins, struct ab_advised *out,
                                 struct ab_err *err);

/* What the allocator's calls take in single scopes, before and after the advice: replays that time
 * each call (the tail pass, as of `replay --each scope --budget`). */

struct ab_advised_scopes { /* of all rounds */
    bool is_known;         /* else `reason`, and the rest is nothing */
    double worst_ns;       /* of a round; their median */
    uint32_t n_rounds;     /* that have one */
    uint64_t n, n_missed;  /* scopes that were timed; of these, longer than the budget */
    uint64_t n_scheduler;  /* left out: the scheduler gave the CPU away in them */
    struct ab_hdr *hdr;    /* of the n scopes, ns; NULL = none */
    char reason[192];
};

struct ab_advised_budget {
    struct ab_advised_scopes before, after; /* after: nothing where nothing is advised */
};

/* Of all records of a back end in the session, to be ended with ab_advised_scopes_fini. */
void ab_advise_read_scopes(const struct ab_session *s, uint32_t backend,
                           struct ab_advised_scopes *out);

void ab_advised_scopes_fini(struct ab_advised_scopes *x);

/* used: the heaps that are advised. What a replay fails with; a row that fails is no failure but a
 * reason. End both with ab_advised_scopes_fini in any case. Nothing is run for a trace without
 * scopes. */
enum ab_status ab_advise_budget(const struct ab_options *o, const struct ab_advice *a,
                                const char *base, uint32_t used, struct ab_advised_budget *out,
                                struct ab_err *err);

#endif
