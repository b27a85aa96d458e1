/* SPDX-License-Identifier: MIT
 *
 * Takes one entry of -b apart, in place, and checks the form of each part: a name of its own, name
 * or path, parameters, variables of the environment. Whether a parameter exists is for the table
 * of the back end.
 */
#include "backend/settings.h"

#include "core/text.h"

#include <ctype.h>
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

static const char *shown(const char *text)
{
    static char buf[256];
    return ab_text_printable(buf, sizeof buf, text);
}

/* The first of this character that has no backslash. */
static char *find_plain(char *text, char wanted)
{
    for (; *text != 0 && *text != wanted; text++)
        text += *text == '\\' && text[1] != 0;
    return *text != 0 ? text : NULL;
}

/* Takes the backslashes out, each with the character that it stands for left in. */
static void take_literally(char *text)
{
    char *to = text;
    for (; *text != 0; text++) {
        text += *text == '\\' && text[1] != 0;
        *to++ = *text;
    }
    *to = 0;
}

/* The ':' after which parameters begin: one in the last part of a path. */
static char *find_colon(char *text)
{
    char *slash = strrchr(text, '/'), *equals = find_plain(text, '=');
    if (slash != NULL && equals != NULL && slash > equals)
        slash = memrchr(text, '/', (size_t)(equals - text)); /* a value may hold a '/' */
    return find_plain(slash != NULL ? slash : text, ':');
}

/* "OWN=" in front: the first '=' ends it, unless a path, parameters or variables have begun. */
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
                       shown(text));
    if (brace != NULL) {
        text[n - 1] = 0;
        *brace = 0;
        out->env = brace + 1;
        if (*out->env == 0)
            return ab_fail(err, AB_USAGE, "nothing between the braces of \"%s{}\"", shown(text));
    }
    if ((colon = find_colon(text)) != NULL) {
        if (colon[1] == 0)
            return ab_fail(err, AB_USAGE, "nothing after ':' in \"%s\"", shown(text));
        *colon = 0;
        out->params = colon + 1;
    }
    take_literally(text);
    return AB_OK;
}

/* A name as in a shell, then '='. */
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
    snprintf(setting, sizeof setting, "%.*s", (int)n, text);
    size_t name = strcspn(setting, "=");
    if (n >= sizeof s->env[0])
        return ab_fail(err, AB_USAGE, "%s: a setting in braces has at most %zu characters", s->name,
                       sizeof s->env[0] - 1);
    if (setting[name] != '=' || !is_variable(setting, name))
        return ab_fail(err, AB_USAGE, "\"%s\" in braces is not VARIABLE=VALUE", shown(setting));
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

/* Where one PARAM=VALUE ends. */
static size_t setting_length(const char *text)
{
    return strcspn(text, ":");
}

/* The form of each, and that none is there twice; names and values are for the library's table. */
static enum ab_status check_form(const char *params, const struct ab_selection *s,
                                 struct ab_err *err)
{
    char one[256];
    for (const char *p = params; *p != 0; p += setting_length(p) + (p[setting_length(p)] == ':')) {
        size_t n = setting_length(p), name = strcspn(p, "=");
        snprintf(one, sizeof one, "%.*s", (int)n, p);
        if (name == 0 || name >= n)
            return ab_fail(err, AB_USAGE, "%s: \"%s\" is not of the form PARAM=VALUE", s->name,
                           shown(one));
        for (const char *q = params; q < p; q += setting_length(q) + 1)
            if (strncmp(p, q, name + 1) == 0)
                return ab_fail(err, AB_USAGE, "%s: %.*s is given twice", s->name, (int)name, one);
    }
    return AB_OK;
}

enum ab_status ab_settings_library(const char *params, struct ab_selection *s, struct ab_err *err)
{
    static const char key[] = "prefix=";
    const char *prefix = params + sizeof key - 1;
    if (strncmp(params, key, sizeof key - 1) != 0) {
        if (strlen(params) >= sizeof s->params)
            return ab_fail(err, AB_USAGE, "%s: more than %zu characters of parameters", s->name,
                           sizeof s->params - 1);
        strcpy(s->params, params);
        return check_form(params, s, err);
    }
    if (strlen(prefix) >= sizeof s->prefix || !is_variable(prefix, strlen(prefix)))
        return ab_fail(err, AB_USAGE,
                       "\"%s\": a prefix is the beginning of a C name, at most %zu "
                       "characters, such as prefix=mi_",
                       shown(params), sizeof s->prefix - 1);
    strcpy(s->prefix, prefix);
    return AB_OK;
}
