/* SPDX-License-Identifier: MIT
 *
 * Marks and times of a spool on their way into a trace: names, also where the control file is
 * damaged, and what a tick is where the machine has slept since.
 */
#include "record/converter.h"

#include "base/clock.h"
#include "support/cmocka.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static struct ab_spool_control *control;
static struct ab_convert_marks marks;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/ab-marks-XXXXXX");
    control = calloc(1, sizeof *control);
    if (control == NULL || mkdtemp(folder) == NULL)
        return -1;
    control->magic = AB_SPOOL_MAGIC;
    control->begin_ns = ab_clock_now_ns();
    control->begin_ticks = ab_tick_end();
    return 0;
}

static void control_path(char out[128])
{
    snprintf(out, 128, "%s/%s", folder, AB_SPOOL_CONTROL);
}

static int end(void **state)
{
    char path[128];
    (void)state;
    ab_convert_marks_close(&marks);
    free(control);
    control_path(path);
    unlink(path);
    return rmdir(folder);
}

static void name_place(uint32_t place, uint32_t is, const char *text)
{
    control->mark_names[place].state = is;
    snprintf(control->mark_names[place].text, sizeof control->mark_names[place].text, "%s", text);
}

static void open_marks(size_t bytes)
{
    char path[128];
    control_path(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, control, bytes), bytes);
    close(fd);
    ab_convert_marks_open(&marks, folder);
}

static void take(uint64_t stamp, uint64_t place, uint64_t call)
{
    struct ab_spool_event e = {stamp << 4 | AB_SPOOL_MARK, 0, place};
    ab_convert_marks_take(&marks, &e, call, 0);
}

static const char *name_of(size_t mark)
{
    return marks.table.names[marks.table.marks[mark].name];
}

static void a_mark_has_the_name_of_its_place(void **state)
{
    (void)state;
    name_place(0, AB_SPOOL_NAME_THERE, "frame");
    name_place(700, AB_SPOOL_NAME_THERE, "frame"); /* two threads were equally fast */
    name_place(AB_SPOOL_MARK_NAMES - 1, AB_SPOOL_NAME_THERE, "last");
    open_marks(sizeof *control);
    take(0, 1, 5);
    take(0, 701, 6);
    take(0, AB_SPOOL_MARK_NAMES, 7);
    assert_int_equal(marks.table.n, 3);
    assert_int_equal(marks.table.n_names, 2);
    assert_string_equal(name_of(0), "frame");
    assert_string_equal(name_of(1), "frame");
    assert_string_equal(name_of(2), "last");
    assert_int_equal(marks.table.marks[1].call, 6);
}

static void a_name_that_is_not_there_is_mark(void **state)
{
    (void)state;
    name_place(3, AB_SPOOL_NAME_TAKEN, "half writ"); /* its process was killed */
    open_marks(sizeof *control);
    take(0, 4, 0);
    take(0, 0, 0);                        /* there was no place left */
    take(0, AB_SPOOL_MARK_NAMES + 1u, 0); /* damage */
    take(0, UINT64_MAX, 0);
    assert_int_equal(marks.table.n_names, 1);
    assert_string_equal(name_of(0), "mark");
    assert_string_equal(name_of(3), "mark");
}

static void a_name_without_an_end_is_cut(void **state)
{
    (void)state;
    control->mark_names[0].state = AB_SPOOL_NAME_THERE;
    memset(control->mark_names[0].text, 'x', sizeof control->mark_names[0].text);
    open_marks(sizeof *control);
    take(0, 1, 0);
    assert_int_equal(strlen(name_of(0)), AB_SPOOL_MARK_NAME - 1);
}

static void a_spool_without_its_control_file_has_marks_without_names(void **state)
{
    (void)state;
    name_place(0, AB_SPOOL_NAME_THERE, "frame");
    control->has_time = 1;
    open_marks(sizeof *control - 1);
    assert_false(marks.has_time);
    take(0, 1, 0);
    assert_string_equal(name_of(0), "mark");
}

/* So many ticks are a second as the clocks of this machine run now. */
static uint64_t second_ticks(void)
{
    struct ab_clock clock;
    ab_clock_calibrate(&clock);
    return (uint64_t)(1e9 / clock.ns_per_tick);
}

/* The time of a second by the recording, which began at what `control` says. */
static double second_us(uint64_t second)
{
    open_marks(sizeof *control);
    assert_int_equal(ab_convert_marks_time(&marks, 1000), 0);
    return (double)ab_convert_marks_time(&marks, 1000 + second);
}

static void times_are_those_of_the_clock(void **state)
{
    uint64_t second = second_ticks();
    (void)state;
    control->begin_ns -= 30000000000; /* half a minute ago, by a counter that is a little faster */
    control->begin_ticks -= (uint64_t)((double)second * 30 * 1.0005);
    double us = second_us(second);
    assert_true(fabs(us - 1e6 / 1.0005) < 100); /* measured now alone it would be 1000000 */
}

static void a_machine_that_slept_is_measured_anew(void **state)
{
    uint64_t second = second_ticks();
    (void)state;
    control->begin_ns -= 10000000000; /* 10 s, and the counter went on for a minute of sleep */
    control->begin_ticks -= 70 * second;
    assert_true(fabs(second_us(second) - 1e6) < 2000);
    ab_convert_marks_close(&marks);
    control->begin_ticks += 70 * second + 5 * second; /* the counter began anew */
    assert_true(fabs(second_us(second) - 1e6) < 2000);
    ab_convert_marks_close(&marks);
    control->begin_ns += 3600000000000; /* and so did the clock */
    control->begin_ticks = 0;
    assert_true(fabs(second_us(second) - 1e6) < 2000);
}

static void times_never_go_back(void **state)
{
    uint64_t second = second_ticks();
    (void)state;
    open_marks(sizeof *control);
    ab_convert_marks_time(&marks, second);
    uint64_t late = ab_convert_marks_time(&marks, 3 * second);
    assert_true(late > 1000000);
    assert_int_equal(ab_convert_marks_time(&marks, 2 * second), late);
    assert_int_equal(ab_convert_marks_time(&marks, second / 2), late);
    take(second, 1, 0);
    assert_int_equal(marks.table.marks[0].time_us, late);
}

#define MARKS_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MARKS_TEST(a_mark_has_the_name_of_its_place),
        MARKS_TEST(a_name_that_is_not_there_is_mark),
        MARKS_TEST(a_name_without_an_end_is_cut),
        MARKS_TEST(a_spool_without_its_control_file_has_marks_without_names),
        MARKS_TEST(times_are_those_of_the_clock),
        MARKS_TEST(a_machine_that_slept_is_measured_anew),
        MARKS_TEST(times_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
