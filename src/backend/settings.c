/* SPDX-License-Identifier: MIT
 *
 * Splits one entry of -b in place, and checks the form of its parts: given name, name or path,
 * parameters, environment variables. Whether a parameter exists is checked with the table of the
 * built-in allocator, or by the worker.
 */
#include "backend/settings.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "base/param_read.h"
#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *ab_settings_comma(char *text)
{
    int depth = 0;
    for (char *p = text; *p != 0; p++) {
        if (*p == '\\' && depth == 0 && p[1] != 0) {
            p++;
            continue;
        }
        depth += *p == '{';
        depth -= *p == '}' && depth > 0;
        if (*p == ',' && depth == 0)
            return p;
    }
    return NULL;
}

/* Returns the first character `wanted` that has no backslash before it; NULL = none. */
static char *find_plain(char *text, char wanted)
{
    for (; *text != 0 && *text != wanted; text++)
        text += *text == '\\' && text[1] != 0;
    return *text != 0 ? text : NULL;
}

/* Removes the backslashes from the text, and keeps the characters after them. */
static void take_literally(char *text)
{
    char *to = text;
    for (; *text != 0; text++) {
        text += *text == '\\' && text[1] != 0;
        *to++ = *text;
    }
    *to = 0;
}

/* Returns the ':' that begins the parameters; NULL = none. In a path, only the part after the last
 * '/' is searched. */
static char *find_colon(char *text)
{
    char *slash = strrchr(text, '/'), *equals = find_plain(text, '=');
    if (slash != NULL && equals != NULL && slash > equals)
        /* a '/' in the value of a parameter does not count */
        slash = memrchr(text, '/', (size_t)(equals - text));
    return find_plain(slash != NULL ? slash : text, ':');
}

/* Splits "OWN=" off and returns the rest. OWN ends at the first '='. There is no OWN if a path,
 * parameters or variables begin before that '='. */
static char *split_own(char *text, struct ab_spelling *out)
{
    char *end = text + strcspn(text, "=/:{\\");
    if (*end != '=')
        return text;
    *end = 0;
    out->own = text;
    return end + 1;
}

enum ab_status ab_settings_split(char *text, struct ab_spelling *out, struct ab_err *err)
{
    static char nothing[] = "";
    *out = (struct ab_spelling){nothing, nothing, nothing, nothing};
    text = out->name = split_own(text, out);
    char *brace = find_plain(text, '{'), *colon;
    size_t n = strlen(text);
    if (brace != NULL && text[n - 1] != '}')
        return ab_fail(err, AB_USAGE, "\"%s\": a '{' must be closed by '}' at the end",
                       AB_SHOWN(256, text));
    if (brace != NULL) {
        text[n - 1] = 0;
        *brace = 0;
        out->env = brace + 1;
        if (*out->env == 0)
            return ab_fail(err, AB_USAGE, "nothing between the braces of \"%s{}\"",
                           AB_SHOWN(256, text));
    }
    if ((colon = find_colon(text)) != NULL) {
        if (colon[1] == 0)
            return ab_fail(err, AB_USAGE, "nothing after ':' in \"%s\"", AB_SHOWN(256, text));
        *colon = 0;
        out->params = colon + 1;
    }
    take_literally(text);
    return AB_OK;
}

/* True if the n bytes of the text are a variable name as in a shell. */
static bool is_variable(const char *text, size_t n)
{
    size_t i = 0;
    if (n == 0 || isdigit((unsigned char)text[0]))
        return false;
    while (i < n && (isalnum((unsigned char)text[i]) || text[i] == '_'))
        i++;
    return i == n;
}

