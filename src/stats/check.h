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
    /* gate on a back end that nobody named and that is partial or absent */
    AB_VERDICT_SKIPPED,
    /* the interval contains both sides of the bound, so that neither is certain; fails with
     * --inconclusive=fail */
    AB_VERDICT_INCONCLUSIVE,
    AB_VERDICT_IMPROVED, /* comparisons only: better by more than the limit, as FAIL is worse */
    /* the verdict would be a change, but both results are of one build, so the machine changed */
    AB_VERDICT_MOVED,
    AB_VERDICT_COUNT
};
/* Names of verdicts in gates ("pass", "not_evaluated" …) and in comparisons ("ok", "regressed" …).
 * NULL = gates or comparisons do not have this verdict. */
extern const char *const ab_gate_verdicts[AB_VERDICT_COUNT],
    *const ab_comparison_verdicts[AB_VERDICT_COUNT];

enum ab_check_compare {
    AB_CHECK_LESS,
    AB_CHECK_AT_MOST,
    AB_CHECK_MORE,
    AB_CHECK_AT_LEAST,
    AB_CHECK_IS, /* equal; for claims and counts only */
};
enum ab_check_against {
    AB_AGAINST_NOTHING, /* the bound is in the unit of the metric */
    /* the bound is a factor of the number of `base_backend` in the same session */
    AB_AGAINST_BACKEND,
    AB_AGAINST_LIVE,     /* the bound is a factor of the peak of live bytes */
    AB_AGAINST_BASELINE, /* the bound is a factor of the number in another result */
};

enum { AB_CONTROLS_BYTES = 100, AB_CHECK_REASON_BYTES = 240 };

/* One check. Strings are borrowed from the sessions and from the gates. */
struct ab_checked {
    const char *backend; /* name; NULL for a gate on a back end that the session does not have */
    /* name of the back end that `backend` is compared with; between two results, its name in the
     * base result */
    const char *base_backend;
    const char *phase;  /* NULL = whole run */
    const char *op;     /* NULL = whole run or a time of it; in comparisons also for memory */
    const char *metric; /* "time", "ns_per_op", "p99", "rss_peak_bytes" … */
    const char *unit;   /* unit of the metric: "ns", "bytes" … */
    /* numbers of both sides in comparisons, as the tables show them; NaN = n/a */
    double base, now;
    /* effect.ratio is the number that is judged: a factor, or if `against` is NOTHING a value in
     * `unit`. NaN = not known. In comparisons and claims it is inverted if necessary, so that above
     * 1 is worse. */
    struct ab_effect effect;
    /* gates and claims: bound of effect.ratio. Comparisons: 0.05 = 5 % worse is allowed; NaN = the
     * number is only shown, and the verdict is PASS (see ab_check_word) */
    double bound;
    enum ab_verdict verdict;
    /* number of rounds that would settle an open verdict; 0 = not known; UINT32_MAX = no number
     * would */
    uint32_t rounds_needed;
    /* why the verdict is not PASS, or a remark on it; "" = none */
    char reason[AB_CHECK_REASON_BYTES];
    /* Comparisons of two results: the effect relative to the control back ends, which have the same
     * build in both results (stats/compare_drift.h); the verdict is then judged by it. Claims: the
     * ratio without the harness, see ab_claims_measure. Otherwise relative.ratio is NaN or 0. */
    struct ab_effect relative;
    /* time of the control back ends in the new result, divided by that in the base result */
    double machine_ratio;
    char controls[AB_CONTROLS_BYTES];
    /* the verdict is inconclusive because the machine may have changed; `reason` says how */
    bool is_drift;
    uint32_t n_confirm; /* number of rounds that were run to confirm a failure; 0 = none */
    /* value in the rounds that were run to confirm the failure; NaN = none */
    double confirm;
    const char *iteration; /* name of an iteration, for times per iteration; NULL = not a time per
                              iteration */
    enum ab_check_against against;
    const char *text;  /* the gate or claim as the user wrote it; NULL for comparisons */
    const char *place; /* "config.yaml:31:5" or "--gate" */
    /* exit status of the command by this gate: AB_OK; AB_GATE = failed or not evaluated; AB_CONFIG
     * = bound below the clock's floor; AB_INCONCLUSIVE */
    enum ab_status status;
    /* the gate has `level: warn`, so that status is AB_OK for every verdict */
    bool is_warning;
    /* what the publication says, and where it is; claims only; "" = not given */
    const char *says, *source;
    double low, high;      /* claims only: extremes of the rounds */
    bool is_higher_better; /* claims only: more is better */
};

/* True if the check has a bound, so that its verdict counts. */
bool ab_check_is_judged(const struct ab_checked *check);
/* Returns the effect that is judged: `relative` if there are control back ends, otherwise
 * `effect`. */
const struct ab_effect *ab_check_judged_effect(const struct ab_checked *check);
/* Returns the direction of a number without a bound: 1 = clearly worse, -1 = clearly better, 0 =
 * neither. */
int ab_check_direction(const struct ab_checked *check);
/* Returns the name of the verdict. For a number without a bound it is "worse", "better", "~" if the
 * direction is not clear, or "n/a" if there is no interval. */
const char *ab_check_word(const struct ab_checked *check);
/* Writes the unit of effect.ratio and bound of a gate: the unit of the metric, such as "ns", or for
 * a factor "x glibc", "x live" or "x baseline". Returns buf. */
const char *ab_check_unit(const struct ab_checked *check, char *buf, size_t cap);

bool ab_check_holds(enum ab_check_compare compare, double value, double bound);
/* Returns the verdict on an effect that has an interval. PASS if the whole interval is within the
 * bound. FAIL if the ratio is beyond the bound and a change for the worse is certain. Otherwise
 * INCONCLUSIVE. */
enum ab_verdict ab_check_decide(const struct ab_effect *effect, enum ab_check_compare compare,
                                double bound);

/* Finds failures that more rounds may not confirm: ratios beyond their bound. Sets a flag in
 * is_concerned[] for each back end of such a check and for the back end that it is compared with.
 * Returns the number of such checks. */
uint32_t ab_checks_suspicious(const struct ab_checked *list, uint32_t n,
                              const struct ab_session *session, bool *is_concerned);
/* Confirms failures by new rounds. `again` has the same checks, judged on n_rounds new rounds of
 * the marked back ends. A failure that is not a failure in `again` becomes inconclusive. */
void ab_checks_confirm(struct ab_checked *list, uint32_t n, const struct ab_checked *again,
                       uint32_t n_again, uint32_t n_rounds);
/* Returns the largest rounds_needed of the checks; 0 = no check needs more rounds. */
uint32_t ab_checks_rounds_needed(const struct ab_checked *list, uint32_t n);

#endif
