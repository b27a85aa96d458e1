/* SPDX-License-Identifier: MIT
 *
 * Decides whether a setting is in force, from texts of the library, the loader and the files. A
 * listed value alone proves nothing, because libraries also list options that no longer have an
 * effect. A setting is proven only if the library's manual says that the option has an effect in
 * this version and under these conditions (struct documented). A setting is ignored only if there
 * is evidence. Evidence is a list of the settings in force that lacks its name or has another
 * value, a complaint of the library, or a bound or a version in the manual. For a library that
 * reads its variables by name, it is also evidence that no file of the library contains the name.
 */
#include "runner/setting_judge.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One setting. A variable with several settings becomes several items. */
struct item {
    const char *variable; /* "MALLOC_CONF" */
    char name[128];       /* "narenas"; the name of the variable if it has only one setting */
    char value[256];
    struct ab_setting *to;
};

/* Text that lists settings in force, on lines "PREFIX NAME SEPARATOR VALUE". */
struct listing {
    const char *text, *prefix, *separator;
};

static void decide(struct item *it, enum ab_setting_state state, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void decide(struct item *it, enum ab_setting_state state, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(it->to->why, sizeof it->to->why, fmt, args);
    va_end(args);
    it->to->state = state;
}

static void leave_unproven(struct item *it)
{
    decide(it, AB_SETTING_UNPROVEN, "the library does not say what is in force");
}

/* ---- listings ---- */

/* Returns the length of the name on the line at `line`, and puts its value in *value. Returns 0 if
 * the line does not belong to the listing. */
static size_t name_on_line(const struct listing *l, const char *line, const char **value)
{
    size_t n = strlen(l->prefix), length = strcspn(line, "\n");
    const char *end = strncmp(line, l->prefix, n) == 0 ? strstr(line + n, l->separator) : NULL;
    if (end == NULL || end > line + length)
        return 0;
    *value = end + strlen(l->separator);
    return (size_t)(end - line) - n;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* Finds the value that the listing has for a name. Removes quotes and any text after the value.
 * Returns false if the name is not listed. */
static bool find_value(const struct listing *l, const char *name, char *buf, size_t cap)
{
    const char *value;
    for (const char *line = l->text; *line != 0; line = next_line(line)) {
        size_t n = name_on_line(l, line, &value);
        if (n == 0 || n != strlen(name) || strncmp(line + strlen(l->prefix), name, n) != 0)
            continue;
        value += *value == '"';
        snprintf(buf, cap, "%.*s", (int)strcspn(value, "\" \n"), value);
        return true;
    }
    return false;
}

enum { NAMES_MAX = 512, NAME_BYTES = 64 };

/* Writes a similar name of the listing: "; did you mean \"narenas\"?". "" = no name is similar. */
static const char *suggest(const struct listing *l, const char *name, char buf[128])
{
    static char names[NAMES_MAX][NAME_BYTES];
    const char *list[NAMES_MAX], *value;
    size_t n = 0;
    for (const char *line = l->text; *line != 0 && n < NAMES_MAX; line = next_line(line)) {
        size_t length = name_on_line(l, line, &value);
        if (length == 0 || length >= NAME_BYTES)
            continue;
        snprintf(names[n], NAME_BYTES, "%.*s", (int)length, line + strlen(l->prefix));
        list[n] = names[n];
        n++;
    }
    const char *nearest = ab_text_nearest(name, list, n);
    snprintf(buf, 128, "%s%s%s", nearest != NULL ? "; did you mean \"" : "",
             nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    return buf;
}

/* ---- comparing values ---- */

enum match { SAME, ANOTHER, UNCLEAR };

static bool read_number(const char *text, long long *out)
{
    static const char *const words[][2] = {{"false", "true"}, {"off", "on"}, {"no", "yes"}};
    char *end;
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        for (int is_true = 0; is_true < 2; is_true++)
            if (strcasecmp(text, words[i][is_true]) == 0) {
                *out = is_true;
                return true;
            }
    *out = text[0] == '-' ? strtoll(text, &end, 0) : (long long)strtoull(text, &end, 0);
    return end != text && *end == 0;
}

/* Compares a given value with the value in force. Only numbers can be known to differ, because the
 * library may have translated words ("default" to a number). */
static enum match compare(const char *given, const char *in_force)
{
    long long a, b;
    if (strcmp(given, in_force) == 0)
        return SAME;
    if (!read_number(given, &a) || !read_number(in_force, &b))
        return UNCLEAR;
    return a == b ? SAME : ANOTHER;
}

/* Decides about the setting by its value in the listing. Returns false, without a decision, if the
 * listing does not have the name. */
static bool decide_by_value(struct item *it, const struct listing *l, const char *name)
{
    char in_force[128];
    if (!find_value(l, name, in_force, sizeof in_force))
        return false;
    switch (compare(it->value, in_force)) {
    case SAME:
        decide(it, AB_SETTING_PROVEN, "%s", "");
        break;
    case ANOTHER:
        decide(it, AB_SETTING_IGNORED, "%s is in force", AB_SHOWN(128, in_force));
        break;
    case UNCLEAR:
        decide(it, AB_SETTING_UNPROVEN, "the library says %s", AB_SHOWN(128, in_force));
    }
    return true;
}

/* True if the text `of` has a line that ends in `words` followed by the setting: a complaint of the
 * library. */
static bool complains(const char *of, const char *words, const char *setting)
{
    char line[512];
    const char *at;
    int n = snprintf(line, sizeof line, "%s%s", words, setting);
    if (n >= (int)sizeof line || (at = strstr(of, line)) == NULL)
        return false;
    return at[n] == 0 || at[n] == '\n';
}

/* True if the name is a word in one of the library's files, or the end of a word. Linkers store a
 * string that is the end of another string only once. */
static bool is_word(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(words, name); at != NULL; at = strstr(at + 1, name))
        if (at[n] == '\n')
            return true;
    return false;
}

/* ---- effect of listed options ---- */

enum needs {
    NEEDS_NOTHING,
    /* has an effect only if transparent huge pages are enabled, for all programs or for those that
     * ask */
    NEEDS_THP,
    /* has an effect only if transparent huge pages are enabled for programs that ask for them */
    NEEDS_THP_MADVISE,
    NEEDS_DEBUG_MALLOC /* since glibc 2.34, has an effect only with libc_malloc_debug.so.0 */
};

/* An option that has an effect according to the manual of its library. Sources: "Memory Allocation
 * Tunables" in the manual of glibc 2.36; the functions do_set_mxfast, do_set_tcache_count and
 * do_set_tcache_max of its malloc, for the bounds beyond which glibc silently keeps the default;
 * jemalloc(3) of 5.3.0, "TUNING"; "Environment Options" in the readme of mimalloc, and the comments
 * on its table of options, 2.0.9 to 2.1. */
struct documented {
    const char *name; /* a final * stands for all names with this beginning */
    const char *most; /* largest value with an effect; NULL = any */
    enum needs needs;
    /* another option, and the value that it must have for this one to have an effect; NULL =
     * none */
    const char *needs_option, *needs_value;
};

static const struct documented of_glibc[] = {
    {.name = "glibc.malloc.check", .needs = NEEDS_DEBUG_MALLOC},
    {.name = "glibc.malloc.hugetlb", .needs = NEEDS_THP_MADVISE},
    {.name = "glibc.malloc.mxfast", .most = sizeof(size_t) == 8 ? "160" : "80"},
    {.name = "glibc.malloc.tcache_count", .most = "65535"},
    {.name = "glibc.malloc.tcache_max", .most = sizeof(size_t) == 8 ? "1032" : "516"},
    {.name = "glibc.malloc.arena_max"},
    {.name = "glibc.malloc.arena_test"},
    {.name = "glibc.malloc.mmap_max"},
    {.name = "glibc.malloc.mmap_threshold"},
    {.name = "glibc.malloc.perturb"},
    {.name = "glibc.malloc.tcache_unsorted_limit"},
    {.name = "glibc.malloc.top_pad"},
    {.name = "glibc.malloc.trim_threshold"},
};

static const struct documented of_jemalloc[] = {
    {.name = "thp", .needs = NEEDS_THP},
    {.name = "metadata_thp", .needs = NEEDS_THP},
    {.name = "tcache_max", .needs_option = "tcache", .needs_value = "true"},
    {.name = "lg_tcache_max", .needs_option = "tcache", .needs_value = "true"},
    {.name = "tcache_*", .needs_option = "tcache", .needs_value = "true"},
    {.name = "lg_tcache_*", .needs_option = "tcache", .needs_value = "true"},
    {.name = "max_background_threads", .needs_option = "background_thread", .needs_value = "true"},
    {.name = "stats_print_opts", .needs_option = "stats_print", .needs_value = "true"},
    {.name = "stats_interval_opts"},
    {.name = "hpa_*", .needs_option = "hpa", .needs_value = "true"},
    {.name = "prof_*", .needs_option = "prof", .needs_value = "true"},
    {.name = "abort"},
    {.name = "abort_conf"},
    {.name = "background_thread"},
    {.name = "cache_oblivious"},
    {.name = "confirm_conf"},
    {.name = "dirty_decay_ms"},
    {.name = "dss"},
    {.name = "hpa"},
    {.name = "junk"},
    {.name = "lg_extent_max_active_fit"},
    {.name = "muzzy_decay_ms"},
    {.name = "mutex_max_spin"},
    {.name = "narenas"},
    {.name = "oversize_threshold"},
    {.name = "percpu_arena"},
    {.name = "prof"},
    {.name = "retain"},
    {.name = "stats_interval"},
    {.name = "stats_print"},
    {.name = "tcache"},
    {.name = "trust_madvise"},
    {.name = "utrace"},
    {.name = "xmalloc"},
    {.name = "zero"},
    {.name = "zero_realloc"},
};

static const struct documented of_mimalloc[] = {
    {.name = "large_os_pages", .needs = NEEDS_THP},
    {.name = "allow_large_os_pages", .needs = NEEDS_THP},
    {.name = "purge_extend_delay"},
    {.name = "allow_decommit"},
    {.name = "allow_large"},
    {.name = "arena_eager_commit"},
    {.name = "arena_purge_mult"},
    {.name = "arena_reserve"},
    {.name = "decommit_delay"},
    {.name = "destroy_on_exit"},
    {.name = "disallow_arena_alloc"},
    {.name = "disallow_os_alloc"},
    {.name = "eager_commit"},
    {.name = "eager_commit_delay"},
    {.name = "limit_os_alloc"},
    {.name = "max_errors"},
    {.name = "max_warnings"},
    {.name = "purge_decommits"},
    {.name = "purge_delay"},
    {.name = "reserve_os_memory"},
    {.name = "segment_decommit_delay"},
    {.name = "show_errors"},
    {.name = "show_stats"},
    {.name = "use_numa_nodes"},
    {.name = "verbose"},
};

static const struct documented *find_documented(const struct documented *list, size_t n,
                                                const char *name)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(list[i].name);
        bool is_pattern = list[i].name[length - 1] == '*';
        if (strncmp(list[i].name, name, is_pattern ? length - 1 : length + 1) == 0)
            return &list[i];
    }
    return NULL;
}

