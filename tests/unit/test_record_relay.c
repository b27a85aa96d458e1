/* SPDX-License-Identifier: MIT
 *
 * What `record` does for recorded processes: here a test is the process.
 */
#include "record/relay.h"

#include "support/cmocka.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PID = 17 };
static char folder[] = "/tmp/ab-relay-XXXXXX";
static struct ab_relay *relay;
static struct ab_spool_control *control;

static void path_of(char out[64], const char *name)
{
    snprintf(out, 64, "%s/%s", folder, name);
}

static void *map(const char *name, size_t bytes, int flags)
{
    char path[64];
    path_of(path, name);
    int fd = open(path, O_RDWR | flags, 0600);
    assert_true(fd >= 0);
    if ((flags & O_CREAT) != 0)
        assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(p != MAP_FAILED);
    return p;
}

static int open_relay(void **state)
{
    struct ab_err err;
    (void)state;
    strcpy(folder, "/tmp/ab-relay-XXXXXX");
    if (mkdtemp(folder) == NULL ||
        ab_relay_open(folder, (struct ab_relay_options){.most_events = 1000, .site_depth = 8},
                      &relay, &err) != AB_OK ||
        ab_relay_serve(relay, &err) != AB_OK)
        return -1;
    control = map(AB_SPOOL_CONTROL, sizeof *control, 0);
    return 0;
}

static int close_relay(void **state)
{
    static const char *const names[] = {AB_SPOOL_CONTROL, "17.0", "17.0.3", "17.1"};
    char path[64];
    (void)state;
    munmap(control, sizeof *control);
    ab_relay_close(relay);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(path, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* As a process does. */
static enum ab_spool_stop ask(enum ab_spool_request_kind kind, int32_t slot, uint32_t generation,
                              uint64_t bytes)
{
    struct ab_spool_request *r = &control->requests[5];
    struct timespec pause = {0, 1000000};
    *r = (struct ab_spool_request){.state = AB_SPOOL_TAKEN,
                                   .kind = kind,
                                   .pid = PID,
                                   .generation = generation,
                                   .slot = slot,
                                   .bytes = bytes};
    __atomic_store_n(&r->state, AB_SPOOL_ASKED, __ATOMIC_RELEASE);
    __atomic_fetch_add(&control->n_asked, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &control->n_asked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    for (int i = 0; i < 60000 && __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != AB_SPOOL_ANSWERED;
         i++)
        nanosleep(&pause, NULL);
    assert_int_equal(r->state, AB_SPOOL_ANSWERED);
    return r->answer;
}

static void what_is_packed_is_saved_at_the_end_of_the_file(void **state)
{
    char path[64], saved[8] = "";
    (void)state;
    struct ab_spool_tail *tail = map("17.0.3", AB_SPOOL_DATA, O_CREAT);
    *tail = (struct ab_spool_tail){.magic = AB_SPOOL_MAGIC, .pack_bytes = 8, .data_bytes = 16};
    memcpy((char *)tail + AB_SPOOL_PACK, "packed!", 8);
    assert_int_equal(ask(AB_SPOOL_SAVE, 3, 0, 0), AB_SPOOL_RUNNING);
    assert_int_equal(tail->pack_bytes, 0);
    assert_int_equal(tail->data_bytes, 24);
    path_of(path, "17.0.3");
    int fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, saved, 8, AB_SPOOL_DATA + 16), 8);
    close(fd);
    assert_string_equal(saved, "packed!");
    munmap(tail, AB_SPOOL_DATA);
}

static void what_cannot_be_a_slot_is_not_saved(void **state)
{
    (void)state;
    assert_int_equal(ask(AB_SPOOL_SAVE, 9, 0, 0), AB_SPOOL_NO_FILE);
    struct ab_spool_tail *tail = map("17.0.3", AB_SPOOL_DATA, O_CREAT);
    *tail = (struct ab_spool_tail){.magic = 1, .pack_bytes = 8};
    assert_int_equal(ask(AB_SPOOL_SAVE, 3, 0, 0), AB_SPOOL_NO_FILE);
    *tail = (struct ab_spool_tail){.magic = AB_SPOOL_MAGIC, .pack_bytes = AB_SPOOL_PACK_BYTES + 1};
    assert_int_equal(ask(AB_SPOOL_SAVE, 3, 0, 0), AB_SPOOL_NO_FILE);
    munmap(tail, AB_SPOOL_DATA);
}

static void a_file_is_made_for_any_user_and_once(void **state)
{
    char path[64];
    struct stat st;
    (void)state;
    assert_int_equal(ask(AB_SPOOL_MAKE, -1, 1, AB_SPOOL_PAGE), AB_SPOOL_RUNNING);
    path_of(path, "17.1");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, AB_SPOOL_PAGE);
    assert_int_equal(st.st_mode & 0777, 0666);
    assert_int_equal(ask(AB_SPOOL_MAKE, -1, 1, AB_SPOOL_PAGE), AB_SPOOL_NO_FILE);
    assert_int_equal(ask(AB_SPOOL_MAKE, -1, 2, AB_SPOOL_DATA + 1), AB_SPOOL_FILE_LIMIT);
}

