/* SPDX-License-Identifier: MIT
 *
 * Table of all options: name, help, commands, destination and allowed values. Options that write a
 * result come from report/sinks/sinks.def.
 */
#include "cli/option_table.h"

#include "app/rounds.h"
#include "app/trace/trace_facts.h"
#include "base/bits.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/commands.h"
#include "core/text.h"
#include "report/table/style.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define WINDOW_MOST (1 << 20) /* in ops; a larger window would not limit anything */
#define TIMEOUT_LEAST_NS 10000000
#define TIME_BUDGET_LEAST_NS 1000000000
#define PACE_MOST 1000
#define DRAIN_MOST_NS 10000000000

/* One bit for each command: RUN, REPLAY, … */
enum {
#define AB_COMMAND(id, ...) id = 1 << AB_COMMAND_##id,
#include "cli/commands.def"
#undef AB_COMMAND
};

/* Macros for the fields of a row: the member of struct ab_options that gets the value, and its
 * type. */
#define MEMBER(member) \
    .at = offsetof(struct ab_options, member), .size = sizeof((struct ab_options *)0)->member
#define FLAG(member) .type = AB_OPTION_FLAG, MEMBER(member)
#define TEXT(member) .type = AB_OPTION_TEXT, MEMBER(member)
#define LIST_OF(member, length) \
    .type = AB_OPTION_LIST, MEMBER(member), .also = offsetof(struct ab_options, length)
#define WORD(member, list) .type = AB_OPTION_WORD, MEMBER(member), .words = list
#define NUMBER(unit_kind, member, least, most) \
    .type = AB_OPTION_NUMBER, MEMBER(member), .unit = unit_kind, .min = least, .max = most
#define COUNT(member, least, most) NUMBER(AB_UNIT_COUNT, member, least, most)
#define BYTES(member, least, most) NUMBER(AB_UNIT_BYTES, member, least, most)
#define TIME(member, least, most) NUMBER(AB_UNIT_TIME, member, least, most)
#define BUDGET(member) \
    TIME(member, 1, AB_ITERATION_BUDGET_MOST_NS), .range = AB_ITERATION_BUDGET_RANGE
#define SPECIAL(reader) .type = AB_OPTION_SPECIAL, .read = reader
#define GIVEN(member) .also = offsetof(struct ab_options, member)
#define OF_SERVER .needs = {"server"}, RARE
#define TIMEOUT \
    TIME(conditions.timeout_ns, TIMEOUT_LEAST_NS, UINT64_MAX), .range = "must be at least 10ms"

static const char *const eaches[] = {"nothing", "scope", NULL};
static const char *const scope_wishes[] = {"best", "nested", "outer",
                                           NULL}; /* in the order of enum ab_scopes_wish */
static const char *const thps[] = {"default", "never", NULL};
/* in the order of enum ab_flame_by */
static const char *const flame_keys[] = {"calls", "bytes", "live", NULL};
static const char *const lives[] = {"keep", "drop", NULL};
/* in the order of enum ab_embed */
static const char *const embeds[] = {"merged", "full", "none", NULL};
static const char *const inconclusives[] = {"report", "fail", NULL};
static const char *const whens[] = {"auto", "always", "never", NULL};

/* Help of -b: the forms of a back end. The default is not included, because it differs by
 * command. */
#define BACKENDS "allocators (back ends) to measure, by name or path "
#define BACKENDS_MORE \
    .more = "Forms of a back end (see allocators/README.md):\n" \
            "  libraries             installed malloc libraries\n" \
            "  all                   ... and built-in allocators;\n" \
            "                        by default only those of them\n" \
            "                        that suit the work\n" \
            "  slab:keep=8:spare=0   parameters\n" \
            "  jemalloc{A=1;B=2}     environment (quote the braces)\n" \
            "  jemalloc:purge=10s    gives memory back that often,\n" \
            "                        by the time of the work\n" \
            "  jemalloc:litter=0.75  on an aged heap (see --aged)\n" \
            "  ./libmi.so:prefix=mi_ functions with a prefix\n" \
            "  ./libmm.so:prefix=mm_:init=mm_init  called first\n" \
            "  bg=jemalloc{A=1}      under a short name, in gates\n" \
            "                        too; also mine=./lib.so\n" \
            "  './a\\,b.so'           a path with a comma (quoted)\n" \
            "  inline+slab           compiled into the timed loop\n" \
            "  cursor+pool           ... through its cursor\n" \
            "  checked+NAME          every call checked, not timed\n" \
            "  fault+NAME:n=100      the 100th allocation or\n" \
            "                        resize of a run fails"
#define RARE_IN(those) .rare = those
#define RARE RARE_IN(~0u)
/* Commands whose --help does not list the option of a result format. The last word of the format's
 * row in sinks.def chooses one of these sets. */
enum { HIDES_USUAL = 0, HIDES_CI = RUN | REPLAY | EXEC, HIDES_RARE = ~0u };

/* Macros for rows that have fields in common. */
#define OUTPUT(name, arg, help, those, ...) \
    { \
        name, arg, help, "Output", 0, those, __VA_ARGS__ \
    }
#define JSON(what, those) \
    OUTPUT("json", "FILE", what " as JSON; - is standard output", those, TEXT(json))
#define RESULTS (RUN | REPLAY | EXEC | REPORT | COMPARE)

const char *const ab_option_groups[] = {
    "What runs",        "What is read", "What is merged",
    "What is recorded", "How long",     "Measurement",
    "Gates and CI",     "Output",       NULL,
};

/* ---- functions that read values other than plain numbers and texts ----
 *
 * A reader returns the error text; NULL = no error. If the value is a list, it sets *value to the
 * wrong part. */

/* Values of --touch: first the values that workloads allow too, then the values that need a
 * trace. */
static const char *const touches[] = {AB_TOUCH_NAMES("first(N)"), "N%", "auto", "recorded",
                                      "recorded,apart",           NULL};
enum { SHARE_WORD = AB_TOUCH_WALK, AUTO_WORD, RECORDED_WORD, RECORDED_APART_WORD };

const char *ab_option_word(const char *value, const char *const *words, size_t *out)
{
    static char why[400];
    size_t n = 0;
    int used = 0;
    for (; words[n] != NULL; n++)
        if (strcmp(value, words[n]) == 0) {
            *out = n;
            return NULL;
        }
    for (size_t i = 0; i < n; i++)
        used += snprintf(why + used, sizeof why - (size_t)used, "%s%s", i == 0 ? "one of " : ", ",
                         words[i]);
    const char *near = ab_text_nearest(value, words, n);
    if (near != NULL)
        snprintf(why + used, sizeof why - (size_t)used, "; did you mean %s?", near);
    return why;
}

/* Reads a share of each block, such as "5%". */
static const char *read_touch_share(const char *s, size_t n, struct ab_options *o)
{
    struct ab_number share;
    const char *bad = ab_units_parse(s, n, AB_UNIT_FRACTION, &share);
    if (bad == NULL && !(share.value * AB_TOUCH_WHOLE >= 1 && share.value <= 1))
        bad = "must be more than 0% and at most 100%";
    o->replay.touch = AB_TOUCH_SHARE;
    o->replay.touch_bytes = bad == NULL ? (uint32_t)(share.value * AB_TOUCH_WHOLE + 0.5) : 0;
    return bad;
}