/* True if the library lists `d->needs_option` with the needed value, or does not list it. */
static bool has_needed_option(const struct documented *d, const struct listing *l)
{
    char in_force[128];
    return d->needs_option == NULL || !find_value(l, d->needs_option, in_force, sizeof in_force) ||
           compare(d->needs_value, in_force) != ANOTHER;
}

/* Judges a setting that the library lists with the given value. Marks it as ignored if it has no
 * effect here according to the library's documentation. Marks it as not proven if it may have none,
 * or if no documentation is known. */
static void judge_effect(const struct ab_setting_evidence *e, struct item *it,
                         const struct listing *l, const struct documented *list, size_t n,
                         const char *name)
{
    const struct documented *d = find_documented(list, n, name);
    long long given, most = 0;
    bool is_beyond = d != NULL && d->most != NULL && read_number(d->most, &most) &&
                     read_number(it->value, &given) && (given < 0 || given > most);
    const char *thp = e->thp != NULL ? e->thp : "";
    if (d == NULL)
        decide(it, AB_SETTING_UNPROVEN, "the library lists it, which does not show that it acts");
    else if (is_beyond)
        decide(it, AB_SETTING_IGNORED, "values above %s have no effect", d->most);
    else if (d->needs == NEEDS_DEBUG_MALLOC && e->libc_minor >= 34)
        decide(it, AB_SETTING_IGNORED,
               "since glibc 2.34 it has no effect without libc_malloc_debug.so.0");
    else if (!has_needed_option(d, l))
        decide(it, AB_SETTING_IGNORED, "it has no effect without %s:%s", d->needs_option,
               d->needs_value);
    else if ((d->needs == NEEDS_THP || d->needs == NEEDS_THP_MADVISE) &&
             strstr(thp, "[never]") != NULL)
        decide(it, AB_SETTING_UNPROVEN, "transparent huge pages are switched off on this machine");
    else if (d->needs == NEEDS_THP_MADVISE && strstr(thp, "[madvise]") == NULL)
        decide(it, AB_SETTING_UNPROVEN,
               "it acts only where transparent huge pages are for programs that ask (madvise)");
}