static void a_stop_reaches_every_image_that_still_records(void **state)
{
    (void)state;
    struct ab_spool_image *a = map("17.0", AB_SPOOL_PAGE, O_CREAT);
    struct ab_spool_image *b = map("17.1", AB_SPOOL_PAGE, O_CREAT);
    b->stop = AB_SPOOL_NO_SPACE;
    ab_relay_stop(relay, AB_SPOOL_TIME_UP);
    assert_int_equal(control->stop, AB_SPOOL_TIME_UP);
    assert_int_equal(a->stop, AB_SPOOL_TIME_UP);
    assert_int_equal(b->stop, AB_SPOOL_NO_SPACE);
    munmap(a, AB_SPOOL_PAGE);
    munmap(b, AB_SPOOL_PAGE);
}

static void the_control_file_says_who_serves_and_how_much_is_wanted(void **state)
{
    (void)state;
    assert_int_equal(control->magic, AB_SPOOL_MAGIC);
    assert_int_equal(control->server, getpid());
    assert_int_equal(control->most_events, 1000);
}

/* Two threads: one in its third half, one in its first. */
static void what_is_recorded_so_far_is_seen_from_outside(void **state)
{
    (void)state;
    struct ab_spool_image *image = map("17.0", AB_SPOOL_PAGE, O_CREAT);
    struct ab_spool_tail *tail = map("17.0.3", AB_SPOOL_DATA, O_CREAT);
    struct ab_relay_view before = ab_relay_look(relay);
    assert_int_equal(before.n_calls, 0);
    *tail = (struct ab_spool_tail){
        .n_events = 2 * AB_SPOOL_HALF_EVENTS + 5, .half_number = {3, 2}, .data_bytes = 1000};
    control->n_events = 2 * AB_SPOOL_HALF_EVENTS - 10; /* of which 10 are no calls */
    struct ab_relay_view view = ab_relay_look(relay);
    assert_int_equal(view.n_calls, 2 * AB_SPOOL_HALF_EVENTS - 5);
    assert_int_equal(view.spool_bytes,
                     sizeof *control + AB_SPOOL_PAGE + AB_SPOOL_DATA + tail->data_bytes);
    tail->n_events += UINT64_C(1) << 40; /* taken when recording had stopped */
    assert_int_equal(ab_relay_look(relay).n_calls, 3 * AB_SPOOL_HALF_EVENTS - 10);
    tail->n_asides = 1010, tail->n_asides_counted = 10; /* so many more in its third half */
    assert_int_equal(ab_relay_look(relay).n_calls, 3 * AB_SPOOL_HALF_EVENTS - 1010);
    tail->n_asides = 0; /* damage */
    assert_int_equal(ab_relay_look(relay).n_calls, 2 * AB_SPOOL_HALF_EVENTS - 10);
    control->n_events = -10; /* in its first half */
    assert_int_equal(ab_relay_look(relay).n_calls, 0);
    munmap(image, AB_SPOOL_PAGE);
    munmap(tail, AB_SPOOL_DATA);
}

#define RELAY_TEST(f) cmocka_unit_test_setup_teardown(f, open_relay, close_relay)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELAY_TEST(what_is_packed_is_saved_at_the_end_of_the_file),
        RELAY_TEST(what_cannot_be_a_slot_is_not_saved),
        RELAY_TEST(a_file_is_made_for_any_user_and_once),
        RELAY_TEST(a_stop_reaches_every_image_that_still_records),
        RELAY_TEST(what_is_recorded_so_far_is_seen_from_outside),
        RELAY_TEST(the_control_file_says_who_serves_and_how_much_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
