/* SPDX-License-Identifier: MIT
 *
 * Files of other tools, as tests/golden/exchange/make-golden writes them: good/NAME.FORMAT becomes
 * the calls and counts of its .expect file, bad/NAME.FORMAT ends in exactly that error.
 * AB_UPDATE_GOLDEN=1 rewrites the .expect files.
 * tests: gperftools.c heaptrack.c intake.c logalloc.c malloc_trace_replay.c memory_replay.c
 * tests: mtrace.c rep.c
 */
#include "exchange/intake.h"

#include "support/cmocka.h"
#include "trace_tools/event_text.h"
#include "trace_tools/walk.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER "tests/golden/exchange/"

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (f != NULL) {
        assert_true(fread(text, 1, (1 << 16) - 1, f) < (1 << 16) - 1);
        fclose(f);
    }
    return text;
}

/* That of NAME.FORMAT or NAME.FORMAT.gz. */
static const char *format_of(const char *path)
{
    for (size_t i = 0; ab_format_at(i) != NULL; i++) {
        const char *at = strstr(path, ab_format_at(i)->name);
        size_t n = strlen(ab_format_at(i)->name);
        if (at != NULL && at[-1] == '.' && (at[n] == 0 || at[n] == '.'))
            return ab_format_at(i)->name;
    }
    fail_msg("no format: %s", path);
    return NULL;
}

static enum ab_status print(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    char line[AB_EVENT_TEXT_MAX];
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        if (e->kind == AB_EVENT_THREAD_END)
            fprintf(user, "end of thread %u\n", e->thread);
        else
            fprintf(
                user, "%.*s",
                (int)(ab_event_text(line, batch->info->has_time, 0, e, &batch->blocks[i]) - line),
                line);
    }
    return AB_OK;
}

static void print_trace(FILE *to, const char *path)
{
    struct ab_err err = {0};
    struct ab_trace_info info;
    struct ab_walk walk = {
        .path = path, .has_thread_ends = true, .end = UINT64_MAX, .visit = print, .user = to};
    if (ab_trace_check(&walk, &info, &err) != AB_OK || ab_trace_walk(&walk, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    fprintf(to, "program \"%s\", %llu threads\n", info.program, (unsigned long long)info.threads);
}

static void print_counts(FILE *to, const struct ab_intake_report *r)
{
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {
        {"calls", r->n_calls},
        {"unknown frees", r->n_unknown_frees},
        {"frees of NULL", r->n_null_frees},
        {"unknown resizes", r->n_unknown_resizes},
        {"frees added", r->n_reused},
        {"late times", r->n_late},
        {"of other processes", r->n_other_process},
        {"guessed", r->n_guessed},
        {"writes left out", r->n_writes},
        {"after the end", r->n_after_end},
        {"last line in doubt", r->is_last_in_doubt},
        {"cut", r->is_cut},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].n > 0)
            fprintf(to, "%llu %s\n", (unsigned long long)counts[i].n, counts[i].name);
}

static char *outcome(const char *path, bool is_partial, enum ab_status *status)
{
    char *shown = NULL, trace[64];
    size_t n;
    FILE *to = open_memstream(&shown, &n);
    int fd = memfd_create("trace", 0);
    snprintf(trace, sizeof trace, "/proc/self/fd/%d", fd);
    FILE *out = fdopen(dup(fd), "w");
    struct ab_import import = {
        .format = format_of(path), .path = path, .is_partial = is_partial, .to = out};
    struct ab_intake_report report;
    struct ab_err err = {0};
    *status = ab_import(&import, &report, &err);
    fclose(out);
    if (*status == AB_OK) {
        print_counts(to, &report);
        print_trace(to, trace);
    } else {
        assert_int_equal(*status, AB_INPUT);
        assert_int_equal(*status, err.status);
        assert_null(strchr(err.text, '\n'));
        assert_ptr_equal(strstr(err.text, path), err.text);
        fprintf(to, "%s\n", err.text + strlen(FOLDER "bad/"));
    }
    fclose(to);
    close(fd);
    return shown;
}

static bool check_one(const char *path, bool is_good)
{
    char expect_path[512];
    enum ab_status status;
    snprintf(expect_path, sizeof expect_path, "%s.expect", path);
    char *shown = outcome(path, false, &status);
    if (getenv("AB_UPDATE_GOLDEN") != NULL) {
        FILE *f = fopen(expect_path, "w");
        fputs(shown, f);
        fclose(f);
    }
    char *expected = read_whole(expect_path);
    bool is_same = strcmp(shown, expected) == 0 && (status == AB_OK) == is_good;
    if (!is_same)
        print_message("# %s:\n%s-- expected:\n%s", path, shown, expected);
    free(shown);
    free(expected);
    return is_same;
}

static void check_all(const char *folder, bool is_good)
{
    char path[300];
    unsigned n = 0, n_wrong = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || strstr(e->d_name, ".expect") != NULL)
            continue;
        snprintf(path, sizeof path, "%.40s/%.250s", folder, e->d_name);
        n_wrong += !check_one(path, is_good);
        n++;
    }
    closedir(d);
    assert_true(n >= 16);
    assert_int_equal(n_wrong, 0);
}