static enum ab_status add_variable(const char *text, size_t n, struct ab_selection *s,
                                   struct ab_err *err)
{
    char setting[256];
    AB_FIT(setting, "%.*s", (int)n, text);
    size_t name = strcspn(setting, "=");
    if (n >= sizeof s->env[0])
        return ab_fail(err, AB_USAGE, "%s: a setting in braces has at most %zu characters", s->name,
                       sizeof s->env[0] - 1);
    if (setting[name] != '=' || !is_variable(setting, name))
        return ab_fail(err, AB_USAGE, "\"%s\" in braces is not VARIABLE=VALUE",
                       AB_SHOWN(256, setting));
    if (strncmp(setting, "LD_", 3) == 0 && name >= 3)
        return ab_fail(err, AB_USAGE,
                       "%.*s cannot be set for a back end: it would change which "
                       "libraries are loaded",
                       (int)name, setting);
    if (s->n_env == AB_SELECTION_ENV_MAX)
        return ab_fail(err, AB_USAGE, "%s: more than %d variables", s->name, AB_SELECTION_ENV_MAX);
    for (uint32_t i = 0; i < s->n_env; i++)
        if (strncmp(s->env[i], setting, name + 1) == 0)
            return ab_fail(err, AB_USAGE, "%s: %.*s is set twice", s->name, (int)name, setting);
    memcpy(s->env[s->n_env++], setting, n + 1);
    return AB_OK;
}

enum ab_status ab_settings_env(const char *text, struct ab_selection *s, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (const char *p = text; *p != 0 && status == AB_OK;) {
        size_t n = strcspn(p, ";");
        status = add_variable(p, n, s, err);
        p += n + (p[n] == ';');
    }
    return status;
}

/* ---- variables that a stranger may set ---- */

/* Variables of the allocators in presets.def that change only how they use memory. If a value is a
 * list of options, the keys of the options must be listed too, because an option may name a file
 * (jemalloc's prof_prefix, the log_path of older scudo). A name that ends with '*' is a prefix. */
static const struct harmless {
    const char *variable;
    /* characters that separate options in a value; NULL = the value has no options */
    const char *separators;
    char equals;      /* character between the key and the value of an option */
    const char *keys; /* allowed keys, " KEY KEY "; a key that ends with '*' is a prefix */
} harmless[] = {
    {"GLIBC_TUNABLES", ":", '=', " glibc.malloc.* glibc.pthread.* "},
    {"MALLOC_ARENA_MAX", NULL, 0, NULL},
    {"MALLOC_ARENA_TEST", NULL, 0, NULL},
    {"MALLOC_CHECK_", NULL, 0, NULL},
    {"MALLOC_MMAP_MAX_", NULL, 0, NULL},
    {"MALLOC_MMAP_THRESHOLD_", NULL, 0, NULL},
    {"MALLOC_PERTURB_", NULL, 0, NULL},
    {"MALLOC_TOP_PAD_", NULL, 0, NULL},
    {"MALLOC_TRIM_THRESHOLD_", NULL, 0, NULL},
    {"MALLOC_CONF", ",", ':',
     " abort abort_conf background_thread bin_shards cache_oblivious confirm_conf dirty_decay_ms dss "
     "experimental_infallible_new hpa hpa_* junk lg_extent_max_active_fit lg_tcache_* "
     "max_background_threads metadata_thp mutex_max_spin muzzy_decay_ms narenas narenas_ratio "
     "oversize_threshold percpu_arena retain san_guard_large san_guard_small slab_sizes "
     "stats_interval stats_interval_opts stats_print stats_print_opts tcache tcache_* thp "
     "trust_madvise xmalloc zero zero_realloc "},
    {"MIMALLOC_*", NULL, 0, NULL},
    {"SCUDO_OPTIONS", ":, ", '=',
     " allocation_ring_buffer_size dealloc_type_mismatch delete_size_mismatch may_return_null "
     "pattern_fill_contents quarantine_max_chunk_size quarantine_size_kb release_to_os_interval_ms "
     "thread_local_quarantine_size_kb zero_contents "},
    {"TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD", NULL, 0, NULL},
    {"TBB_MALLOC_USE_HUGE_PAGES", NULL, 0, NULL},
    {"TCMALLOC_AGGRESSIVE_DECOMMIT", NULL, 0, NULL},
    {"TCMALLOC_DISABLE_MEMORY_RELEASE", NULL, 0, NULL},
    {"TCMALLOC_HEAP_LIMIT_MB", NULL, 0, NULL},
    {"TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", NULL, 0, NULL},
    {"TCMALLOC_OVERRIDE_PAGESIZE", NULL, 0, NULL},
    {"TCMALLOC_RELEASE_RATE", NULL, 0, NULL},
    {"TCMALLOC_SAMPLE_PARAMETER", NULL, 0, NULL},
    {"TCMALLOC_SKIP_MMAP", NULL, 0, NULL},
    {"TCMALLOC_SKIP_SBRK", NULL, 0, NULL},
    {"TCMALLOC_TRANSFER_NUM_OBJ", NULL, 0, NULL},
};

