/* SPDX-License-Identifier: MIT
 *
 * Finds and runs the command, prints the error that the command returns, and returns the exit code.
 */
#include "app/record/launch.h"
#include "base/nearest.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/manual.h"
#include "cli/options_help.h"
#include "cli/options_parse.h"
#include "cli/show.h"
#include "cli/version.h"
#include "core/output.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "document/json.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* Opens /dev/null for closed descriptors 0 to 2, which the next opened file would otherwise get.
 * Descriptor 1 is opened for reading, so that writing to a closed standard output still fails. */
static void hold_standard_descriptors(void)
{
    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0)
            open("/dev/null", i == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* Handles SIGXFSZ by doing nothing, so that exceeding a file size limit is an error like a full
 * disk and does not end the process. SIG_IGN would be inherited by the programs that we start. */
static void on_file_limit(int signal)
{
    (void)signal;
}

static void catch_file_limit(void)
{
    struct sigaction action = {.sa_handler = on_file_limit, .sa_flags = SA_RESTART}, old;
    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

/* Returns the command line quoted for a shell. Puts "--" before word number `program`, with which
 * the words of the measured program begin. */
static char *join_command_line(int argc, char **argv, int program)
{
    struct ab_text t = {0};
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            ab_text_add(&t, i == program ? " -- " : " ");
        ab_text_add_shell(&t, i == 0 ? "allocbench" : argv[i]);
    }
    return t.s;
}

static int find_command(const char *name, struct ab_err *err)
{
    const char *names[AB_COMMAND_COUNT];
    char shown[128];
    for (int i = 0; i < AB_COMMAND_COUNT; i++)
        if (strcmp(names[i] = ab_commands[i].name, name) == 0)
            return i;
    const char *near = ab_text_nearest(name, names, AB_COMMAND_COUNT);
    ab_text_printable(shown, sizeof shown, name);
    if (name[0] == '-')
        ab_fail(err, AB_USAGE,
                "%s is not a command; the options of a command follow it: allocbench run %s", shown,
                shown);
    else if (strcmp(name, "deploy") == 0)
        ab_fail(err, AB_USAGE,
                "unknown command deploy; the answer of run, replay, exec and report ends with the "
                "LD_PRELOAD line of the winner");
    else if (near != NULL)
        ab_fail(err, AB_USAGE, "unknown command %s; did you mean %s?", shown, near);
    else
        ab_fail(err, AB_USAGE, "unknown command %s; see allocbench --help", shown);
    return -1;
}

/* Prints the path of an unfinished recording. The spool is kept, because it may be all that is left
 * of a long recording. */
static void name_spool(const char *path, void *user)
{
    const struct ab_options *o = user;
    char shown[1024];
    ab_text_printable(shown, sizeof shown, path);
    if (!o->talk.is_quiet)
        fprintf(stderr,
                "allocbench: %s has a recording that was not finished: use allocbench trace "
                "recover %s -o TRACE.abt, or remove the folder\n",
                shown, shown);
}

/* Prints the help of one command, such as "run" or "trace info", or the overview. */
static enum ab_status print_help(const char *name, const char *part, struct ab_err *err)
{
    if (name == NULL || name[0] == '-') {
        ab_options_print_overview(stdout);
        return AB_OK;
    }
    int command = find_command(name, err);
    if (command < 0)
        return err->status;
    ab_options_print_help(stdout, (enum ab_command_id)command, part, false);
    return AB_OK;
}

static enum ab_status run_command(int argc, char **argv, int *exit_code, struct ab_err *err)
{
    struct ab_options options;
    struct ab_arguments arguments = {0};
    char kept[64];
    int command = find_command(argv[1], err);
    if (command < 0)
        return err->status;
    enum ab_status status = ab_options_parse((enum ab_command_id)command, argc - 1, argv + 1,
                                             &options, err);
    if (status != AB_OK)
        return status;
    int program = argc - (int)options.n_args;
    bool has_program = command == AB_COMMAND_EXEC && strcmp(argv[program - 1], "--") != 0;
    options.talk.listener = &ab_show_listener;
    options.talk.prepare_ns = options.conditions.timeout_ns;
    options.command.text = join_command_line(argc, argv, has_program ? program : argc);
    snprintf(kept, sizeof kept, "allocbench %s " AB_NO_COMMAND_LINE, ab_commands[command].name);
    options.command.kept = options.command.is_hidden ? kept : options.command.text;
    if (!options.wants_help && !options.wants_help_all)
        ab_temporary_sweep(AB_SPOOL_FOLDER, name_spool, &options);
    if (options.wants_help || options.wants_help_all)
        ab_options_print_help(stdout, (enum ab_command_id)command,
                              options.n_args > 0 ? options.args[0] : NULL, options.wants_help_all);
    else if ((status = ab_arguments_settle((enum ab_command_id)command, &options, &arguments,
                                           err)) == AB_OK)
        status = ab_commands[command].run(&options, exit_code, err);
    ab_arguments_fini(&arguments);
    ab_options_fini(&options);
    return status;
}

/* Prints an error with control characters escaped, except its newlines. */
static void print_error(const char *text)
{
    char line[1024], shown[4096];
    fputs("allocbench: ", stderr);
    for (const char *p = text; *p != 0; p += *p == '\n') {
        size_t n = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, p);
        fprintf(stderr, "%s\n", ab_text_printable(shown, sizeof shown, line));
        p += n;
    }
}

