/* SPDX-License-Identifier: MIT
 *
 * Spools of processes that forked, made by hand: each child's trace begins with what lived in its
 * parent at the fork, no more and no less.
 */
#include "record/convert.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test-record-family-XXXXXX";
static char trace_path[64];
static struct ab_convert_report report;
static struct ab_trace_info info;
static struct ab_err err;

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
struct call {
    enum ab_spool_kind kind;
    uint64_t stamp, address, size;
    unsigned log2;
};

static void write_file(const char *name, const void *bytes, size_t n, size_t total)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    assert_int_equal(ftruncate(fd, (off_t)total), 0);
    close(fd);
}

/* A process with one thread: the `fork`th child of `parent`, which may be 0. */
static void write_process(uint32_t pid, uint32_t parent, uint32_t fork, const struct call *calls,
                          size_t n)
{
    static uint8_t slot[AB_SPOOL_DATA];
    struct ab_spool_image image = {.magic = AB_SPOOL_MAGIC,
                                   .pid = pid,
                                   .parent = parent,
                                   .fork_number = fork,
                                   .n_slots = 1,
                                   .program = "prog"};
    struct ab_spool_tail *tail = (struct ab_spool_tail *)(void *)slot;
    struct ab_spool_event *events = (struct ab_spool_event *)(void *)(slot + AB_SPOOL_TAIL);
    char name[32];
    memset(slot, 0, sizeof slot);
    *tail = (struct ab_spool_tail){.magic = AB_SPOOL_MAGIC, .n_events = n, .half_number = {1, 0}};
    for (size_t i = 0; i < n; i++)
        events[i] = (struct ab_spool_event){calls[i].stamp << 4 | calls[i].kind,
                                            calls[i].address | (uint64_t)calls[i].log2 << 58,
                                            calls[i].size};
    snprintf(name, sizeof name, "%u.0", pid);
    write_file(name, &image, sizeof image, AB_SPOOL_PAGE);
    snprintf(name, sizeof name, "%u.0.0", pid);
    write_file(name, slot, sizeof slot, sizeof slot);
}

#define PROCESS(pid, parent, fork, ...) \
    write_process(pid, parent, fork, (const struct call[]){__VA_ARGS__}, \
                  sizeof((const struct call[]){__VA_ARGS__}) / sizeof(struct call))

static struct ab_spool_entry *images;
static size_t n_images;
static struct ab_forks *family;

static void open_family(void)
{
    assert_int_equal(ab_spool_list(folder, &images, &n_images, &err), AB_OK);
    family = ab_forks_open(folder, images, n_images);
}

static void close_family(void)
{
    char command[128];
    ab_forks_close(family);
    free(images);
    snprintf(command, sizeof command, "rm -f %s/*.*", folder);
    assert_int_equal(system(command), 0);
}

