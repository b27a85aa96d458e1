/* SPDX-License-Identifier: MIT
 *
 * What --budget says of a session that was replayed with iterations.
 */
#include "app/advise/advise_measure.h"

#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_backend_info backends[2];
static struct ab_iterations records[8];
static struct ab_session session;

/* Three rounds of either back end. */
static void begin(void)
{
    memset(backends, 0, sizeof backends);
    session = (struct ab_session){.backends = backends, .n_backends = 2, .iterations = records};
    for (uint32_t i = 0; i < 6; i++)
        records[session.n_iterations++] = (struct ab_iterations){.backend = i % 2,
                                                                 .round = i / 2,
                                                                 .n = 100 - i,
                                                                 .n_scheduler = i,
                                                                 .n_over_budget = 10 + i,
                                                                 .max = 1000.0 * (1 + i * i)};
}

static void rounds_are_added_and_the_worst_is_their_median(void **state)
{
    (void)state;
    struct ab_advised_scopes x;
    begin();
    ab_advise_read_scopes(&session, 1, &x);
    assert_true(x.is_known);
    assert_true(x.worst_ns == 10000); /* of 2000, 10000, 26000 */
    assert_int_equal(x.n_rounds, 3);
    assert_int_equal(x.n, 99 + 97 + 95);
    assert_int_equal(x.n_missed, 11 + 13 + 15);
    assert_int_equal(x.n_scheduler, 1 + 3 + 5);
    assert_string_equal(x.reason, "");
}

static void what_is_not_known_has_a_reason_and_no_number(void **state)
{
    (void)state;
    struct ab_advised_scopes x;
    begin();
    for (uint32_t i = 1; i < 6; i += 2) {
        records[i].n = 0;
        records[i].max = NAN;
        strcpy(records[i].reason, "no iteration that the scheduler left alone");
    }
    ab_advise_read_scopes(&session, 1, &x);
    assert_true(!x.is_known && isnan(x.worst_ns));
    assert_string_equal(x.reason, "no iteration that the scheduler left alone");
    begin();
    backends[1].status = AB_BACKEND_CRASHED;
    strcpy(backends[1].reason, "SIGSEGV");
    ab_advise_read_scopes(&session, 1, &x);
    assert_true(!x.is_known && strcmp(x.reason, "SIGSEGV") == 0);
    session.n_iterations = 0;
    ab_advise_read_scopes(&session, 0, &x);
    assert_true(!x.is_known && x.reason[0] != 0);
}

/* A round without a reason hides none: neither that of another round nor the back end's own. */
static void a_reason_is_not_lost(void **state)
{
    (void)state;
    struct ab_advised_scopes x;
    begin();
    for (uint32_t i = 1; i < 6; i += 2) {
        records[i].n = 0;
        records[i].max = NAN;
    }
    strcpy(records[1].reason, "no iteration that the scheduler left alone");
    ab_advise_read_scopes(&session, 1, &x);
    assert_string_equal(x.reason, "no iteration that the scheduler left alone");
    backends[1].status = AB_BACKEND_CRASHED;
    strcpy(backends[1].reason, "SIGSEGV");
    ab_advise_read_scopes(&session, 1, &x);
    assert_string_equal(x.reason, "SIGSEGV");
    backends[1].reason[0] = 0;
    ab_advise_read_scopes(&session, 1, &x);
    assert_string_equal(x.reason, ab_backend_status_name(AB_BACKEND_CRASHED));
}

static void times_of_all_rounds_are_one_histogram(void **state)
{
    (void)state;
    struct ab_advised_scopes x;
    struct ab_hdr *a = ab_hdr_new(), *b = ab_hdr_new();
    begin();
    ab_advise_read_scopes(&session, 0, &x);
    assert_null(x.hdr);
    ab_hdr_record(a, 100);
    ab_hdr_record(b, 300);
    records[1].hdr = a;
    records[3].hdr = b;
    ab_advise_read_scopes(&session, 1, &x);
    assert_int_equal(ab_hdr_total(x.hdr), 2);
    assert_int_equal(x.hdr->min, 100);
    assert_int_equal(x.hdr->max, 300);
    ab_advised_scopes_fini(&x);
    assert_null(x.hdr);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_added_and_the_worst_is_their_median),
        cmocka_unit_test(what_is_not_known_has_a_reason_and_no_number),
        cmocka_unit_test(a_reason_is_not_lost),
        cmocka_unit_test(times_of_all_rounds_are_one_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