static int finish(enum ab_status status, int exit_code, const struct ab_err *err)
{
    struct ab_err lost;
    if (status == AB_OK && ab_standard_output_flush(&lost) != AB_OK) {
        fprintf(stderr, "allocbench: %s\n", lost.text);
        return exit_code > ab_status_exit_code(AB_INCONCLUSIVE) ? exit_code
                                                                : ab_status_exit_code(AB_SYSTEM);
    }
    if (status == AB_OK)
        return exit_code;
    if (err->text[0] != 0)
        print_error(err->text);
    if (status == AB_INTERRUPTED)
        return 128 + ab_stop_signal;
    return exit_code >= 125 ? exit_code : ab_status_exit_code(status);
}

/* Prints the error without stdio, whose buffers may not fit on the stack. */
static int finish_on_little_stack(const struct ab_err *err)
{
    const struct iovec parts[] = {
        {(void *)(uintptr_t) "allocbench: ", 12},
        {(void *)(uintptr_t)err->text, strlen(err->text)},
        {(void *)(uintptr_t) "\n", 1},
    };
    (void)!writev(STDERR_FILENO, parts, AB_ARRAY_LEN(parts));
    return ab_status_exit_code(err->status);
}

enum { STACK_LEAST = 512 << 10 };

/* Raises the soft stack limit, which workers inherit, to the least that allocbench and a worker
 * need. With a lower limit, their own code would crash, and the back end would be blamed. Returns
 * AB_SYSTEM if the hard limit is lower. */
static enum ab_status fit_stack(struct ab_err *err)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_LEAST)
        return AB_OK;
    stack.rlim_cur = STACK_LEAST;
    if (stack.rlim_max >= STACK_LEAST && setrlimit(RLIMIT_STACK, &stack) == 0)
        return AB_OK;
    return ab_fail(err, AB_SYSTEM,
                   "the limit on the stack (ulimit -s) is %llu KiB, at least %d are needed",
                   (unsigned long long)stack.rlim_max >> 10, STACK_LEAST >> 10);
}

int main(int argc, char **argv)
{
    struct ab_err err = {0};
    enum ab_status status = AB_OK;
    int exit_code = 0;
    hold_standard_descriptors();
    catch_file_limit();
    ab_json_take_memory();
    if (fit_stack(&err) != AB_OK)
        return finish_on_little_stack(&err);
    ab_standard_output_begin();
    if (argc < 2) {
        ab_options_print_overview(stderr);
        return ab_status_exit_code(AB_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help-all") == 0 ||
        strcmp(argv[1], "--help=all") == 0)
        status = print_help(argv[2], argv[2] != NULL ? argv[3] : NULL, &err);
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 ||
             strcmp(argv[1], "version") == 0)
        ab_version_print(stdout);
    else if (strcmp(argv[1], "--man") == 0)
        status = ab_manual_print(stdout, argv[2], &err);
    else if (strcmp(argv[1], "--completion") == 0)
        status = ab_complete_script(stdout, argc > 2 ? argv[2] : "", &err);
    else if (strcmp(argv[1], "--complete") == 0)
        ab_complete_print(stdout, argc - 2, argv + 2);
    else
        status = run_command(argc, argv, &exit_code, &err);
    return finish(status, exit_code, &err);
}
