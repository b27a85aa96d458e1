/* SPDX-License-Identifier: MIT
 *
 * Marks at calls within this very process: what looking a function up gives, which functions stay as
 * they are, and who waits while another thread looks at the modules. What real programs do:
 * tests/cli/marks-functions.bats.
 */
#include "record/preload/preload_marks/hooks.c" /* they are in the recorder alone */
#include "record/preload/preload_marks/hooks_entries.c"
#include "record/preload/preload_marks/hooks_trampoline.c"
#include "support/cmocka.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct ab_spool_control *ab_control;
static const char *noted;

void ab_spool_note_mark(const char *name)
{
    noted = name;
    errno = 1;
}

enum { GETPPID, GETPGID, NOWHERE };

static int begin(void **state)
{
    (void)state;
    static const char *const names[] = {"getppid", "getpgid", "ab_is_defined_nowhere"};
    ab_control = calloc(1, sizeof *ab_control);
    if (ab_control == NULL)
        return -1;
    for (uint32_t i = 0; i < 3; i++)
        snprintf(ab_control->hooks[i].name, sizeof ab_control->hooks[i].name, "%s", names[i]);
    ab_control->n_hooks = 3;
    ab_hooks_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(ab_control);
    return 0;
}

static void need_trampolines(void)
{
    if (ab_hooks_trampoline(0) == 0)
        skip();
}

static void a_function_that_is_looked_up_is_marked(void **state)
{
    (void)state;
    need_trampolines();
    void *found = find_dlsym(RTLD_DEFAULT, "getppid");
    assert_true(is_trampoline((uintptr_t)found));
    assert_ptr_equal(find_dlsym(RTLD_DEFAULT, "getppid"), found);
    errno = 77;
    noted = NULL;
    uint64_t before = ab_control->hooks[GETPPID].n_calls;
    assert_int_equal(((pid_t(*)(void))found)(), getppid());
    assert_int_equal(errno, 77);
    assert_string_equal(noted, "getppid");
    assert_int_equal(ab_control->hooks[GETPPID].n_calls, before + 1);
}

static void an_argument_reaches_the_function(void **state)
{
    (void)state;
    need_trampolines();
    void *found = find_dlsym(RTLD_DEFAULT, "getpgid");
    assert_int_equal(((pid_t(*)(pid_t))found)(getpid()), getpgid(0));
    assert_int_equal(((pid_t(*)(pid_t))found)(-5), -1);
    assert_string_equal(noted, "getpgid");
}

static void other_functions_stay_as_they_are(void **state)
{
    (void)state;
    need_trampolines();
    assert_ptr_equal(find_dlsym(RTLD_DEFAULT, "getpid"), dlsym(RTLD_DEFAULT, "getpid"));
    assert_null(find_dlsym(RTLD_DEFAULT, "ab_is_defined_nowhere"));
    assert_int_equal(reals[NOWHERE][0], 0);
    assert_null(replace(NULL, "getppid"));
    void *found = find_dlsym(RTLD_DEFAULT, "getppid");
    assert_ptr_equal(replace(found, "getppid"), found); /* it is ours already */
}

/* A function that several libraries have: one place each, and none beyond. */
static void addresses_of_a_name_have_places_of_their_own(void **state)
{
    (void)state;
    need_trampolines();
    for (uint32_t k = 0; k < AB_HOOKS_PLACES; k++)
        assert_true(trampoline_to(NOWHERE, 1000 + k, true) ==
                    ab_hooks_trampoline(NOWHERE * AB_HOOKS_PLACES + k));
    assert_true(trampoline_to(NOWHERE, 2000, true) == 0);
    assert_true(trampoline_to(NOWHERE, 1003, false) != 0);
    memset(reals[NOWHERE], 0, sizeof reals[NOWHERE]);
    assert_true(trampoline_to(NOWHERE, 1000, false) == 0);
}

/* ---- one at a time ---- */

static uint64_t who(uint64_t pid, uint64_t thread)
{
    return pid << 32 | thread;
}

static void *look(void *user)
{
    (void)user;
    look_again();
    return NULL;
}

static void another_thread_is_waited_for(void **state)
{
    pthread_t thread;
    struct timespec pause = {0, 20000000};
    (void)state;
    need_trampolines();
    n_loaded = 0;
    __atomic_store_n(&busy, who(ab_process_id(), 1), __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
    nanosleep(&pause, NULL);
    assert_int_equal(__atomic_load_n(&busy, __ATOMIC_SEQ_CST), who(ab_process_id(), 1));
    __atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert_true(n_loaded > 0);
    assert_int_equal(busy, 0);
}

static void one_that_never_ends_is_not_waited_for_for_ever(void **state)
{
    (void)state;
    need_trampolines();
    n_loaded = 0;
    busy = who(ab_process_id(), 1);
    look_again(); /* returns */
    assert_int_equal(n_loaded, 0);
    busy = 0;
    look_again();
    assert_true(n_loaded > 0);
}

static void where_no_module_came_nobody_looks_or_waits(void **state)
{
    (void)state;
    need_trampolines();
    look_again();
    unsigned long long seen = n_loaded;
    busy = who(ab_process_id(), 1);
    uint64_t begin = ab_stamp_now();
    for (int i = 0; i < 20; i++)
        look_again();
    uint64_t ticks = ab_stamp_now() - begin;
    n_loaded = 0;
    begin = ab_stamp_now();
    look_again(); /* waits */
    assert_true(ticks < ab_stamp_now() - begin);
    n_loaded = seen;
    busy = 0;
}

static void a_signal_handler_does_not_wait_for_what_it_interrupted(void **state)
{
    (void)state;
    need_trampolines();
    n_loaded = 0;
    busy = who(ab_process_id(), ab_thread_id());
    look_again();
    assert_int_equal(n_loaded, 0);
    assert_int_equal(busy, who(ab_process_id(), ab_thread_id()));
    busy = 0;
}

static void a_forked_child_does_not_wait_for_its_parents_thread(void **state)
{
    (void)state;
    need_trampolines();
    n_loaded = 0;
    busy = who(ab_process_id() + 1u, 1);
    look_again();
    assert_true(n_loaded > 0);
    assert_int_equal(busy, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_is_looked_up_is_marked),
        cmocka_unit_test(an_argument_reaches_the_function),
        cmocka_unit_test(other_functions_stay_as_they_are),
        cmocka_unit_test(addresses_of_a_name_have_places_of_their_own),
        cmocka_unit_test(another_thread_is_waited_for),
        cmocka_unit_test(one_that_never_ends_is_not_waited_for_for_ever),
        cmocka_unit_test(where_no_module_came_nobody_looks_or_waits),
        cmocka_unit_test(a_signal_handler_does_not_wait_for_what_it_interrupted),
        cmocka_unit_test(a_forked_child_does_not_wait_for_its_parents_thread),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