/* True if the n bytes of `word` match the n_pattern bytes of `pattern`. A '*' at the end of the
 * pattern stands for any bytes. */
static bool fits(const char *pattern, size_t n_pattern, const char *word, size_t n)
{
    bool is_prefix = n_pattern > 0 && pattern[n_pattern - 1] == '*';
    n_pattern -= is_prefix;
    return (is_prefix ? n >= n_pattern : n == n_pattern) && memcmp(pattern, word, n_pattern) == 0;
}

static bool is_listed_key(const char *keys, const char *word, size_t n)
{
    for (const char *key = keys; *key != 0;) {
        key += strspn(key, " ");
        size_t n_key = strcspn(key, " ");
        if (n_key > 0 && fits(key, n_key, word, n))
            return true;
        key += n_key;
    }
    return false;
}

/* True if the keys of all options in the value are listed. */
static bool has_listed_keys(const struct harmless *h, const char *value)
{
    const char equals[] = {h->equals, 0};
    while (*value != 0) {
        size_t n = strcspn(value, h->separators), n_key = strcspn(value, equals);
        if (n > 0 && (n_key >= n || !is_listed_key(h->keys, value, n_key)))
            return false;
        value += n + (value[n] != 0);
    }
    return true;
}

bool ab_settings_is_harmless(const char *setting)
{
    size_t n = strcspn(setting, "=");
    const char *value = setting + n + (setting[n] == '=');
    for (size_t i = 0; i < AB_ARRAY_LEN(harmless); i++)
        if (fits(harmless[i].variable, strlen(harmless[i].variable), setting, n))
            return strchr(value, '/') == NULL &&
                   (harmless[i].separators == NULL || has_listed_keys(&harmless[i], value));
    return false;
}

/* Returns the length of the first PARAM=VALUE in the text. */
static size_t setting_length(const char *text)
{
    return strcspn(text, ":");
}

/* Checks that each setting has the form PARAM=VALUE, and that none occurs twice. The plug-in itself
 * checks names and values. */
static enum ab_status check_form(const char *params, const struct ab_selection *s,
                                 struct ab_err *err)
{
    char one[256];
    for (const char *p = params; *p != 0; p += setting_length(p) + (p[setting_length(p)] == ':')) {
        size_t n = setting_length(p), name = strcspn(p, "=");
        AB_FIT(one, "%.*s", (int)n, p);
        if (name == 0 || name >= n)
            return ab_fail(err, AB_USAGE, "%s: \"%s\" is not of the form PARAM=VALUE", s->name,
                           AB_SHOWN(256, one));
        for (const char *q = params; q < p; q += setting_length(q) + 1)
            if (strncmp(p, q, name + 1) == 0)
                return ab_fail(err, AB_USAGE, "%s: %.*s is given twice", s->name, (int)name, one);
    }
    return AB_OK;
}

/* Copies the value of `key` ("KEY=") in "KEY=VALUE:…"; "" if it is missing. Returns how often the
 * key occurs. */
static size_t find_value(const char *params, const char *key, char *value, size_t cap)
{
    size_t n = 0;
    value[0] = 0;
    for (const char *p = params; *p != 0;) {
        size_t length = strcspn(p, ":"), n_key = strlen(key);
        if (length >= n_key && strncmp(p, key, n_key) == 0) {
            snprintf(value, cap, "%.*s", (int)(length - n_key), p + n_key);
            n++;
        }
        p += length + (p[length] == ':');
    }
    return n;
}

/* True if the text is a list of function names, separated by '+'. */
static bool are_functions(const char *names)
{
    for (const char *p = names;; p++) {
        size_t n = strcspn(p, "+");
        if (!is_variable(p, n))
            return false;
        p += n;
        if (*p == 0)
            return true;
    }
}