#define JUDGE_EFFECT(e, it, l, list, name) judge_effect(e, it, l, list, AB_ARRAY_LEN(list), name)

/* ---- kinds of libraries ---- */

static void judge_jemalloc(const struct ab_setting_evidence *e, struct item *it)
{
    const struct listing l = {e->said, "  opt.", ": "};
    char pair[400], near[128], in_force[128];
    AB_FIT(pair, "%s:%s", it->name, it->value);
    bool is_listed = find_value(&l, it->name, in_force, sizeof in_force);
    if (it->value[0] == 0)
        decide(it, AB_SETTING_IGNORED, "it is not of the form NAME:VALUE");
    else if (complains(e->complaints, "Invalid conf pair: ", pair) && !is_listed)
        decide(it, AB_SETTING_IGNORED, "it has no option \"%s\"%s", it->name,
               suggest(&l, it->name, near));
    else if (complains(e->complaints, "Invalid conf pair: ", pair) ||
             complains(e->complaints, "Invalid conf value: ", pair))
        decide(it, AB_SETTING_IGNORED, "it refuses this value");
    else if (!decide_by_value(it, &l, it->name))
        leave_unproven(it);
    else if (it->to->state == AB_SETTING_PROVEN)
        JUDGE_EFFECT(e, it, &l, of_jemalloc, it->name);
}

