/* SPDX-License-Identifier: MIT */
#include "core/system_file.h"
#include "support/cmocka.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_process_is_read_whatever_its_name(void **state)
{
    (void)state;
    struct ab_process_stat stat;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, "a) R 1 2 (b");
        setpgid(0, 0);
        if (write(ends[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    bool is_read = ab_process_stat_of(child, &stat);
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    struct ab_process_stat ended;
    bool is_read_ended = ab_process_stat_of(child, &ended);
    waitpid(child, NULL, 0);
    assert_true(is_read && is_read_ended);
    assert_string_equal(stat.name, "a) R 1 2 (b");
    assert_int_equal(stat.parent, getpid());
    assert_int_equal(stat.group, child);
    assert_true(stat.faults > 0 && stat.start_ticks > 0);
    assert_int_equal(ended.state, 'Z');
    assert_int_equal(ended.start_ticks, stat.start_ticks);
    assert_false(ab_process_stat_of(child, &stat));
}

static void children_count_once_they_were_waited_for(void **state)
{
    (void)state;
    struct ab_process_stat before, after;
    assert_true(ab_process_stat("/proc/self", &before));
    pid_t child = fork();
    if (child == 0) {
        for (volatile unsigned i = 0; i < 200000000; i++)
            ;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_true(ab_process_stat("/proc/self", &after));
    assert_true(after.children_ticks > before.children_ticks);
    assert_true(after.children_faults > before.children_faults);
    assert_false(ab_process_stat("/proc/nothing", &after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_read_whatever_its_name),
        cmocka_unit_test(children_count_once_they_were_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