static void good_files_become_the_calls_they_hold(void **state)
{
    (void)state;
    check_all(FOLDER "good", true);
}

static void bad_files_end_in_one_error_at_its_place(void **state)
{
    (void)state;
    check_all(FOLDER "bad", false);
}

/* What is cut is what is before the cut, with --partial. */
static void a_cut_file_is_read_up_to_the_cut_on_request(void **state)
{
    static const char *const paths[] = {
        FOLDER "bad/cut.mtrace",        FOLDER "bad/cut-in-resize.mtrace",
        FOLDER "bad/cut.heaptrack",     FOLDER "bad/cut.heaptrack.zst",
        FOLDER "bad/cut.heaptrack.gz",  FOLDER "bad/cut.gperftools",
        FOLDER "bad/cut.memory-replay", FOLDER "bad/cut.logalloc",
        FOLDER "bad/cut.rep",           FOLDER "bad/cut.malloc-trace-replay",
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        enum ab_status status;
        char *shown = outcome(paths[i], true, &status);
        if (status != AB_OK || strstr(shown, "1 cut\n") == NULL)
            fail_msg("%s: %s", paths[i], shown);
        free(shown);
    }
}

/* Every golden file, packed or not, is known by its begin. */
static void a_file_shows_its_format(void **state)
{
    char path[300];
    unsigned n = 0;
    (void)state;
    DIR *d = opendir(FOLDER "good");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || strstr(e->d_name, ".expect") != NULL)
            continue;
        snprintf(path, sizeof path, FOLDER "good/%.250s", e->d_name);
        const struct ab_format *found = ab_format_recognize(path);
        if (found == NULL || found->name != format_of(path))
            fail_msg("%s: %s", path, found == NULL ? "none" : found->name);
        n++;
    }
    closedir(d);
    assert_true(n >= 25);
    assert_null(ab_format_recognize(FOLDER "make-golden"));
    assert_null(ab_format_recognize(FOLDER "bad/empty.mtrace"));
    assert_null(ab_format_recognize("/nowhere"));
}

static void an_unknown_format_is_named_with_the_nearest(void **state)
{
    struct ab_err err = {0};
    const struct ab_format *format;
    (void)state;
    assert_int_equal(ab_format_find("mtrac", &format, &err), AB_USAGE);
    assert_string_equal(err.text, "unknown format mtrac; did you mean mtrace?");
    assert_int_equal(ab_format_find("xyzzyxyzzy", &format, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "allowed are mtrace, heaptrack, malloc-trace-replay"));
    assert_int_equal(ab_format_find("rep", &format, &err), AB_OK);
    assert_string_equal(format->name, "rep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_become_the_calls_they_hold),
        cmocka_unit_test(bad_files_end_in_one_error_at_its_place),
        cmocka_unit_test(a_cut_file_is_read_up_to_the_cut_on_request),
        cmocka_unit_test(a_file_shows_its_format),
        cmocka_unit_test(an_unknown_format_is_named_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
