/* SPDX-License-Identifier: MIT
 *
 * A check is a number of one back end with its bound, its uncertainty, the verdict, and the number
 * of rounds that would settle an open verdict. Gates are checks. The numbers of a comparison are
 * checks as well: --limit 5% bounds the time of the whole run, "at most 5 % more than the base".
 * Claims are checks without a verdict.
 */
#ifndef AB_STATS_CHECK_H
#define AB_STATS_CHECK_H

#include "result/result.h"
#include "stats/effect.h"

enum ab_verdict {
    AB_VERDICT_PASS,          /* within the bound, with 95 % confidence if there is an interval */
    AB_VERDICT_FAIL,          /* beyond the bound, and certainly a change for the worse */
    AB_VERDICT_NOT_EVALUATED, /* no number to judge by (`reason` says why); counts as a failure */
    AB_VERDICT_SKIPPED,       /* gate on a back end of a default list that is partial or absent */
    AB_VERDICT_INCONCLUSIVE,  /* the interval contains both sides of the bound;
                                 --inconclusive=fail */
    AB_VERDICT_IMPROVED, /* comparisons only: better by more than the limit, the mirror image of
                            FAIL */
    AB_VERDICT_MOVED,    /* two results with the same build: the machine changed */
    AB_VERDICT_COUNT
};
/* Names of verdicts in gates ("pass", "not_evaluated" …) and in comparisons ("ok", "regressed" …).
 * NULL = the verdict does not occur there. */
extern const char *const ab_gate_verdicts[AB_VERDICT_COUNT],
    *const ab_comparison_verdicts[AB_VERDICT_COUNT];

enum ab_check_compare {
    AB_CHECK_LESS,
    AB_CHECK_AT_MOST,
    AB_CHECK_MORE,
    AB_CHECK_AT_LEAST,
    AB_CHECK_IS, /* for claims and counts */
};
enum ab_check_against {
    AB_AGAINST_NOTHING,  /* the bound is in the unit of the metric */
    AB_AGAINST_BACKEND,  /* the bound is a factor of the number of `base_backend` in the same
                            session, */
    AB_AGAINST_LIVE,     /* of the peak of live bytes, */
    AB_AGAINST_BASELINE, /* or of the number in another result */
};

enum { AB_CONTROLS_BYTES = 100, AB_CHECK_REASON_BYTES = 240 };

/* One check. Strings are borrowed from the sessions and from the gates. */
struct ab_checked {
    const char *backend; /* name; NULL for a gate on a back end that the session does not have */
    const char
        *base_backend;  /* back end that it is compared with; between results, its name in the base
                           result */
    const char *phase;  /* NULL = whole run */
    const char *op;     /* NULL in comparisons = not about an op: time, memory */
    const char *metric; /* "time", "ns_per_op", "p99", "rss_peak_bytes" … */
    const char *unit;   /* unit of the metric: "ns", "bytes" … */
    double base, now;   /* values in comparisons, as the tables show them; NaN = n/a */
    /* effect.ratio is the number that is judged: a factor, or without a reference a value in
     * `unit`. NaN = not known. In comparisons and claims it is inverted if necessary, so that above
     * 1 is worse. */
    struct ab_effect effect;
    double bound; /* gates and claims: bound of effect.ratio. Comparisons: 0.05 = 5 % worse; NaN =
                  shown only, without a verdict (then it is PASS, see ab_check_word) */
    enum ab_verdict verdict;
    uint32_t rounds_needed;             /* to settle an open verdict; 0 = not known; UINT32_MAX =
                                           never */
    char reason[AB_CHECK_REASON_BYTES]; /* why the verdict is not the expected one; "" = none */
    /* Between two results: the effect relative to control back ends, which have the same build in
     * both (stats/compare_drift.h). The verdict is then that of `relative`. In claims: the ratio
     * without the harness, see ab_claims_measure. Else its ratio is NaN or 0. */
    struct ab_effect relative;
    double machine_ratio; /* factor by which the control back ends changed, new / base */
    char controls[AB_CONTROLS_BYTES];
    bool is_drift;         /* inconclusive because of the machine, see `reason` */
    uint32_t n_confirm;    /* rounds that were run to confirm a failure; 0 = none */
    double confirm;        /* value in these rounds; NaN = none */
    const char *iteration; /* name of an iteration, for times per iteration; NULL = not a time per
                              iteration */
    enum ab_check_against against;
    const char *text;          /* text of a gate or claim as written; NULL for comparisons */
    const char *place;         /* "config.yaml:31:5" or "--gate" */
    enum ab_status status;     /* exit status that a gate causes: AB_OK; AB_GATE = failed or not
                              evaluated; AB_CONFIG = bound below the clock's floor;
                              AB_INCONCLUSIVE */
    bool is_warning;           /* level: warn; status is AB_OK for every verdict */
    const char *says, *source; /* claims only; "" = not given */
    double low, high;          /* claims only: extremes of the rounds */
    bool is_higher_better;     /* claims only */
};

/* True if the check has a bound, so that its verdict counts. */
bool ab_check_is_judged(const struct ab_checked *check);
/* Returns the effect that is judged: the one relative to control back ends if there are any. */
const struct ab_effect *ab_check_judged_effect(const struct ab_checked *check);
/* Returns the direction of a number without a bound: 1 = clearly worse, -1 = clearly better, 0 =
 * neither. */
int ab_check_direction(const struct ab_checked *check);
/* Returns the name of the verdict. For a number without a bound it is "worse", "better", "~" if
 * neither is clear, or "n/a" without an interval. */
const char *ab_check_word(const struct ab_checked *check);
/* Writes the unit of effect.ratio and bound of a gate: "ns", or for a factor "x glibc", "x live",
 * "x baseline". Returns buf. */
const char *ab_check_unit(const struct ab_checked *check, char *buf, size_t cap);

bool ab_check_holds(enum ab_check_compare compare, double value, double bound);
/* Decides every verdict that has an interval. PASS if the whole interval is within the bound. FAIL
 * if the ratio is beyond the bound and a change for the worse is certain. Else INCONCLUSIVE. */
enum ab_verdict ab_check_decide(const struct ab_effect *effect, enum ab_check_compare compare,
                                double bound);

/* Marks the back ends (one flag each) for which more rounds should run: those of failures that are
 * ratios, and the back ends that they are compared with. Returns the number of such checks. */
uint32_t ab_checks_suspicious(const struct ab_checked *list, uint32_t n,
                              const struct ab_session *session, bool *is_concerned);
/* Confirms failures. `again` has the same checks on new rounds of the back ends concerned. A
 * failure that does not occur there as well becomes inconclusive. */
void ab_checks_confirm(struct ab_checked *list, uint32_t n, const struct ab_checked *again,
                       uint32_t n_again, uint32_t n_rounds);
/* Returns the most rounds that any check needs; 0 = none needs more. */
uint32_t ab_checks_rounds_needed(const struct ab_checked *list, uint32_t n);

#endif