static void convert(uint32_t pid)
{
    const struct ab_spool_entry *image = NULL;
    uint64_t n_read;
    for (size_t i = 0; i < n_images; i++)
        if (images[i].image.pid == pid)
            image = &images[i];
    assert_non_null(image);
    FILE *to = fopen(trace_path, "w");
    assert_non_null(to);
    if (ab_convert(family, image, to, &report, NULL, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
    assert_int_equal(test_trace_read(trace_path, &n_read, &info, &err), AB_OK);
    assert_int_equal(info.inherited, report.n_inherited);
}

static void a_child_begins_with_what_lived_at_the_fork(void **state)
{
    (void)state;
    PROCESS(10, 0, 0, {AB_SPOOL_BIRTH, 0, 10}, {AB_SPOOL_ALLOC, 1, 0x1000, 10},
            {AB_SPOOL_ALIGNED, 2, 0x2000, 20, 6}, {AB_SPOOL_ZEROED, 3, 0x3000, 30},
            {AB_SPOOL_RESIZE_BEGIN, 4, 0x1000, 100}, {AB_SPOOL_RESIZE_END, 5, 0x9000, 100},
            {AB_SPOOL_ALLOC, 6, 0x4000, 1}, {AB_SPOOL_FREE, 7, 0x4000}, {AB_SPOOL_FORK, 8, 1},
            {AB_SPOOL_FREE, 9, 0x9000}, {AB_SPOOL_ALLOC, 10, 0x5000, 1000});
    PROCESS(11, 10, 1, {AB_SPOOL_BIRTH, 0, 11}, {AB_SPOOL_FREE, 20, 0x2000},
            {AB_SPOOL_ALLOC, 21, 0x2000, 7}, {AB_SPOOL_FREE, 22, 0x9000},
            {AB_SPOOL_FREE, 23, 0x3000}, {AB_SPOOL_FREE, 24, 0x2000});
    open_family();
    convert(11);
    assert_int_equal(report.n_inherited, 3);
    assert_int_equal(report.n_foreign + report.n_reused, 0);
    assert_int_equal(info.events, 3 + 5);
    assert_int_equal(info.threads, 1);
    assert_int_equal(info.ops[AB_EVENT_ALLOC], 2); /* the resized one, and its own */
    assert_int_equal(info.ops[AB_EVENT_ALLOC_ALIGNED], 1);
    assert_int_equal(info.ops[AB_EVENT_ALLOC_ZEROED], 1);
    assert_int_equal(info.live_peak_bytes, 150);
    assert_int_equal(info.live_end_blocks, 0);
    convert(10); /* the parent is as it was */
    assert_int_equal(report.n_inherited, 0);
    assert_int_equal(info.events, 8);
    close_family();
}

/* The order in which they are asked for does not matter, nor whether the one between made a call. */
static void children_of_children_inherit_through_them(void **state)
{
    (void)state;
    static const uint32_t orders[][3] = {{21, 22, 23}, {23, 22, 21}, {22, 23, 21}};
    PROCESS(20, 0, 0, {AB_SPOOL_BIRTH, 0, 20}, {AB_SPOOL_ALLOC, 1, 0x1000, 1},
            {AB_SPOOL_FORK, 2, 1}, {AB_SPOOL_ALLOC, 3, 0x2000, 2}, {AB_SPOOL_FREE, 4, 0x1000},
            {AB_SPOOL_FORK, 5, 2});
    PROCESS(21, 20, 1, {AB_SPOOL_BIRTH, 0, 21}, {AB_SPOOL_ALLOC, 10, 0x3000, 4},
            {AB_SPOOL_FORK, 11, 1}, {AB_SPOOL_FREE, 12, 0x1000});
    PROCESS(22, 20, 2, {AB_SPOOL_BIRTH, 0, 22}, {AB_SPOOL_FREE, 20, 0x2000});
    PROCESS(23, 21, 1, {AB_SPOOL_BIRTH, 0, 23}, {AB_SPOOL_FREE, 30, 0x1000},
            {AB_SPOOL_FREE, 31, 0x3000});
    static const uint64_t inherited[] = {1, 1, 2}, peaks[] = {5, 2, 5}, events[] = {3, 2, 4};
    for (size_t o = 0; o < 3; o++) {
        open_family();
        for (size_t k = 0; k < 3; k++) {
            uint32_t i = orders[o][k] - 21;
            convert(orders[o][k]);
            assert_int_equal(report.n_inherited, inherited[i]);
            assert_int_equal(report.n_foreign, 0);
            assert_int_equal(info.live_peak_bytes, peaks[i]);
            assert_int_equal(info.events, events[i]);
        }
        if (o < 2) {
            ab_forks_close(family);
            free(images);
        }
    }
    close_family();
}

/* More parents than are kept at once: each is gone through again when it is asked for. */
static void many_parents_are_remembered_or_read_again(void **state)
{
    (void)state;
    enum { PARENTS = 7, CHILDREN = 3 };
    for (uint32_t p = 0; p < PARENTS; p++) {
        PROCESS(100 + p, 0, 0, {AB_SPOOL_BIRTH, 0, 100 + p}, {AB_SPOOL_ALLOC, 1, 0x1000, 1 + p},
                {AB_SPOOL_FORK, 2, 1}, {AB_SPOOL_ALLOC, 3, 0x2000, 1 + p}, {AB_SPOOL_FORK, 4, 2},
                {AB_SPOOL_ALLOC, 5, 0x3000, 1 + p}, {AB_SPOOL_FORK, 6, 3});
        for (uint32_t k = 1; k <= CHILDREN; k++)
            PROCESS(200 + 10 * p + k, 100 + p, k, {AB_SPOOL_BIRTH, 0, 200 + 10 * p + k},
                    {AB_SPOOL_FREE, 20, 0x1000});
    }
    open_family();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t k = 1; k <= CHILDREN; k++)
            for (uint32_t p = 0; p < PARENTS; p++) {
                convert(200 + 10 * p + k);
                assert_int_equal(report.n_inherited, k);
                assert_int_equal(info.live_peak_bytes, k * (1 + p));
            }
    close_family();
}

/* The number of a thread that a child makes is not that of the one that forked. */
static void a_child_without_its_parents_recording_begins_with_nothing(void **state)
{
    (void)state;
    PROCESS(30, 0, 0, {AB_SPOOL_BIRTH, 0, 30}, {AB_SPOOL_ALLOC, 1, 0x1000, 1});
    PROCESS(31, 30, 1, {AB_SPOOL_BIRTH, 0, 31}, {AB_SPOOL_FREE, 2, 0x1000},
            {AB_SPOOL_ALLOC, 3, 0x1000, 1}); /* its fork is not in the parent's stream */
    PROCESS(32, 99, 1, {AB_SPOOL_BIRTH, 0, 32}, {AB_SPOOL_FREE, 2, 0x1000},
            {AB_SPOOL_ALLOC, 3, 0x1000, 1}); /* no such parent */
    open_family();
    for (uint32_t pid = 31; pid <= 32; pid++) {
        convert(pid);
        assert_int_equal(report.n_inherited, 0);
        assert_int_equal(report.n_foreign, 1);
        assert_int_equal(info.events, 1);
    }
    close_family();
}

/* Damage: two that are each other's parents, and one that is its own. */
static void parents_in_a_circle_do_no_harm(void **state)
{
    (void)state;
    PROCESS(40, 41, 1, {AB_SPOOL_ALLOC, 1, 0x1000, 1}, {AB_SPOOL_FORK, 2, 1});
    PROCESS(41, 40, 1, {AB_SPOOL_ALLOC, 1, 0x2000, 1}, {AB_SPOOL_FORK, 2, 1});
    PROCESS(42, 42, 1, {AB_SPOOL_ALLOC, 1, 0x3000, 1}, {AB_SPOOL_FORK, 2, 1});
    open_family();
    for (uint32_t pid = 40; pid <= 42; pid++)
        convert(pid);
    close_family();
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(trace_path, sizeof trace_path, "/tmp/test-record-family-%d.abt", (int)getpid());
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(trace_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_begins_with_what_lived_at_the_fork),
        cmocka_unit_test(children_of_children_inherit_through_them),
        cmocka_unit_test(many_parents_are_remembered_or_read_again),
        cmocka_unit_test(a_child_without_its_parents_recording_begins_with_nothing),
        cmocka_unit_test(parents_in_a_circle_do_no_harm),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