/* Accepts a value that was given in bytes if the library lists the same amount of memory in KiB. */
static void allow_kib(struct item *it, const struct listing *l, const char *name)
{
    char in_force[128];
    long long given, listed;
    if (it->to->state == AB_SETTING_IGNORED && find_value(l, name, in_force, sizeof in_force) &&
        read_number(it->value, &given) && read_number(in_force, &listed) && given >= 1024 &&
        (given + 1023) / 1024 == listed)
        decide(it, AB_SETTING_PROVEN, "%s", "");
}

/* Judges an option of mimalloc, which lists MIMALLOC_DECOMMIT_DELAY as "decommit_delay". */
static void judge_mimalloc(const struct ab_setting_evidence *e, struct item *it)
{
    const struct listing l = {e->complaints, "mimalloc: option '", "': "};
    const size_t n_prefix = strlen("mimalloc_");
    char name[128], near[128], refused[200];
    AB_COPY(name, it->name + n_prefix);
    for (char *p = name; *p != 0; p++)
        *p = (char)tolower((unsigned char)*p);
    AB_FIT(refused, "option mimalloc_%s has an invalid value", name);
    if (strstr(e->complaints, l.prefix) == NULL)
        leave_unproven(it);
    else if (strstr(e->complaints, refused) != NULL)
        decide(it, AB_SETTING_IGNORED, "it refuses this value");
    else if (decide_by_value(it, &l, name)) {
        allow_kib(it, &l, name);
        if (it->to->state == AB_SETTING_PROVEN)
            JUDGE_EFFECT(e, it, &l, of_mimalloc, name);
        /* perhaps an old name of an option, which this version still reads */
    } else if (is_word(e->words, name))
        leave_unproven(it);
    else
        decide(it, AB_SETTING_IGNORED, "this version has no option \"%s\"%s", name,
               suggest(&l, name, near));
}