/* Reads "prefix=mm_" into s->prefix, and the optional "init=NAME" into s->params. */
static enum ab_status read_prefix(const char *params, struct ab_selection *s, struct ab_err *err)
{
    size_t n_all = 1;
    char prefix[128];
    for (const char *p = params; *p != 0; p++)
        n_all += *p == ':';
    size_t n_prefixes = find_value(params, "prefix=", prefix, sizeof prefix);
    size_t n_inits = find_value(params, "init=", s->params, sizeof s->params);
    if (n_prefixes + n_inits != n_all || n_prefixes > 1 || n_inits > 1)
        return ab_fail(err, AB_USAGE, "\"%s\": beside prefix=NAME there can only be init=FUNCTION",
                       AB_SHOWN(256, params));
    if (prefix[0] == 0 && s->params[0] != 0)
        return ab_fail(err, AB_USAGE,
                       "%s: init= is for functions with a prefix, as in prefix=mm_:init=mm_init; a "
                       "malloc library has a constructor for that",
                       s->name);
    if (s->params[0] != 0 && !are_functions(s->params))
        return ab_fail(err, AB_USAGE,
                       "\"%s\": init= names a function, or several with + between them, or none",
                       AB_SHOWN(256, params));
    if (strlen(prefix) >= sizeof s->prefix || !is_variable(prefix, strlen(prefix)))
        return ab_fail(err, AB_USAGE,
                       "\"%s\": a prefix is the beginning of a C name, at most %zu "
                       "characters, such as prefix=mi_",
                       AB_SHOWN(256, params), sizeof s->prefix - 1);
    strcpy(s->prefix, prefix);
    return AB_OK;
}

enum ab_status ab_settings_library(const char *params, struct ab_selection *s, struct ab_err *err)
{
    if (strncmp(params, "prefix=", 7) != 0 && strncmp(params, "init=", 5) != 0) {
        if (strlen(params) >= sizeof s->params)
            return ab_fail(err, AB_USAGE, "%s: more than %zu characters of parameters", s->name,
                           sizeof s->params - 1);
        strcpy(s->params, params);
        return check_form(params, s, err);
    }
    return read_prefix(params, s, err);
}

/* Functions that parse the settings of a built-in allocator. Error messages say what is wrong,
 * which value would be right, or which other setting is required. */

struct setting { /* one setting NAME=VALUE of a built-in allocator */
    const struct ab_backend *backend;
    const struct ab_param *param;
    const char *value;
};

static void add_list(struct ab_text *t, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ab_text_addf(t, "%s%s", i == 0 ? "" : ", ", words[i]);
}

