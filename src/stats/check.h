/* SPDX-License-Identifier: MIT
 *
 * A check: a number of one back end, what bounds it, how sure it is, the verdict, and what would
 * settle it. A gate is one; so is each number of a comparison, where --limit 5% is the bound of the
 * time of the whole run, "at most 5 % more than the base"; and so is a claim, which has no verdict.
 */
#ifndef AB_STATS_CHECK_H
#define AB_STATS_CHECK_H

#include "result/result.h"
#include "stats/effect.h"

enum ab_verdict {
    AB_VERDICT_PASS,          /* within the bound, at 95 % where there is an interval */
    AB_VERDICT_FAIL,          /* beyond the bound, and surely a change for the worse */
    AB_VERDICT_NOT_EVALUATED, /* no number to judge by, `reason` says why: fails */
    AB_VERDICT_SKIPPED,       /* of a gate on a default list: the back end is partial or absent */
    AB_VERDICT_INCONCLUSIVE,  /* its interval holds both sides; --inconclusive=fail */
    AB_VERDICT_IMPROVED, /* of a comparison: better by more than the limit, the mirror of FAIL */
    AB_VERDICT_MOVED,    /* of two results, the same build in both: the machine changed */
    AB_VERDICT_COUNT
};
/* "pass", "not_evaluated" … of gates; "ok", "regressed" … of comparisons. NULL where it has none. */
extern const char *const ab_gate_verdicts[AB_VERDICT_COUNT],
    *const ab_comparison_verdicts[AB_VERDICT_COUNT];

enum ab_check_compare {
    AB_CHECK_LESS,
    AB_CHECK_AT_MOST,
    AB_CHECK_MORE,
    AB_CHECK_AT_LEAST,
    AB_CHECK_IS, /* of claims, and of counts */
};
enum ab_check_against {
    AB_AGAINST_NOTHING,  /* the bound is in the unit of the metric */
    AB_AGAINST_BACKEND,  /* it is a factor of the number of `base_backend` in the same session, */
    AB_AGAINST_LIVE,     /* of the peak of live bytes, */
    AB_AGAINST_BASELINE, /* of the number in another result */
};

enum { AB_WITNESSES_BYTES = 100, AB_CHECK_REASON_BYTES = 240 };

/* Strings are borrowed: from the sessions, from the gates. */
struct ab_checked {
    const char *backend; /* its name; NULL of a gate on one that the session does not have */
    const char
        *base_backend;  /* what it is compared with; in a comparison of results its name there */
    const char *phase;  /* NULL = the whole run */
    const char *op;     /* of comparisons NULL = of no op: time, memory */
    const char *metric; /* "time", "ns_per_op", "p99", "rss_peak_bytes" … */
    const char *unit;   /* of the metric: "ns", "bytes" … */
    double base, now;   /* of comparisons, as the tables show them; NaN = n/a */
    /* effect.ratio is the number that is judged: a factor, or against nothing in `unit`; NaN = not
     * known. Of comparisons and claims it is turned so that above 1 is worse. */
    struct ab_effect effect;
    double
        bound; /* of gates and claims for effect.ratio; of comparisons 0.05 = 5 % worse, NaN = shown
                     only: it has no verdict (PASS stands there), see ab_check_word */
    enum ab_verdict verdict;
    uint32_t rounds_needed;             /* of what is open; 0 = not known; UINT32_MAX = never */
    char reason[AB_CHECK_REASON_BYTES]; /* why the verdict is not the plain one; "" = none */
    /* Between two results, the effect relative to the witnesses, which are the same build in both
     * (stats/compare_drift.h); the verdict is then that of `relative`. Of a claim without the
     * harness: see ab_claims_measure. Else its ratio is NaN or 0. */
    struct ab_effect relative;
    double machine_ratio; /* of the witnesses themselves, new by base */
    char witnesses[AB_WITNESSES_BYTES];
    bool is_drift;         /* inconclusive because of the machine, see `reason` */
    uint32_t n_confirm;    /* rounds that were run to confirm a failure; 0 = none */
    double confirm;        /* the number in these; NaN = none */
    const char *iteration; /* of the time per iteration: what one is called; NULL = it is not */
    enum ab_check_against against;
    const char *text;      /* of gates and claims, as written; NULL = of a comparison */
    const char *place;     /* "config.yaml:31:5" or "--gate" */
    enum ab_status status; /* what a gate makes the command end with: AB_OK; AB_GATE: failed or not
                              evaluated; AB_CONFIG: the bound is below the clock's floor;
                              AB_INCONCLUSIVE */
    bool is_warning;       /* level: warn; whatever the verdict, status is AB_OK */
    const char *says, *source; /* of claims; "" = not said */
    double low, high;          /* of claims: extremes of the rounds */
    bool is_higher_better;     /* of claims */
};

/* Is there a bound, and so a verdict that counts? */
bool ab_check_is_judged(const struct ab_checked *check);
/* The effect that the verdict is about: relative to the witnesses, where there are any. */
const struct ab_effect *ab_check_judged_effect(const struct ab_checked *check);
/* Of a number without a bound: 1 = it is clearly worse, -1 = clearly better, 0 = neither. */
int ab_check_direction(const struct ab_checked *check);
/* The name of the verdict; of a number without a bound "worse", "better", "~" (neither is clear), or
 * "n/a" where there is no interval. */
const char *ab_check_word(const struct ab_checked *check);
/* "ns", and of a factor "x glibc", "x live", "x baseline": the unit of effect.ratio and bound of a
 * gate. Returns buf. */
const char *ab_check_unit(const struct ab_checked *check, char *buf, size_t cap);

bool ab_check_holds(enum ab_check_compare compare, double value, double bound);
/* The rule of all verdicts with an interval: PASS where all of it is within the bound; FAIL where
 * the ratio is beyond it and it is sure that there is a change for the worse; else INCONCLUSIVE. */
enum ab_verdict ab_check_decide(const struct ab_effect *effect, enum ab_check_compare compare,
                                double bound);

/* The one of the two statuses that outweighs the other. */
enum ab_status ab_verdict_worse(enum ab_status a, enum ab_status b);

/* Marks the back ends (one flag each) that more rounds should be run of: those of failures that are
 * ratios, and what these are to. How many checks. */
uint32_t ab_checks_suspicious(const struct ab_checked *list, uint32_t n,
                              const struct ab_session *session, bool *is_concerned);
/* `again` has the same checks on new rounds of the back ends concerned: a failure that these do not
 * show as well becomes inconclusive. */
void ab_checks_confirm(struct ab_checked *list, uint32_t n, const struct ab_checked *again,
                       uint32_t n_again, uint32_t n_rounds);
/* The most rounds that one of them needs; 0 = none does. */
uint32_t ab_checks_rounds_needed(const struct ab_checked *list, uint32_t n);

#endif