/* Judges a setting of a library that reads its variables by their names. */
static void judge_by_name(const struct ab_setting_evidence *e, struct item *it)
{
    const struct listing l = {e->words, "", "\n"};
    char near[128];
    if (is_word(e->words, it->variable))
        leave_unproven(it);
    else
        decide(it, AB_SETTING_IGNORED, "it reads no variable %s%s", it->variable,
               suggest(&l, it->variable, near));
}

static void judge_extension(const struct ab_setting_evidence *e, struct item *it)
{
    const struct listing l = {e->said, "", ": "};
    if (!decide_by_value(it, &l, it->name))
        judge_by_name(e, it);
}

static void judge_scudo(const struct ab_setting_evidence *e, struct item *it)
{
    char flag[400];
    AB_FIT(flag, "    %s=%s", it->name, it->value);
    if (complains(e->complaints, "", flag))
        decide(it, AB_SETTING_IGNORED, "it has no option \"%s\"", it->name);
    else
        leave_unproven(it);
}

/* Judges a tunable of glibc. The loader lists bounds after the value: "0x1 (min: 0x1, max:
 * 0x10)". */
static void judge_tunable(const struct ab_setting_evidence *e, struct item *it)
{
    const struct listing l = {e->tunables, "", ": "};
    bool is_of_malloc = strncmp(it->name, "glibc.malloc.", 13) == 0;
    char near[128], in_force[128];
    if (e->tunables[0] == 0)
        leave_unproven(it);
    else if (!find_value(&l, it->name, in_force, sizeof in_force))
        decide(it, AB_SETTING_IGNORED, "glibc has no tunable \"%s\"%s", it->name,
               suggest(&l, it->name, near));
    else if (is_of_malloc && e->serves == AB_SERVES_ANOTHER)
        decide(it, AB_SETTING_IGNORED, "it is for glibc's malloc, and another serves this row");
    else if (decide_by_value(it, &l, it->name) && it->to->state == AB_SETTING_UNPROVEN)
        decide(it, AB_SETTING_IGNORED, "%s is in force", in_force);
    else if (is_of_malloc && it->to->state == AB_SETTING_PROVEN)
        JUDGE_EFFECT(e, it, &l, of_glibc, it->name);
}

/* ---- choosing the kind ---- */

