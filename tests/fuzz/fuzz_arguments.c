/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a command line, a word a line and the command first, and as a file of
 * rules for --map. Reading must end in options, in rules that are whole, or in one error whose words
 * are printable; it writes nothing.
 */
#include "cli/options_parse.h"
#include "fuzz/input_file.h"
#include "placement/rules.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { WORDS_MAX = 64 };

static const char *const sets[] = {"frame", "parts", "world"};
static const struct ab_placement_terms terms[] = {{sets, 3, 4, NULL}, {NULL, 0, 2, NULL}};

static void check_error(enum ab_status status, const struct ab_err *err)
{
    if (status != AB_USAGE && status != AB_INPUT)
        abort();
    if (err->text[0] == 0)
        abort(); /* refused without a reason */
    for (const char *s = err->text; *s != 0; s++)
        if ((unsigned char)*s < 0x20 && *s != '\n')
            abort();
}

static void read_rules(const char *text, const struct ab_placement_terms *of)
{
    struct ab_placement_rules p;
    struct ab_err err = {.text = ""};
    enum ab_status status = ab_rules_parse(text, of, "--map", &p, &err);
    if (status != AB_OK)
        check_error(status, &err);
    for (size_t i = 0; status == AB_OK && i < p.n_rules; i++)
        if (p.rules[i].heap >= p.heaps.n)
            abort();
    ab_rules_fini(&p);
}

static enum ab_command_id command_of(const char *word)
{
    unsigned id = 0;
    while (id < AB_COMMAND_COUNT && strcmp(ab_commands[id].name, word) != 0)
        id++;
    return id < AB_COMMAND_COUNT ? (enum ab_command_id)id : AB_COMMAND_RUN;
}

static void read_words(char *text)
{
    char *argv[WORDS_MAX + 1], *rest = text;
    int argc = 0;
    struct ab_options o;
    struct ab_err err = {.text = ""};
    for (char *word; argc < WORDS_MAX && (word = strsep(&rest, "\n")) != NULL;)
        argv[argc++] = word;
    argv[argc] = NULL;
    enum ab_status status = ab_options_parse(command_of(argv[0]), argc, argv, &o, &err);
    if (status != AB_OK) {
        check_error(status, &err);
        return;
    }
    for (size_t i = 0; i < o.maps.n; i++)
        if (o.maps.rules[i][0] != '@') /* no other file than the input */
            read_rules(o.maps.rules[i], &terms[i % 2]);
    if (o.rules.rounds < 1 || o.rules.rounds > AB_ROUNDS_MAX || o.conditions.n_cpus > AB_CPUS_MAX)
        abort();
    ab_options_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64], name[80];
    int fd = input_file_open(data, n, path);
    snprintf(name, sizeof name, "@%s", path);
    read_rules(name, &terms[0]);
    read_rules(name, &terms[1]);
    close(fd);
    char *text = strndup((const char *)data, n);
    if (text == NULL)
        abort();
    read_words(text);
    free(text);
    return 0;
}