static enum ab_status fail_unknown(const struct ab_backend *b, const char *name, struct ab_err *err)
{
    const char *names[AB_PARAMS_MAX];
    for (size_t i = 0; i < b->n_params; i++)
        names[i] = b->params[i].name;
    const char *nearest = ab_text_nearest(name, names, b->n_params);
    struct ab_text list = {0};
    add_list(&list, names, b->n_params);
    enum ab_status status =
        b->n_params == 0
            ? ab_fail(err, AB_USAGE, "%s takes no parameters, but got \"%s\"", b->name,
                      AB_SHOWN(128, name))
            : ab_fail(err, AB_USAGE, "%s has no parameter \"%s\"%s%s%s; parameters: %s", b->name,
                      AB_SHOWN(128, name), nearest != NULL ? "; did you mean \"" : "",
                      nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", list.s);
    ab_text_fini(&list);
    return status;
}

static enum ab_status fail_value(const struct setting *s, const char *why, struct ab_err *err)
{
    return ab_fail(err, AB_USAGE, "%s:%s: \"%s\": %s", s->backend->name, s->param->name,
                   AB_SHOWN(128, s->value), why);
}

/* Writes a bound to buf, exactly. Returns buf. */
static const char *show_bound(char *buf, size_t cap, const struct ab_param *p, uint64_t bound)
{
    if (p->type == AB_PARAM_BYTES)
        return ab_units_exact(buf, cap, bound, "");
    snprintf(buf, cap, "%llu", (unsigned long long)bound);
    return buf;
}

static enum ab_status fail_range(const struct setting *s, struct ab_err *err)
{
    const struct ab_param *p = s->param;
    char why[128], least[32], most[32];
    AB_FIT(why, "%s%s to %s", ab_param_no_range, show_bound(least, sizeof least, p, p->min),
           show_bound(most, sizeof most, p, p->max));
    return fail_value(s, why, err);
}

static enum ab_status fail_choice(const struct setting *s, struct ab_err *err)
{
    size_t n = ab_param_count_choices(s->param);
    const char *nearest = ab_text_nearest(s->value, s->param->choices, n);
    struct ab_text why = {0};
    if (nearest != NULL)
        ab_text_addf(&why, "did you mean \"%s\"? ", nearest);
    ab_text_add(&why, ab_param_no_choice);
    add_list(&why, s->param->choices, n);
    enum ab_status status = fail_value(s, why.s, err);
    ab_text_fini(&why);
    return status;
}

/* Parses the first setting of *rest, which is cut in place, into `values`. Sets *rest to the text
 * after it; NULL = no more settings. */
static enum ab_status parse_setting(const struct ab_backend *b, char **rest, uint64_t *values,
                                    bool *is_set, struct ab_err *err)
{
    char *name, *value;
    if (!ab_param_cut(rest, &name, &value))
        return ab_fail(err, AB_USAGE, "%s: \"%s\" is not of the form NAME=VALUE", b->name,
                       AB_SHOWN(128, name));
    size_t i = ab_param_find(b, name);
    if (i == b->n_params)
        return fail_unknown(b, name, err);
    if (is_set[i])
        return ab_fail(err, AB_USAGE, "%s: %s is given twice", b->name, name);
    is_set[i] = true;
    struct setting s = {b, &b->params[i], value};
    const char *wrong = ab_param_read(s.param, value, &values[i]);
    return wrong == NULL                 ? AB_OK
           : wrong == ab_param_no_range  ? fail_range(&s, err)
           : wrong == ab_param_no_choice ? fail_choice(&s, err)
                                         : fail_value(&s, wrong, err);
}

/* Refuses a setting that has no effect unless another setting has a certain value. Such a row would
 * measure something other than its name says. */
static enum ab_status refuse_idle(const struct ab_backend *b, const uint64_t *values,
                                  struct ab_err *err)
{
    static const struct {
        const char *backend, *name, *needs, *choice;
    } rules[] = {
        {"pool", "shards", "threads", "sharded"},
        {"slab", "shards", "threads", "sharded"},
        {"paged", "block", "form", "arena"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rules); i++) {
        size_t at = ab_param_find(b, rules[i].name), needs = ab_param_find(b, rules[i].needs);
        if (strcmp(b->name, rules[i].backend) != 0 || at == b->n_params || needs == b->n_params ||
            values[at] == b->params[at].def)
            continue;
        const char *choice = b->params[needs].choices[values[needs]];
        if (strcmp(choice, rules[i].choice) != 0)
            return ab_fail(err, AB_USAGE, "%s:%s: has no effect with %s=%s, only with %s=%s",
                           b->name, rules[i].name, rules[i].needs, choice, rules[i].needs,
                           rules[i].choice);
    }
    return AB_OK;
}

enum ab_status ab_params_parse(const struct ab_backend *backend, const char *text,
                               uint64_t values[AB_PARAMS_MAX], struct ab_err *err)
{
    uint64_t made[AB_PARAMS_MAX] = {0};
    bool is_set[AB_PARAMS_MAX] = {false};
    char copy[1024];
    if (backend->n_params > AB_PARAMS_MAX)
        return ab_fail(err, AB_USAGE, "%s has %zu parameters, %d are allowed", backend->name,
                       backend->n_params, AB_PARAMS_MAX);
    if (strlen(text) >= sizeof copy)
        return ab_fail(err, AB_USAGE, "%s: parameters longer than %zu characters", backend->name,
                       sizeof copy - 1);
    strcpy(copy, text);
    for (size_t i = 0; i < backend->n_params; i++)
        made[i] = backend->params[i].def;
    for (char *rest = *text != 0 ? copy : NULL; rest != NULL;) {
        AB_TRY(parse_setting(backend, &rest, made, is_set, err));
    }
    AB_TRY(refuse_idle(backend, made, err));
    memcpy(values, made, sizeof made);
    return AB_OK;
}