/* Returns the name of the tunable that a variable sets in glibc; NULL = none. */
static const char *tunable_of(const char *variable)
{
    static const char *const aliases[][2] = {
        {"MALLOC_ARENA_MAX", "glibc.malloc.arena_max"},
        {"MALLOC_ARENA_TEST", "glibc.malloc.arena_test"},
        {"MALLOC_CHECK_", "glibc.malloc.check"},
        {"MALLOC_MMAP_MAX_", "glibc.malloc.mmap_max"},
        {"MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold"},
        {"MALLOC_PERTURB_", "glibc.malloc.perturb"},
        {"MALLOC_TOP_PAD_", "glibc.malloc.top_pad"},
        {"MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(aliases); i++)
        if (strcmp(variable, aliases[i][0]) == 0)
            return aliases[i][1];
    return NULL;
}

static bool is_named_by_literals(const struct ab_setting_evidence *e)
{
    return e->is_libc || e->kind == AB_INTROSPECT_EXTENSION || e->kind == AB_INTROSPECT_TBB ||
           e->kind == AB_INTROSPECT_MALLCTL || e->kind == AB_INTROSPECT_MALLINFO;
}

static void judge(const struct ab_setting_evidence *e, struct item *it)
{
    const char *tunable = tunable_of(it->variable);
    if (tunable != NULL && e->serves != AB_SERVES_ANOTHER)
        AB_COPY(it->name, tunable);
    if (strcmp(it->variable, "GLIBC_TUNABLES") == 0 ||
        (tunable != NULL && e->serves != AB_SERVES_ANOTHER))
        judge_tunable(e, it);
    else if (e->serves == AB_SERVES_ANOTHER && e->is_builtin)
        decide(it, AB_SETTING_IGNORED, "a built-in allocator reads no variables");
    else if (e->kind == AB_INTROSPECT_MALLCTL && strcmp(it->variable, "MALLOC_CONF") == 0)
        judge_jemalloc(e, it);
    else if (strncasecmp(it->variable, "mimalloc_", 9) == 0 &&
             (e->kind == AB_INTROSPECT_MIMALLOC || e->serves == AB_SERVES_UNKNOWN))
        judge_mimalloc(e, it);
    else if (e->kind == AB_INTROSPECT_EXTENSION)
        judge_extension(e, it);
    else if (strcmp(it->variable, "SCUDO_OPTIONS") == 0)
        judge_scudo(e, it);
    else if (is_named_by_literals(e) && e->serves != AB_SERVES_UNKNOWN)
        judge_by_name(e, it);
    else if (e->kind == AB_INTROSPECT_MIMALLOC)
        decide(it, AB_SETTING_IGNORED, "mimalloc reads only variables that begin with MIMALLOC_");
    else
        leave_unproven(it);
}

/* Returns the characters that separate settings in a variable; "" = the variable is one setting.
 * *ends_name receives the character between name and value. */
static const char *separators(const struct ab_setting_evidence *e, const char *variable,
                              char *ends_name)
{
    bool is_jemalloc = e->kind == AB_INTROSPECT_MALLCTL && strcmp(variable, "MALLOC_CONF") == 0;
    *ends_name = is_jemalloc ? ':' : '=';
    return is_jemalloc                               ? ","
           : strcmp(variable, "GLIBC_TUNABLES") == 0 ? ":"
           : strcmp(variable, "SCUDO_OPTIONS") == 0  ? ":, "
                                                     : "";
}

/* Judges one setting of a variable and adds it to the row's proofs, if there is room. */
static void judge_part(const struct ab_setting_evidence *e, const char *variable, const char *part,
                       struct ab_backend_info *b)
{
    char ends_name;
    bool is_one = separators(e, variable, &ends_name)[0] == 0;
    struct item it = {.variable = variable};
    size_t n = strcspn(part, (char[]){ends_name, 0});
    if (b->n_proofs == AB_SETTINGS_MAX)
        return;
    AB_FIT(it.name, "%.*s", is_one ? 127 : (int)n, is_one ? variable : part);
    AB_COPY(it.value, is_one ? part : part[n] != 0 ? part + n + 1 : "");
    it.to = &b->proofs[b->n_proofs++];
    *it.to = (struct ab_setting){.state = AB_SETTING_UNPROVEN};
    AB_FIT(it.to->text, "%s=%s", variable, part);
    judge(e, &it);
    if (it.to->state == AB_SETTING_IGNORED && b->reason[0] == 0)
        AB_FIT(b->reason, "did not take %s: %s", it.to->text, it.to->why);
}

void ab_setting_judge(const struct ab_setting_evidence *e, const char *setting,
                      struct ab_backend_info *b)
{
    char variable[256], part[256], ends_name;
    size_t n = strcspn(setting, "=");
    AB_FIT(variable, "%.*s", (int)n, setting);
    const char *at = setting + n + (setting[n] == '='), *between;
    between = separators(e, variable, &ends_name);
    if (*between == 0) {
        judge_part(e, variable, at, b);
        return;
    }
    for (at += strspn(at, between); *at != 0; at += strspn(at, between)) {
        n = strcspn(at, between);
        AB_FIT(part, "%.*s", (int)n, at);
        judge_part(e, variable, part, b);
        at += n;
    }
}
