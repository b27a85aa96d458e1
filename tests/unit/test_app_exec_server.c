/* SPDX-License-Identifier: MIT
 *
 * The options of `exec --server`: their grammar, and the rules between them.
 */
#include "app/exec_server.h"
#include "support/cmocka.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct ab_exec_request request(const char *ready)
{
    return (struct ab_exec_request){
        .server = {.is_server = true, .ready = ready, .load = "true", .end_signal = 1}};
}

static void assert_refused(const struct ab_exec_request *asked, const char *why)
{
    struct ab_server server = {.load = NULL};
    struct ab_err err = {0};
    assert_int_equal(ab_exec_server_read(asked, &server, &err), AB_USAGE);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, why);
    free(server.metrics);
}

static void a_port_is_tried_on_this_machine(void **state)
{
    (void)state;
    const struct ab_exec_request asked = request("tcp:6379");
    struct ab_server server = {.load = NULL};
    struct ab_err err;
    assert_int_equal(ab_exec_server_read(&asked, &server, &err), AB_OK);
    assert_int_equal(server.ready.n_addresses, 2);
    assert_int_equal(server.ready.addresses[0].to.ss_family, AF_INET);
    assert_int_equal(server.ready.addresses[1].to.ss_family, AF_INET6);
    free(server.metrics);
}

static void each_name_has_its_signal(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGKILL};
    struct ab_exec_request asked = request("cmd:true");
    for (uint32_t i = 0; ab_end_signals[i] != NULL; i++) {
        struct ab_server server = {.load = NULL};
        struct ab_err err;
        asked.server.end_signal = i;
        assert_int_equal(ab_exec_server_read(&asked, &server, &err), AB_OK);
        assert_int_equal(server.end_signal, numbers[i]);
        assert_string_equal(ab_end_signals[i], sigabbrev_np(numbers[i]));
        free(server.metrics);
    }
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *ready, *why;
    } rows[] = {{"tcp:0", "a port from 1 to 65535"}, {"tcp:host:99999", "a port from 1 to 65535"},
                {"unix:", "the path of a socket"},   {"udp:1", "expected tcp:PORT"},
                {"cmd:", "expected tcp:PORT"},       {NULL, "--server requires --ready"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ab_exec_request asked = request(rows[i].ready);
        assert_refused(&asked, rows[i].why);
    }
}

static void a_metric_has_a_name_of_its_own_and_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *metrics[2], *why;
    } rows[] = {{{"requests", NULL}, "expected NAME=REGEX"},
                {{"wall_ns=([0-9]+)", NULL}, "a metric of allocbench itself"},
                {{"rps=[0-9]+", NULL}, "must be around the number"},
                {{"rps=(", NULL}, "--metric 'rps=('"},
                {{"rps=([0-9]+)", "rps+=([0-9]+)"}, "two are named rps"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ab_exec_request asked = request("cmd:true");
        const char *metrics[] = {rows[i].metrics[0], rows[i].metrics[1]};
        asked.server.metrics = metrics;
        asked.server.n_metrics = metrics[1] != NULL ? 2 : 1;
        assert_refused(&asked, rows[i].why);
    }
}

static void it_excludes_others(void **state)
{
    (void)state;
    struct ab_exec_request asked = request("cmd:true");
    asked.program.trace = "app.abt";
    assert_refused(&asked, "--trace and --server are mutually exclusive");
    asked.program.trace = NULL;
    asked.measure.passes.wants_instr = true;
    assert_refused(&asked, "--instr and --server are mutually exclusive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_is_tried_on_this_machine),
        cmocka_unit_test(each_name_has_its_signal),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_metric_has_a_name_of_its_own_and_a_number),
        cmocka_unit_test(it_excludes_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