static const char *read_touch(const char **value, struct ab_options *o)
{
    const char *s = *value;
    size_t n = strlen(s), word = 0;
    o->replay.recorded = AB_RECORDED_NOT;
    if (n > 1 && s[n - 1] == '%' && s[0] != 'N')
        return read_touch_share(s, n, o);
    if (n > 7 && strncmp(s, "first(", 6) == 0 && s[n - 1] == ')') {
        struct ab_number bytes;
        const char *bad = ab_units_parse(s + 6, n - 7, AB_UNIT_BYTES, &bytes);
        if (bad == NULL && (bytes.whole == 0 || bytes.whole >= 1u << 29))
            bad = "must be from 1 to 512MiB";
        o->replay.touch = AB_TOUCH_FIRST;
        o->replay.touch_bytes = bad == NULL ? (uint32_t)bytes.whole : 0;
        return bad;
    }
    if (strncmp(s, "first", 5) == 0)
        return "give the number of bytes, as in first(8)";
    const char *bad = ab_option_word(s, touches, &word);
    if (bad == NULL && word == SHARE_WORD)
        return "give a number, as in 5%";
    o->replay.touch = word < SHARE_WORD             ? (unsigned)word
                      : word == RECORDED_APART_WORD ? AB_TOUCH_APART
                                                    : AB_TOUCH_PAGE;
    if (word >= AUTO_WORD)
        o->replay.recorded = word == AUTO_WORD ? AB_RECORDED_AUTO : AB_RECORDED_MUST;
    return bad;
}

static const char *read_tape_mem(const char **value, struct ab_options *o)
{
    size_t n = strlen(*value);
    bool is_share = n > 0 && (*value)[n - 1] == '%';
    struct ab_number x;
    const char *bad = ab_units_parse(*value, n, is_share ? AB_UNIT_FRACTION : AB_UNIT_BYTES, &x);
    if (bad != NULL)
        return bad;
    if (is_share && (x.value < 0.01 || x.value > 0.9))
        return "must be from 1% to 90% of available memory";
    if (!is_share && x.whole < AB_TAPE_MEM_LEAST)
        return "must be at least 64KiB";
    o->settings.tape_mem_bytes = is_share ? 0 : x.whole;
    o->settings.tape_mem_share = is_share ? x.value : 0;
    return NULL;
}

/* Reads a comma-separated list of numbers and inclusive ranges A-B into at most `most` extents.
 * Returns the number of extents; 0 = not such a list. */
static size_t read_ranges(const char *at, struct ab_extent *out, size_t most)
{
    for (size_t n_read = 0; n_read < most; at++) {
        struct ab_number first, last;
        size_t n = strcspn(at, ",-");
        if (ab_units_parse(at, n, AB_UNIT_COUNT, &first) != NULL)
            return 0;
        last = first;
        at += n;
        if (*at == '-') {
            n = strcspn(++at, ",");
            if (ab_units_parse(at, n, AB_UNIT_COUNT, &last) != NULL || last.whole < first.whole)
                return 0;
            at += n;
        }
        out[n_read++] = (struct ab_extent){first.whole, last.whole + 1};
        if (*at == 0)
            return n_read;
    }
    return 0;
}

static const char *read_cpus(const char **value, struct ab_options *o)
{
    static const char wrong[] = "expected a list of CPUs such as 1 or 0,2-3";
    static struct ab_extent ranges[AB_CPUS_MAX];
    size_t n = strspn(*value, "0123456789,-") == strlen(*value)
                   ? read_ranges(*value, ranges, AB_CPUS_MAX)
                   : 0;
    o->conditions.n_cpus = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t cpu = ranges[i].first; cpu < ranges[i].end; cpu++) {
            if (o->conditions.n_cpus == AB_CPUS_MAX || cpu >= 65536)
                return wrong;
            o->conditions.cpus[o->conditions.n_cpus++] = (int)cpu;
        }
    return n > 0 ? NULL : wrong;
}

static const char *read_threads(const char **value, struct ab_options *o)
{
    o->filter.n_threads = read_ranges(*value, o->filter.threads, AB_TRACE_THREADS_LISTED);
    return o->filter.n_threads > 0
               ? NULL
               : "expected a list of at most 64 threads or ranges such as 0,2-5";
}

/* Reads "virtual" or "10x". */
static const char *read_pace(const char **value, struct ab_options *o)
{
    static const char wrong[] = "must be virtual, or a speed from 1x (real time) to 1000x";
    struct ab_number times;
    const size_t n = strlen(*value);
    o->conditions.pace = 0;
    if (strcmp(*value, "virtual") == 0)
        return NULL;
    if (n < 2 || (*value)[n - 1] != 'x' ||
        ab_units_parse(*value, n - 1, AB_UNIT_COUNT, &times) != NULL || times.whole == 0 ||
        times.whole > PACE_MOST)
        return wrong;
    o->conditions.pace = (uint32_t)times.whole;
    return NULL;
}

/* Reads I/N, where both are whole numbers. */
static const char *read_shard(const char **value, struct ab_options *o)
{
    struct ab_number index, count;
    const char *slash = strchr(*value, '/'), *bad = NULL;
    if (slash == NULL || slash == *value || slash[1] == 0)
        return "expected I/N, such as 1/4 for the first of four parts";
    if ((bad = ab_units_parse(*value, (size_t)(slash - *value), AB_UNIT_COUNT, &index)) != NULL ||
        (bad = ab_units_parse(slash + 1, strlen(slash + 1), AB_UNIT_COUNT, &count)) != NULL)
        return bad;
    if (count.whole == 0 || count.whole > AB_SHARDS_MAX)
        return "the second number, the number of shards, must be from 1 to 10000";
    if (index.whole == 0 || index.whole > count.whole)
        return "the first number must be from 1 to the second";
    o->rules.shard = (struct ab_run_shard){(uint32_t)index.whole, (uint32_t)count.whole};
    return NULL;
}

/* Reads A..B, A.. or ..B. `wrong` is the error text for other forms. */
static const char *read_span(const char *value, enum ab_unit_kind unit, const char *wrong,
                             struct ab_extent *out)
{
    struct ab_number first = {0}, end = {.whole = UINT64_MAX};
    const char *dots = strstr(value, ".."), *bad = NULL;
    if (dots == NULL || dots[dots == value ? 2 : 0] == 0)
        return wrong;
    if (dots > value)
        bad = ab_units_parse(value, (size_t)(dots - value), unit, &first);
    if (bad == NULL && dots[2] != 0)
        bad = ab_units_parse(dots + 2, strlen(dots + 2), unit, &end);
    if (bad == NULL && first.whole >= end.whole)
        bad = "the second number must be greater than the first, because A..B excludes B";
    *out = (struct ab_extent){first.whole, end.whole};
    return bad;
}

static const char *read_events(const char **value, struct ab_options *o)
{
    struct ab_extent span;
    const char *bad = read_span(*value, AB_UNIT_COUNT,
                                "expected a range of events such as 0..1000, 5k.. or ..2M", &span);
    o->filter.first_event = span.first;
    o->filter.end_event = span.end;
    return bad;
}

static const char *read_sizes(const char **value, struct ab_options *o)
{
    return read_span(*value, AB_UNIT_BYTES,
                     "expected a range of sizes such as 16..65, 4KiB.. or ..1MiB",
                     &o->filter.sizes);
}

static const char *read_times(const char **value, struct ab_options *o)
{
    return read_span(*value, AB_UNIT_TIME,
                     "expected a range of times such as 0..10ms, 2s.. or ..500ms",
                     &o->filter.times);
}

/* Reads a share with its '%', from `least` to `most`. */
static const char *read_share(const char *value, double least, double most, const char *example,
                              const char *range, double *out)
{
    struct ab_number x;
    size_t n = strlen(value);
    if (ab_units_parse(value, n, AB_UNIT_FRACTION, &x) != NULL || value[n - 1] != '%')
        return example;
    *out = x.value;
    return x.value < least || x.value > most ? range : NULL;
}

/* Reads --limit: the change in the time of a run that is tolerated. */
static const char *read_limit(const char **value, struct ab_options *o)
{
    return read_share(*value, DBL_MIN, 10, "expected a percentage such as 5%",
                      "must be above 0% and at most 1000%", &o->verdicts.limit);
}

