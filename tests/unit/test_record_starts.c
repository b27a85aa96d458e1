/* SPDX-License-Identifier: MIT
 *
 * Which of the noted starts have left nothing in a spool.
 */
#include "record/spool_reader.h"

#include "support/cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/ab-starts-XXXXXX";
static char path[64];
static struct ab_spool_control control;
static struct ab_unseen *unseen;
static size_t n;
static uint64_t n_lost;

static int make_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/%s", mkdtemp(folder), AB_SPOOL_CONTROL);
    return path[0] == '/' ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void note(size_t i, uint32_t pid, uint32_t generation, uint32_t why, const char *name)
{
    struct ab_spool_start *s = &control.starts[i];
    *s = (struct ab_spool_start){
        .state = AB_SPOOL_START_NOTED, .pid = pid, .generation = generation, .why = why};
    snprintf(s->path, sizeof s->path, "%s", name);
}

static void read_with(const struct ab_spool_entry *images, size_t n_images)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, &control, sizeof control), (ssize_t)sizeof control);
    close(fd);
    n = ab_spool_read_unseen(folder, images, n_images, &unseen, &n_lost);
}

static void begin(void)
{
    memset(&control, 0, sizeof control);
    control.magic = AB_SPOOL_MAGIC;
}

static void those_with_an_image_of_that_or_a_later_program_were_seen(void **state)
{
    const struct ab_spool_entry images[] = {{.image.pid = 5}, {.image.pid = 6, .generation = 2}};
    (void)state;
    begin();
    note(0, 5, 0, AB_SPOOL_RUNNING, "/bin/a"); /* has image 0 */
    note(1, 5, 1, AB_SPOOL_RUNNING, "/bin/b"); /* became b, of which there is none */
    note(2, 6, 1, AB_SPOOL_RUNNING, "/bin/c"); /* has image 2 */
    note(3, 7, 0, AB_SPOOL_RUNNING, "/bin/d");
    control.starts[4] = (struct ab_spool_start){
        .state = AB_SPOOL_START_TAKEN, .pid = 8, .path = "half"};
    read_with(images, 2);
    assert_int_equal(n, 2);
    assert_string_equal(unseen[0].path, "/bin/b");
    assert_string_equal(unseen[1].path, "/bin/d");
    free(unseen);
}

static void processes_of_one_program_and_reason_are_one(void **state)
{
    const struct ab_spool_entry image = {.image.pid = 1};
    (void)state;
    begin();
    note(0, 1, 0, AB_SPOOL_NO_FILE, "a"); /* an image of that id is another process's */
    for (uint32_t i = 1; i < AB_SPOOL_STARTS; i++)
        note(i, 100 + i, 0, AB_SPOOL_RUNNING, i % 2 == 0 ? "a" : "b");
    control.n_starts_lost = 3;
    read_with(&image, 1);
    assert_int_equal(n, 3);
    assert_int_equal(unseen[0].why, AB_SPOOL_NO_FILE);
    assert_int_equal(unseen[0].n, 1);
    assert_int_equal(unseen[1].n, AB_SPOOL_STARTS / 2);     /* b */
    assert_int_equal(unseen[2].n, AB_SPOOL_STARTS / 2 - 1); /* a, without the recorder */
    assert_int_equal(n_lost, 3);
    free(unseen);
}

static void what_is_no_control_file_says_nothing(void **state)
{
    (void)state;
    begin();
    note(0, 1, 0, AB_SPOOL_RUNNING, "a");
    control.magic = 0;
    read_with(NULL, 0);
    assert_int_equal(n, 0);
    free(unseen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_with_an_image_of_that_or_a_later_program_were_seen),
        cmocka_unit_test(processes_of_one_program_and_reason_are_one),
        cmocka_unit_test(what_is_no_control_file_says_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