/* Reads --precision: the allowed distance between a ratio and the bounds of its interval. */
static const char *read_precision(const char **value, struct ab_options *o)
{
    return read_share(*value, 0.001, 0.5, "expected a percentage such as 2%",
                      "must be from 0.1% to 50%", &o->rules.precision);
}

/* Reads "latency", "memory:3" or "tail:all" into the plan. The text has n characters, the first
 * `name` of which are the name of `pass`. */
static const char *read_pass(const char *s, size_t n, size_t name, enum ab_pass pass,
                             struct ab_pass_plan *plan)
{
    struct ab_number rounds;
    uint32_t *out = &plan->rounds[pass];
    *out = AB_PASS_AS_NEEDED;
    if (name == n)
        return NULL;
    *out = AB_EVERY_ROUND;
    if (n - name == 4 && strncmp(s + name, ":all", 4) == 0)
        return NULL;
    if (ab_units_parse(s + name + 1, n - name - 1, AB_UNIT_COUNT, &rounds) != NULL ||
        rounds.whole == 0 || rounds.whole > AB_ROUNDS_MAX)
        return "expected NAME, NAME:all or NAME:N with N from 1 to 1000";
    if (pass == AB_PASS_THROUGHPUT)
        return "the throughput pass always runs in every round";
    *out = (uint32_t)rounds.whole;
    return NULL;
}

/* Sets *out to the pass (throughput, latency, tail, memory …) that `word` names. Returns NULL, or
 * an error text that suggests the nearest name if there is one. */
static const char *find_pass(const char *word, enum ab_pass *out)
{
    static const enum ab_pass passes[] = {
#define ITEM(pass) pass,
        AB_ROUND_PASSES(ITEM)
#undef ITEM
    };
    static char why[200];
    const char *names[AB_ARRAY_LEN(passes)];
    for (size_t i = 0; i < AB_ARRAY_LEN(passes); i++) {
        names[i] = ab_pass_names[passes[i]];
        *out = passes[i];
        if (strcmp(names[i], word) == 0)
            return NULL;
    }
    const char *near = ab_text_nearest(word, names, AB_ARRAY_LEN(names));
    snprintf(why, sizeof why,
             "%s%s%sexpected one or more of throughput, latency, tail and memory, separated by "
             "commas",
             near != NULL ? "did you mean " : "", near != NULL ? near : "",
             near != NULL ? "? " : "");
    return why;
}

static const char *read_passes(const char **value, struct ab_options *o)
{
    static char word[32];
    struct ab_pass_plan plan = {.is_known = true};
    for (const char *s = *value;; s++) {
        size_t n = strcspn(s, ","), length = strcspn(s, ":,");
        enum ab_pass pass;
        snprintf(word, sizeof word, "%.*s", (int)length, s);
        const char *bad = find_pass(word, &pass);
        if (bad != NULL)
            *value = word;
        else
            bad = read_pass(s, n, length, pass, &plan);
        if (bad != NULL)
            return bad;
        s += n;
        if (*s == 0)
            break;
    }
    o->passes.plan = plan;
    return NULL;
}

/* ---- --sites [N]: depth of stacks for `record`, number of shown sites for `trace` ---- */

enum { SITE_DEPTH_DEFAULT = 8 };

const char *const ab_option_site_orders[] = {"calls",       "bytes",     "peak",
                                             "never-freed", "temporary", NULL};

static bool is_count(const char *word)
{
    return word[0] != 0 && word[strspn(word, "0123456789")] == 0;
}

/* Reads a number from 1 to `most`. Uses `otherwise` if `value` is NULL. */
static const char *read_count(const char *value, uint32_t most, uint32_t otherwise, uint32_t *out)
{
    static char range[48];
    struct ab_number n = {.whole = otherwise};
    snprintf(range, sizeof range, "must be from 1 to %u", most);
    const char *bad = value == NULL ? NULL
                                    : ab_units_parse(value, strlen(value), AB_UNIT_COUNT, &n);
    *out = (uint32_t)n.whole;
    return bad != NULL ? bad : n.whole == 0 || n.whole > most ? range : NULL;
}

static const char *read_site_depth(const char **value, struct ab_options *o)
{
    return read_count(*value, AB_SITE_DEPTH_MAX, SITE_DEPTH_DEFAULT, &o->recording.site_depth);
}

static const char *read_sites(const char **value, struct ab_options *o)
{
    return read_count(*value, AB_SITE_STACKS_MAX, AB_SITES_SHOWN_DEFAULT, &o->sites.n);
}

/* ---- -v [TOPIC,…]; phase=NAME takes the rest of the word ----
 *
 * The word after -v is its value only if all parts of the word are topics. So `run -v config.yaml`
 * takes the file as an argument. */

static const char phase_prefix[] = "phase=";
static bool is_phase(const char *word)
{
    return strncmp(word, phase_prefix, strlen(phase_prefix)) == 0 &&
           word[strlen(phase_prefix)] != 0;
}

/* Returns the bits of the topics that a word means; 0 = unknown word. */
static unsigned bits_of(const char *word, size_t n)
{
    for (unsigned i = 0; i <= AB_TOPIC_WORD_COUNT; i++)
        if (strlen(ab_topic_words[i]) == n && strncmp(ab_topic_words[i], word, n) == 0)
            return i < AB_TOPIC_WORD_COUNT ? 1u << i : ab_topic_words_up_to(AB_LEVEL_RARE);
    return 0;
}

/* Reads the topics of -v. phase=NAME must be last, because the name may contain commas. */
static const char *read_topics(const char **value, struct ab_options *o)
{
    size_t ignored;
    o->is_verbose = true;
    o->passes.topics |= *value == NULL ? ab_topic_words_up_to(AB_LEVEL_USUAL) : 0;
    for (const char *s = *value, *next; s != NULL; s = next) {
        size_t n = strcspn(s, ",");
        unsigned bit = bits_of(s, n);
        if (is_phase(s)) {
            o->outputs.phase = s + strlen(phase_prefix);
            o->passes.topics |= s == *value ? ab_topic_words_up_to(AB_LEVEL_RARE) : 0;
            return NULL;
        }
        if (bit == 0) {
            const char *bad = ab_option_word(*value = s, ab_topic_words, &ignored);
            return bad != NULL ? bad : "give the name of a phase";
        }
        o->passes.topics |= bit;
        next = s[n] != 0 ? s + n + 1 : NULL;
    }
    return NULL;
}

static bool are_topics(const char *word)
{
    struct ab_options ignored = {.passes.topics = 0};
    return read_topics(&word, &ignored) == NULL;
}

/* ---- the rows of the table ---- */

/* An option has several rows if its help differs between commands. */
static const struct ab_option_info table[] = {
    {"backend", "LIST",
     BACKENDS "(default: those of the workload, otherwise the installed libraries and suitable "
              "built-in allocators)",
     "What runs", 'b', RUN | CHECK, LIST_OF(backends.names, backends.n), BACKENDS_MORE},
    {"backend", "LIST",
     BACKENDS "(default: the installed libraries and suitable built-in "
              "allocators)",
     "What runs", 'b', REPLAY, LIST_OF(backends.names, backends.n), BACKENDS_MORE},
    {"backend", "LIST",
     "preloadable allocators (back ends) to measure, by name or path (default: all installed "
     "malloc libraries)",
     "What runs", 'b', EXEC, LIST_OF(backends.names, backends.n),
     .more = "jemalloc{A=1;B=2}: with environment variables;\n"
             "bg=jemalloc{A=1}, mine=./lib.so: under a short name"},
    {"sweep", "LIST",
     "also measure each of these allocators with its usual settings, one row per setting: glibc, "
     "jemalloc, tcmalloc, mimalloc, scudo, tbb, arena, pool, slab, paged (list backends -v shows "
     "the settings); without -b, only these rows are measured",
     "What runs", 0, RUN | REPLAY | CHECK, LIST_OF(sweeps, n_sweeps), RARE},
    {"sweep", "LIST",
     "also measure each of these allocators with its usual settings, one row per setting: glibc, "
     "jemalloc, tcmalloc, mimalloc, scudo, tbb (list backends -v shows the settings); without -b, "
     "only these rows are measured",
     "What runs", 0, EXEC, LIST_OF(sweeps, n_sweeps), RARE},
    {"aged", "LIST",
     "also measure each back end on an aged heap, in a row named NAME:litter=OCC. LIST has "
     "entries OCC or OCCxMULT, such as 0,0.25,0.75x2; 0 is a fresh heap. Before the work, blocks "
     "of the sizes of the work are allocated, MULT (default 1) times its peak of live bytes. They "
     "are then freed in random order, except for the share OCC (0.01 to 0.95) of the bytes. Same "
     "as --litter",
     "What runs", 0, RUN | REPLAY, LIST_OF(backends.aged_lists, backends.n_aged_lists), RARE,
     .alias = "litter"},
    {"aged", "LIST",
     "also measure each allocator on an aged heap, in a row named NAME:litter=OCC. LIST has "
     "entries OCC or OCCxMULT, such as 0,0.25,0.75x2; 0 is a fresh heap. Before main, blocks of "
     "the sizes of the program (from --trace, otherwise from a recording that is made first) are "
     "allocated, MULT (default 1) times its peak of live bytes. They are then freed in random "
     "order, except for the share OCC (0.01 to 0.95) of the bytes. Same as --litter",
     "What runs", 0, EXEC, LIST_OF(backends.aged_lists, backends.n_aged_lists), RARE,
     .alias = "litter"},
    {"map", "RULES",
     "also measure a row @map in which several back ends share the requests. RULES is "
     "KEY=BACKEND,... or @FILE with one rule per line; the first rule that matches a request "
     "decides. A KEY is a set of the workload, size:64, size:1-64, lane:0, several of these "
     "joined by &, or * for the rest (default: glibc). The rules replace the workload's `via`; "
     "repeatable",
     "What runs", 0, RUN, LIST_OF(maps.rules, maps.n), RARE},
    {"map", "RULES",
     "also measure a row @map in which several back ends share the requests. RULES is "
     "KEY=BACKEND,... or @FILE with one rule per line; the first rule that matches a request "
     "decides. A KEY is site:FUNCTION, site:FILE:LINE[:COLUMN], site:MODULE+0xADDRESS, scope "
     "(freed before its scope ends), size:64, size:1-64, lane:0, several of these joined by &, or "
     "* for the rest (default: glibc). 2*BACKEND stands for two heaps, which successive scopes "
     "use in turn; repeatable",
     "What runs", 0, REPLAY, LIST_OF(maps.rules, maps.n), RARE},
    {"at", "MOMENT",
     "also find out who pins the pages at this moment (-v pins shows it): a number of ops (1.5M) "
     "or a time of the work (30s); repeatable",
     "What runs", 0, RUN, LIST_OF(passes.moments, passes.n_moments), RARE},
    {"at", "MOMENT",
     "also find out who pins the pages at this moment (-v pins shows it): a number of ops (1.5M), "
     "a time of the work (30s), or a mark (NAME for the last of this name, NAME#N for the N-th); "
     "repeatable. The last marks of eight names are always included",
     "What runs", 0, REPLAY, LIST_OF(passes.moments, passes.n_moments), RARE},
    {"stdin", "FILE", "file for standard input of the command (default: empty)", "What runs", 0,
     EXEC, TEXT(program.stdin_path)},
    {"trace", "TRACE.abt",
     "recording of the command: also replay it, and compare its prediction with the time that "
     "calls take (--inside)",
     "What runs", 0, EXEC, TEXT(program.trace)},
    {"inside", NULL, "also measure the CPU time inside malloc and free", "What runs", 0, EXEC,
     FLAG(program.wants_inside)},
    {"sites", NULL, "with --inside: also show the calls and their time for each call site",
     "What runs", 0, EXEC, FLAG(program.wants_sites), .needs = {"inside", "trace"},
     .lack = "--sites requires --inside or --trace: it shows where the timed calls come from",
     RARE},
    {"server", NULL, "the command is a server; needs --ready and --load", "What runs", 0, EXEC,
     FLAG(server.is_server),
     .more = "exec starts the server, waits until it is ready, runs the\n"
             "load, lets the server rest, and asks it to end. The time is\n"
             "that of the load; CPU time and memory are those of the\n"
             "server alone."},
    {"own-malloc", NULL,
     "also measure the malloc that the program is linked to or contains, in a row named own-FILE",
     "What runs", 0, EXEC, FLAG(program.wants_own_malloc), RARE},
    {"ready", "HOW",
     "how to see that the server is ready: tcp:PORT, tcp:HOST:PORT or unix:PATH accepts a "
     "connection, or the shell command of cmd:COMMAND succeeds",
     "What runs", 0, EXEC, TEXT(server.ready), OF_SERVER},
    {"ready-timeout", "TIME", "how long the server may take to become ready (default: 30s)",
     "How long", 0, EXEC, TIME(server.ready_timeout_ns, 1000000, UINT64_MAX),
     .range = "must be at least 1ms", OF_SERVER},
    {"load", "CMD", "shell command that uses the server; it runs with the system's malloc",
     "What runs", 0, EXEC, TEXT(server.load), OF_SERVER},
    {"metric", "NAME=REGEX",
     "read a number from the output of the load: the first ( ) of an extended regular expression, "
     "as in 'p99_ms=p99: ([0-9.]+)'. Write NAME+=REGEX if a higher number is better; repeatable",
     "What runs", 0, EXEC, LIST_OF(server.metrics, server.n_metrics), OF_SERVER},
    {"rest", "TIME", "how long the server rests after the load (default: 10s)", "How long", 0, EXEC,
     TIME(server.rest_ns, 0, UINT64_C(3600000000000)), .range = "must be at most 1h", OF_SERVER},
    {"end-signal", "NAME", "signal that asks the server to end (default: TERM)", "What runs", 0,
     EXEC, WORD(server.end_signal, ab_end_signals), OF_SERVER},
    {"program", "NAME=COMMAND",
     "measure several builds of a program, in place of the command after --; the first is the "
     "base; repeatable",
     "What runs", 0, EXEC, LIST_OF(program.programs, program.n_programs),
     .more = "COMMAND is split into words as a shell does; no shell runs\n"
             "it. Rows are called NAME, with several allocators\n"
             "NAME@ALLOCATOR. Without -b all run under glibc."},
    {"prepare", "CMD", "shell command to run before each run; it is not timed", "What runs", 0,
     EXEC, LIST_OF(program.prepares, program.n_prepares)},
    {"backend-path", "DIR:DIR",
     "directories in which to look for libNAME.so or NAME.so, if a name is neither a built-in nor "
     "a known allocator",
     "What runs", 0, RUN | REPLAY | ADVISE | EXEC | CHECK | VERIFY, TEXT(backends.path), RARE},
    {"set", "NAME=VALUE",
     "override a param of the workload; with NAME=VALUE,VALUE… run measures each value",
     "What runs", 0, RUN | CHECK | VERIFY | CALIBRATE, LIST_OF(settings.sets, settings.n_sets)},
    {"allow-plugins", NULL,
     "allow the workload to name libraries by path, whose code is then run, and to set any environment "
     "variable for them, which may name files to write; not needed for back ends of -b",
     "What runs", 0, RUN | CHECK, FLAG(backends.allows_plugins), RARE},
    {"check", "LIST",
     "run only these checks, or a group of them (required, info); \"work\" only runs the workload "
     "or trace through the checker",
     "What runs", 0, VERIFY, TEXT(checks.only)},
    {"no-fork", NULL,
     "for use in a debugger: run the check of --check NAME on the one back end in this process, "
     "without limits of time and memory; a failure calls abort",
     "What runs", 0, VERIFY, FLAG(checks.is_alone), RARE},
    {"touch", "HOW",
     "bytes of a new block to write: none, first(N), ends, page, line, all, apart, N% or recorded "
     "(default: auto)",
     "What runs", 0, REPLAY, SPECIAL(read_touch), GIVEN(replay.has_touch), .words = touches,
     .more = "page: one byte of each page; line: one byte of each cache line;\n"
             "apart: like page, but the writes are not timed;\n"
             "5%: like page, in the first 5 % of the block, at least one page;\n"
             "recorded: like page, but only as many pages of a block of 64 KiB or more\n"
             "as the program wrote; recorded,apart: both;\n"
             "auto: recorded if the trace has that, otherwise page; zeroed blocks of\n"
             "64 KiB or more are then not written"},
    {"each", "WHAT",
     "scope: also measure the time of the allocator's calls in each scope of the trace (a frame, "
     "a request), as its marks or the lifetimes of its blocks show; back ends with save points "
     "reset at the end of a scope (default: off)",
     "What runs", 0, REPLAY, WORD(replay.has_each_scope, eaches),
     .range = "must be the word scope, not the name of a mark", RARE},
    {"scope", "WHICH",
     "for traces without marks, if the scopes found contain smaller ones: use the nested "
     "(smallest) or the outer scopes, or best, those by whose end most of their blocks are freed "
     "(default: best)",
     "What runs", 0, ADVISE | REPLAY, WORD(scopes_wish, scope_wishes),
     .range = "must be best, nested or outer", RARE},
    {"budget", "TIME",
     "with --each: count the scopes in which the allocator's calls took more than this time, 1ns "
     "to 60s",
     "What runs", 0, REPLAY, BUDGET(replay.each_budget_ns), RARE},
    {"threads", "N",
     "number of worker threads (\"lanes\"), 1 to 256 (default: recorded, as many as ran at the "
     "same time)",
     "What runs", 0, REPLAY, COUNT(replay.n_lanes, 1, AB_LANES_MAX), .zero = "recorded",
     .range = "must be from 1 to 256, or 'recorded'",
     .more = "With 1, all calls run in the recorded order."},
    {"burst", "N",
     "replay in bursts of N calls, 256 to 2^30; each burst is loaded while nothing is measured; 0 "
     "loads the whole trace (default: see --tape-mem)",
     "What runs", 0, REPLAY | ADVISE, COUNT(replay.burst_events, AB_BURST_LEAST, AB_BURST_MAX),
     .zero = "0", GIVEN(replay.has_burst), .range = "must be 0, or from 256 to 2^30", RARE},
    {"tape-mem", "SIZE|N%",
     "memory for the prepared work, about 8 bytes per call; longer work runs in bursts of this "
     "size, from a file in $TMPDIR or /var/tmp (default: 25% of available memory)",
     "What runs", 0, RUN | CHECK | REPLAY | ADVISE, SPECIAL(read_tape_mem), RARE},
    {"rounds", "N",
     "number of rounds; each runs every back end, in random order; below 6 there are no "
     "confidence intervals (default: 6 to 10, until the intervals are within 2 %)",
     "How long", 0, RUN | REPLAY | CHECK | ADVISE, COUNT(rules.rounds, 1, AB_ROUNDS_MAX),
     .range = "must be from 1 to 1000", GIVEN(rules.has_rounds), .alias = "reps"},
    {"rounds", "N", "number of rounds to measure (default: 20)", "How long", 0, CALIBRATE,
     COUNT(rules.rounds, 2, AB_ROUNDS_MAX), .range = "must be from 2 to 1000",
     GIVEN(rules.has_rounds)},
    {"instr", NULL,
     "also run the program once under callgrind with each allocator, to count instructions and "
     "cache misses inside and outside of malloc (needs the package valgrind; slow)",
     "What runs", 0, EXEC, FLAG(passes.wants_instr), RARE},
    {"instr", NULL,
     "also count the instructions and system calls of each back end, in one separate run each: by "
     "the processor's counter, or under callgrind (package valgrind) for the first ops "
     "(--instr-ops)",
     "Measurement", 0, RUN | REPLAY, FLAG(passes.wants_instr), RARE},
    {"instr-ops", "N",
     "number of ops of the work to run under callgrind, at least 1000 (default: "
     "500k)",
     "Measurement", 0, RUN | REPLAY, COUNT(passes.instr_ops, 1000, UINT32_MAX),
     .range = "must be at least 1000", RARE},
    {"processes", "N",
     "measure the throughput of each back end in N processes per round (default: 3 to 10, more "
     "for shorter work)",
     "How long", 0, RUN | REPLAY | CHECK | ADVISE, COUNT(passes.processes, 1, 100),
     .range = "must be from 1 to 100", RARE},
    {"passes", "LIST",
     "which passes to run besides throughput, which always runs: latency, tail, memory. NAME:N "
     "runs a pass in the first N rounds, NAME:all in every round (default: all three; tail and "
     "memory in 6 rounds, or in every round if a gate needs them)",
     "How long", 0, RUN | REPLAY | CHECK, SPECIAL(read_passes), GIVEN(passes.is_given), RARE},
    {"time-budget", "TIME",
     "run as many rounds as fit into this time: at least 6, at most --rounds (then 100 by default)",
     "How long", 0, RUN | REPLAY | EXEC,
     TIME(rules.time_budget_ns, TIME_BUDGET_LEAST_NS, UINT64_MAX), .range = "must be at least 1s",
     .more = "Several files share this time."},
    {"precision", "N%",
     "stop when the interval of every ratio of whole runs is within N% of the ratio: after 6 "
     "rounds at the earliest, after --rounds at the latest (then 100 by default)",
     "How long", 0, RUN | REPLAY | EXEC, SPECIAL(read_precision), RARE},
    {"base", "NAME",
     "back end to compare the others with, by its name in the tables (default: glibc if it is "
     "measured, otherwise the first)",
     "Measurement", 0, RUN | REPLAY | EXEC | REPORT, TEXT(verdicts.base),
     RARE_IN(RUN | REPLAY | EXEC)},
    {"rounds", "N",
     "number of rounds; each runs every back end, in random order (default: 10; below 6 there are "
     "no intervals)",
     "How long", 0, EXEC, COUNT(rules.rounds, 1, AB_ROUNDS_MAX), .range = "must be from 1 to 1000",
     GIVEN(rules.has_rounds), .alias = "reps"},
    {"no-check-output", NULL, "do not compare the program's standard output between back ends",
     "What runs", 0, EXEC, FLAG(program.is_output_free), RARE},
    {"seed", "N", "seed of the random order of the back ends in each round", "Measurement", 0, EXEC,
     COUNT(settings.seed, 0, UINT64_MAX), GIVEN(settings.has_seed), RARE},
    {"timeout", "TIME", "time limit of each run, at least 10ms (default: none)", "How long", 0,
     EXEC, TIMEOUT},
    {"resume", "RESULT.json",
     "resume an interrupted run: measure only the missing rounds; options that are not given are "
     "taken from the result. For a run of several files, repeat its command line and add --resume "
     "with its result",
     "How long", 0, RUN | REPLAY, TEXT(resume.path), RARE},
    {"shard", "I/N",
     "run the I-th of N parts (1/4, 2/4 …), each on any machine; merge joins them and judges the "
     "gates. A part has the whole rounds I, I + N, …; if there are more parts than rounds, the "
     "back ends of a round are divided among parts, and only back ends of the same part get "
     "ratios (see docs/cluster.md)",
     "Measurement", 0, RUN | REPLAY, SPECIAL(read_shard), RARE},
    {"seed", "N", "seed of all random choices: sizes, positions, samples, order of back ends",
     "Measurement", 0, RUN | REPLAY | CHECK | VERIFY | ADVISE, COUNT(settings.seed, 0, UINT64_MAX),
     GIVEN(settings.has_seed), RARE_IN(~(unsigned)VERIFY)},
    {"cpus", "LIST",
     "pin the worker threads to these CPUs in turn, such as 1 or 0,2-3 (default: not pinned)",
     "Measurement", 0, RUN | REPLAY | CALIBRATE | ADVISE, SPECIAL(read_cpus),
     RARE_IN(REPLAY | ADVISE)},
    {"order", "HOW",
     "order of the calls of several threads: free (in parallel, within --window) or strict (one "
     "at a time in the exact order, for memory and debugging; no latencies)",
     "Measurement", 0, RUN | REPLAY, WORD(conditions.is_strict, ab_order_names), RARE},
    {"window", "N",
     "number of ops that a thread may run ahead of the order of the ops in the work, at most 1048576; 0 "
     "means no limit (default: the most with which the live bytes stay within 10 % of their peak)",
     "Measurement", 0, RUN | REPLAY | CHECK, COUNT(conditions.window, 0, WINDOW_MOST),
     GIVEN(conditions.has_window), .range = "must be at most 1048576 (2^20); 0 means no limit",
     RARE},
    {"thp", "HOW",
     "transparent huge pages of the measured process: default (the system's\n"
     "setting) or never",
     "Measurement", 0, RUN | REPLAY | CALIBRATE, WORD(conditions.is_thp_off, thps), RARE},
    {"mem-limit", "SIZE",
     "memory limit: stop a back end that uses more, and do not start one that would need more "
     "(default: 70 % of available memory)",
     "Measurement", 0, RUN | REPLAY | VERIFY | ADVISE,
     BYTES(conditions.mem_limit_bytes, 1, UINT64_MAX), RARE},
    {"timeout", "TIME",
     "time limit of each run, and of reading and preparing the workload or trace, at least 10ms "
     "(default: estimated from the work; no limit for reading)",
     "How long", 0, RUN | REPLAY, TIMEOUT, RARE},
    {"timeout", "TIME", "time limit of each check, at least 10ms (default: 5 or 10 s)", "How long",
     0, VERIFY, TIMEOUT},
    {"allow-broken", NULL, "also measure back ends that fail their checks; they are not compared",
     "Measurement", 0, RUN | REPLAY, FLAG(backends.allows_broken), RARE},
    {"drain", "TIME",
     "after the memory pass has freed everything, wait this long for memory to be returned to the "
     "system, at most 10s (default: 0.1s)",
     "How long", 0, RUN | REPLAY, TIME(conditions.drain_ns, 0, DRAIN_MOST_NS),
     .range = "must be at most 10s", RARE},
    {"pace", "HOW",
     "speed of time in the memory pass, for work with times: virtual (the allocator's clock is "
     "set to the times of the work, so that an hour takes seconds), 1x (real time), or up to "
     "1000x (default: virtual)",
     "Measurement", 0, RUN | REPLAY, SPECIAL(read_pace), RARE},
    {"between", "N",
     "before each op that the latency pass times, run other code, as a program does between "
     "calls: N small functions (0 to 10000), and a read of the block that is freed or resized "
     "next (default: neither)",
     "Measurement", 0, REPLAY, COUNT(conditions.between, 0, AB_BETWEEN_MOST),
     .range = "must be at most 10000", GIVEN(conditions.has_between), RARE},
    {"gate", "TEXT",
     "limit on a measured value; the run fails (exit 1) if it is exceeded: 'PHASE/alloc/p99 < "
     "2us', 'PHASE/memory/rss_peak < 1.5x live', 'arena:PHASE/all/ns_per_op < 0.5x glibc'; "
     "repeatable",
     "Gates and CI", 0, RUN, LIST_OF(verdicts.gates, verdicts.n_gates),
     .more = "For several workloads: 'mean/all/ns_per_op < 1.05x base'.\n"
             "A gate that cannot be evaluated fails too (configs/README.md)."},
    {"gate", "TEXT", "also check this gate, as run would; repeatable", "Gates and CI", 0, CHECK,
     LIST_OF(verdicts.gates, verdicts.n_gates)},
    {"gate", "TEXT",
     "limit on a value of the merged result, in addition to the gates of its workload; merge "
     "fails (exit 1) if it is exceeded; repeatable (see configs/README.md)",
     "Gates and CI", 0, MERGE, LIST_OF(verdicts.gates, verdicts.n_gates)},
    {"gate", "TEXT",
     "limit on a measured value; the replay fails (exit 1) if it is exceeded: 'replay/alloc/p99 < "
     "2us', 'replay/memory/rss_peak < 1.5x live', 'arena:replay/all/ns_per_op < 0.5x glibc'; "
     "repeatable",
     "Gates and CI", 0, REPLAY, LIST_OF(verdicts.gates, verdicts.n_gates),
     .more = "A gate that cannot be evaluated fails too (configs/README.md)."},
    {"gate", "TEXT",
     "limit on a change, such as 'PHASE/alloc/p99 < +10% floor 2ns' or '*/all/ops_per_s > -5%', "
     "or any other gate on the new result; repeatable (see configs/README.md)",
     "Gates and CI", 0, COMPARE, LIST_OF(verdicts.gates, verdicts.n_gates)},
    {"baseline", "NAME|FILE",
     "compare with this baseline or stored result and fail (exit 1) if the run\n"
     "is slower by more than --limit",
     "Gates and CI", 0, RUN | REPLAY | EXEC, TEXT(verdicts.baseline), RARE_IN(EXEC),
     .more = "A failure is first confirmed by more rounds. allocbench baseline save\n"
             "makes a baseline."},
    {"limit", "N%",
     "how much longer the whole run may take than that of the --base, or than in the --baseline "
     "(then 5% by default); if a back end takes longer, and more rounds confirm that, the command "
     "fails (exit 1)",
     "Gates and CI", 0, RUN | REPLAY, SPECIAL(read_limit), GIVEN(verdicts.has_limit), RARE},
    {"limit", "N%", "how much longer the whole run may take than in the base (default: 5%)",
     "Gates and CI", 0, COMPARE, SPECIAL(read_limit), GIVEN(verdicts.has_limit)},
    {"limit", "N%",
     "fail (exit 1) if the wall time is N% above that of the base, or of the --baseline (then 5% "
     "by default)",
     "Gates and CI", 0, EXEC, SPECIAL(read_limit), GIVEN(verdicts.has_limit),
     .more = "A failure is first confirmed by more rounds."},
    {"strict", NULL,
     "fail (exit 1) if base and new were measured on different machines or systems; without this "
     "option verdicts are only advisory then",
     "Gates and CI", 0, RUN | REPLAY | COMPARE | EXEC, FLAG(verdicts.is_strict), RARE,
     .needs = {"baseline"}, .lack = "--strict requires --baseline NAME|FILE"},
    {"jointly", NULL,
     "correct for the number of comparisons (Holm): the chance that any number at all is wrongly "
     "called worse is then that of a single one; small changes need more rounds",
     "Gates and CI", 0, RUN | REPLAY | COMPARE | EXEC, FLAG(verdicts.is_joint), RARE,
     .needs = {"baseline", "limit"}, .lack = "--jointly requires --limit or --baseline NAME|FILE"},
    {"inconclusive", "HOW",
     "what to do if there are too few rounds for a verdict: report (default) or fail (exit 5)",
     "Gates and CI", 0, RUN | REPLAY | COMPARE | EXEC,
     WORD(verdicts.fails_inconclusive, inconclusives), RARE},
    {"gate", "TEXT",
     "limit on a value; the command fails (exit 1) beyond it: 'jemalloc:program/all/wall_ns < "
     "1.05x glibc' or 'program/all/resident_peak_bytes < 200MiB'; repeatable",
     "Gates and CI", 0, EXEC, LIST_OF(verdicts.gates, verdicts.n_gates)},
    {"backend", "NAME",
     "general malloc to compare with, which also serves the calls that get no heap (default: "
     "glibc); any further ones are measured with all calls (default: the installed libraries)",
     "What runs", 'b', ADVISE, LIST_OF(backends.names, backends.n)},
    {"sweep", "LIST",
     "also measure each of these allocators, with its usual settings, with all calls: glibc, "
     "jemalloc, tcmalloc, mimalloc, scudo, tbb (list backends -v shows the settings)",
     "What runs", 0, ADVISE, LIST_OF(sweeps, n_sweeps), RARE},
    {"limit", "N%",
     "advise to keep malloc unless the heaps together take less memory, or are faster by clearly "
     "more than this (default: 5%)",
     "What runs", 0, ADVISE, SPECIAL(read_limit), RARE},
    {"budget", "TIME",
     "time that a scope (a frame, a request) may take, 1ns to 60s, such as 16.67ms: show what "
     "share of it allocation takes, on average and in the worst scope. Scopes that are not marked "
     "need --scope as well",
     "Output", 0, ADVISE, BUDGET(budget_ns)},
    {"output", "FILE", "write the advice as rules for replay --map @FILE", "Output", 'o', ADVISE,
     TEXT(output)},
    {"code", "FILE",
     "write C code for the advised heaps, with std::pmr resources for C++; - is standard output",
     "Output", 0, ADVISE, TEXT(code)},
    {"json", "FILE", "write the advice as JSON; - is standard output", "Output", 0, ADVISE,
     TEXT(json)},
    {"quiet", NULL, "print only errors; files are still written", "Output", 'q', ADVISE,
     FLAG(talk.is_quiet)},
    {"events", "A..B", "dump, cut: events A to B - 1; filter: blocks allocated by these events",
     "What is read", 0, TRACE, SPECIAL(read_events), GIVEN(filter.has_events)},
    {"thread", "LIST", "filter: blocks allocated by these threads, such as 0,2-5", "What is read",
     0, TRACE, SPECIAL(read_threads)},
    {"site", "PATTERN",
     "filter: blocks allocated from this call site: FUNCTION (a pattern such as 'parse_*'), "
     "FILE:LINE, FILE:LINE:COLUMN or MODULE+0xADDRESS, in any frame of the stack; repeatable",
     "What is read", 0, TRACE, LIST_OF(filter.sites, filter.n_sites)},
    {"size", "A..B", "filter: blocks of A to B - 1 bytes", "What is read", 0, TRACE,
     SPECIAL(read_sizes), GIVEN(filter.has_sizes)},
    {"time", "A..B", "filter: blocks allocated in this span of time, such as 0..16ms",
     "What is read", 0, TRACE, SPECIAL(read_times), GIVEN(filter.has_times)},
    {"serial", NULL, "merge: put the traces one after the other, not side by side", "What is read",
     0, TRACE, FLAG(is_serial)},
    {"functions", NULL, "share: keep the call sites, but only as names of functions",
     "What is read", 0, TRACE, FLAG(keeps_functions)},
    {"scopes", NULL,
     "info: show the scopes of the program (frames, requests), from its marks or from the "
     "lifetimes of its blocks; reads the file up to four more times",
     "What is read", 0, TRACE, FLAG(wants_scopes)},
    {"scope", "WHICH",
     "info --scopes: if the scopes found contain smaller ones, use the nested (smallest) or the "
     "outer scopes, or best, those by whose end most of their blocks are freed (default: best)",
     "What is read", 0, TRACE, WORD(scopes_wish, scope_wishes),
     .range = "must be best, nested or outer", RARE},
    {"folded", "FILE",
     "info --sites: also write the stacks as lines that tools for flame graphs read, such as "
     "main;parse;strdup 120",
     "Output", 0, TRACE, TEXT(sites.folded)},
    {"flame", "FILE.svg", "info --sites: also draw a flame graph of the stacks", "Output", 0, TRACE,
     TEXT(sites.flame)},
    {"html", "FILE",
     "info: also write an HTML page with pictures of live memory, call sites, flame graphs and "
     "scopes; one file that needs no network. Reads the trace up to four more times",
     "Output", 0, TRACE, TEXT(outputs.sinks[AB_SINK_HTML])},
    {"flame-by", "KEY",
     "--flame, --folded: width of the boxes by calls (default), bytes, or live "
     "bytes at the peak",
     "Output", 0, TRACE, WORD(sites.flame_by, flame_keys), GIVEN(sites.has_flame_by)},
    {"live", "HOW",
     "cut: begin with allocations of the blocks that are live at A (keep, the default), or leave "
     "out these blocks and all calls on them (drop)",
     "What is read", 0, TRACE, WORD(filter.is_dropping_live, lives)},
    {"partial", NULL, "merge an incomplete set of parts; the result is marked as incomplete",
     "What is merged", 0, MERGE, FLAG(is_partial)},
    {"partial", NULL,
     "accept a file whose end is missing, and read it up to its last complete chunk or line",
     "What is read", 0, TRACE, FLAG(is_partial)},
    {"partial", NULL,
     "accept a trace whose end is missing, and read it up to its last complete "
     "chunk",
     "What is read", 0, REPLAY | ADVISE, FLAG(replay.is_partial), RARE},
    {"digest", NULL, "info: print the digest of the events", "What is read", 0, TRACE,
     FLAG(wants_digest)},
    {"sites", "[N]",
     "info: show the N top call sites (default 20) of a trace made with record "
     "--sites",
     "What is read", 0, TRACE, SPECIAL(read_sites), GIVEN(sites.is_wanted), .is_value = is_count},
    {"sort", "KEY", "info --sites: order by calls (default), bytes, peak, never-freed or temporary",
     "What is read", 0, TRACE, WORD(sites.order, ab_option_site_orders), GIVEN(sites.has_order)},
    {"follow", NULL, "also record child processes, one trace each: app.PID.abt", "What is recorded",
     0, RECORD, FLAG(recording.is_following)},
    {"wait", NULL,
     "like --follow, and wait for processes that outlive the command, such as\n"
     "daemons; SIGINT or SIGTERM ends the wait, not the processes",
     "What is recorded", 0, RECORD, FLAG(recording.is_waiting)},
    {"max-events", "N",
     "stop recording after this many events of all threads (up to 1024 more\n"
     "per thread may be recorded); the command continues",
     "What is recorded", 0, RECORD, COUNT(recording.most_events, 1, UINT64_MAX), RARE},
    {"max-spool", "SIZE",
     "stop recording before the raw recording (the spool) is larger than this, at least 1 MiB "
     "(default: half of the free space on its disk; see traces/README.md); the command continues",
     "What is recorded", 0, RECORD, BYTES(recording.most_spool_bytes, 1 << 20, UINT64_MAX),
     .range = "must be at least 1MiB", RARE},
    {"duration", "TIME",
     "stop recording after this time and write the traces; the command continues, and record "
     "waits for its end, unless --stop is given",
     "What is recorded", 0, RECORD, TIME(recording.duration_ns, 1, UINT64_MAX)},
    {"stop", NULL,
     "with --duration: when the time is over, end the processes with SIGTERM, and after 5 s with "
     "SIGKILL; the exit code is 0 if the trace is complete",
     "What is recorded", 0, RECORD, FLAG(recording.stops_command)},
    {"sites", "[DEPTH]",
     "also record the call site of each allocation: its caller and the callers of that, DEPTH "
     "frames in all (1 to 64, default 8). Functions and lines are found afterwards, from the "
     "debug information (-g)",
     "What is recorded", 0, RECORD, SPECIAL(read_site_depth), .is_value = is_count},
    {"marks", NULL,
     "also mark each presented frame: each call of SDL_GL_SwapWindow, SDL_RenderPresent, "
     "glfwSwapBuffers, glXSwapBuffers or eglSwapBuffers by a program or library that is linked "
     "with them. Marks that the program sets (allocbench/mark.h) are always recorded",
     "What is recorded", 0, RECORD, FLAG(recording.marks_frames)},
    {"time", NULL,
     "also record the time of each call in microseconds, at the cost of reading the clock in each "
     "call",
     "What is recorded", 0, RECORD, FLAG(recording.has_call_times)},
    {"output", "FILE", "file for the trace, or a folder for it (default: COMMAND.abt)", "Output",
     'o', RECORD, TEXT(output)},
    {"no-convert", NULL,
     "keep the raw recording (the spool) in the new folder given by -o\n"
     "(default: COMMAND.spool); allocbench trace recover converts it later",
     "Output", 0, RECORD, FLAG(recording.is_unconverted), RARE},
    {"progress", NULL,
     "show progress on the terminal even if the command writes there too\n"
     "(default: only when the command's output goes elsewhere)",
     "Output", 0, RECORD, FLAG(recording.shows_progress), RARE},
    {"output", "FILE", "file for the trace or text; recover also takes a folder", "Output", 'o',
     TRACE, TEXT(output)},
    {"output", "FILE",
     "file for the result, or a folder (DIR/), in which allocbench chooses the "
     "name",
     "Output", 'o', MERGE, TEXT(output)},
    {"results", "DIR",
     "store the result in this folder (default: $ALLOCBENCH_RESULTS, otherwise results/)", "Output",
     0, RUN | REPLAY | MERGE | EXEC, TEXT(store.folder), RARE_IN(RUN | REPLAY | EXEC)},
    {"results", "DIR",
     "keep baselines in DIR/baselines (default: $ALLOCBENCH_RESULTS, otherwise results/)", "Output",
     0, BASELINE, TEXT(store.folder)},
    {"results", "DIR",
     "store the calibration in this folder (default: $ALLOCBENCH_RESULTS, otherwise results/)",
     "Output", 0, CALIBRATE, TEXT(store.folder)},
    {"no-command-line", NULL,
     "keep the command line out of the result, and with exec also the values of --load, --ready, "
     "--prepare and --stdin, because arguments may be secret",
     "Output", 0, RUN | REPLAY | EXEC, FLAG(command.is_hidden), RARE},
    {"no-store", NULL,
     "do not store the result; files of --json, --csv and similar options are "
     "still written",
     "Output", 0, RUN | REPLAY | EXEC, FLAG(store.is_off), RARE},
#define AB_SINK(id, name, arg, help, write, write_suite, help_of) \
    OUTPUT(name, arg, help, RUN | REPLAY | REPORT, TEXT(outputs.sinks[AB_SINK_##id]), \
           RARE_IN(HIDES_##help_of)),
#define AB_SINK_OF_HISTOGRAMS(id, name, arg, help, write) \
    AB_SINK(id, name, arg, help, write, EACH, RARE)
#define AB_SINK_OF_FIGURES AB_SINK_OF_HISTOGRAMS
#define AB_SINK_OF_LINES(id, name, help, write, suite) \
    OUTPUT(name, NULL, help, RESULTS, FLAG(outputs.wants_lines[AB_SINK_##id]), RARE),
#define AB_SINK_OF_VERDICTS(id, name, arg, help, write, write_suite, help_of) \
    OUTPUT(name, arg, help, RESULTS, TEXT(outputs.sinks[AB_SINK_##id]), RARE_IN(HIDES_##help_of), \
           .alias = AB_SINK_##id == AB_SINK_MARKDOWN ? "md" : NULL),
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_HISTOGRAMS
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_LINES
    JSON("info: write the summary", TRACE),
    JSON("write the list", LIST),
    JSON("write the verdicts", VERIFY),
    JSON("write the findings", DOCTOR),
    JSON("write the explanation", EXPLAIN),
    JSON("write the plan, the notes and the cost", CHECK),
    {"embed", "HOW",
     "how much of the result --html embeds in the page, for report and compare to read: merged "
     "(default; one histogram for all rounds), full or none",
     "Output", 0, RESULTS, WORD(outputs.embed, embeds), RARE},
    JSON("write the comparison", COMPARE),
    {"json", "FILE", "write the result as JSON; - is standard output", "Output", 0, EXEC,
     TEXT(outputs.sinks[AB_SINK_JSON])},
    {"csv", "FILE", "write the result as CSV; - is standard output", "Output", 0, EXEC,
     TEXT(outputs.sinks[AB_SINK_CSV])},
    {"color", "WHEN", "use colors: auto, always or never (default: auto; honors NO_COLOR)",
     "Output", 0, RUN | REPLAY | EXEC | REPORT | MERGE | VERIFY | COMPARE | BASELINE | DOCTOR,
     WORD(color, whens), RARE},
    {"ascii", NULL, "print ASCII characters only", "Output", 0,
     RUN | REPLAY | EXEC | REPORT | MERGE | TRACE | VERIFY | COMPARE | BASELINE | DOCTOR,
     FLAG(is_ascii), RARE},
    {"quiet", NULL, "print only errors and failures; files are still written", "Output", 'q',
     RUN | REPLAY | EXEC | MERGE | VERIFY | COMPARE | REPORT, FLAG(talk.is_quiet)},
    {"quiet", NULL, "print only errors; the calibration is still stored", "Output", 'q', CALIBRATE,
     FLAG(talk.is_quiet)},
    {"quiet", NULL, "print only errors", "Output", 'q', RECORD, FLAG(talk.is_quiet)},
    {"quiet", NULL, "print no progress and no summary on standard error", "Output", 'q', TRACE,
     FLAG(talk.is_quiet)},
    {"verbose", "[TOPIC,TOPIC]",
     "also print time, size, worst, memory, percentiles, pins (who pins the pages) or all; "
     "phase=NAME prints all of one phase (default: time,worst,memory)",
     "Output", 'v', RUN | REPLAY | REPORT | BASELINE, SPECIAL(read_topics), .is_value = are_topics,
     .words = ab_topic_words},
    {"verbose", NULL, "also print percentiles that do not differ clearly", "Output", 'v', COMPARE,
     FLAG(is_verbose)},
    {"verbose", NULL, "print details of each", "Output", 'v', LIST, FLAG(is_verbose)},
    {"verbose", NULL, "describe each check", "Output", 'v', VERIFY, FLAG(is_verbose)},
    {"verbose", NULL, "info: also print sizes, lifetimes, threads and live memory over time",
     "Output", 'v', TRACE, FLAG(is_verbose)},
    {"verbose", NULL, "print all metrics", "Output", 'v', CALIBRATE, FLAG(is_verbose)},
    {"verbose", NULL, "print why each check matters", "Output", 'v', DOCTOR, FLAG(is_verbose)},
    {"strict", NULL, "exit with 1 if there is a warning", "Output", 0, DOCTOR,
     FLAG(is_strict_doctor)},
    {"help", NULL, "print the usual options", "Output", 'h', ~0u, FLAG(wants_help)},
    {"help-all", NULL, "print all options", "Output", 0, ~0u, FLAG(wants_help_all)},
};

const struct ab_option_info *ab_options_info(size_t i)
{
    return i < AB_ARRAY_LEN(table) ? &table[i] : NULL;
}

const struct ab_option_info *ab_options_find(enum ab_command_id command, const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
        if (ab_options_has(&table[i], command) && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool ab_options_has(const struct ab_option_info *info, enum ab_command_id command)
{
    return (info->commands >> command & 1) != 0;
}

bool ab_options_is_rare(const struct ab_option_info *info, enum ab_command_id command)
{
    return (info->rare >> command & 1) != 0;
}
