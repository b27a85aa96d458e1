/* SPDX-License-Identifier: MIT
 *
 * The lines for each place where a service may be configured. Only letters, digits and some signs
 * are let through: nothing has to be quoted, by anybody.
 */
#include "cli/compare/snippet.h"

#include "backend/presets.h"

#include <string.h>

enum { VARIABLES_MAX = 16, VARIABLE_BYTES = 256 };

struct snippet {
    const struct ab_backend_info *backend;
    char variables[VARIABLES_MAX][VARIABLE_BYTES]; /* "MALLOC_CONF=…", without the preload */
    size_t n;
    bool is_preloaded;
    struct ab_text *out;
};

static bool is_plain(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-+/=:,@";
    return strspn(text, allowed) == strlen(text);
}

static enum ab_status fail_odd(const struct ab_backend_info *b, const char *what, const char *text,
                               struct ab_err *err)
{
    return ab_fail(err, AB_USAGE,
                   "%s: its %s cannot be written in a shell, systemd and Docker alike: %s",
                   AB_SHOWN(128, b->name), what, AB_SHOWN(300, text));
}

/* NAME=VALUE without anything that a shell would take for something else. */
static bool is_assignment(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && text[n] == '=' && (text[0] < '0' || text[0] > '9') && is_plain(text);
}

/* Out of "{A=b;C=d}". */
static enum ab_status read_variables(struct snippet *s, struct ab_err *err)
{
    const char *at = strchr(s->backend->name, '{');
    for (at = at != NULL ? at + 1 : ""; *at != 0 && *at != '}';) {
        size_t n = strcspn(at, ";}");
        if (s->n == VARIABLES_MAX || n >= VARIABLE_BYTES)
            return ab_fail(err, AB_USAGE, "%s: too many settings", AB_SHOWN(128, s->backend->name));
        memcpy(s->variables[s->n], at, n);
        s->variables[s->n][n] = 0;
        if (n > 0 && !is_assignment(s->variables[s->n]))
            return fail_odd(s->backend, "variable", s->variables[s->n], err);
        s->n += n > 0;
        at += n + (at[n] == ';');
    }
    return AB_OK;
}

/* The C library's own malloc is there already, whatever file it is in. */
static bool is_own_malloc(const struct ab_backend_info *b)
{
    char name[sizeof b->name];
    memcpy(name, b->name, sizeof name);
    name[strcspn(name, "{")] = 0;
    const struct ab_preset *preset = ab_preset_find(name);
    return preset != NULL && preset->files[0] == NULL;
}

static bool is_malloc(const struct ab_backend_info *b)
{
    return b->boundary != NULL && strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_MALLOC]) == 0;
}

bool ab_snippet_is_possible(const struct ab_backend_info *b)
{
    return is_malloc(b) && strstr(b->name, ":prefix=") == NULL;
}

static enum ab_status check_kind(struct snippet *s, struct ab_err *err)
{
    const struct ab_backend_info *b = s->backend;
    const char *name = AB_SHOWN(128, b->name);
    if (!ab_backend_status_has_numbers(b->status))
        return ab_fail(err, AB_BACKEND, "%s has no numbers in this result (%s)", name,
                       ab_backend_status_name(b->status));
    if (b->n_heaps > 0)
        return ab_fail(err, AB_USAGE,
                       "%s is several back ends, chosen for each request by the rules of its "
                       "mapping (configs/README.md): no preload can do that, a program calls "
                       "each itself",
                       name);
    if (!is_malloc(b))
        return ab_fail(err, AB_USAGE,
                       "%s cannot be preloaded: a program calls its functions itself "
                       "(allocators/README.md)",
                       name);
    if (!ab_snippet_is_possible(b))
        return ab_fail(err, AB_USAGE,
                       "%s cannot be preloaded: its functions have a prefix; build it without",
                       name);
    s->is_preloaded = b->path[0] != 0 && !is_own_malloc(b);
    return is_plain(b->path) && strchr(b->path, ':') == NULL /* it ends a name in LD_PRELOAD */
               ? AB_OK
               : fail_odd(b, "path", b->path, err);
}

/* A library that is installed with allocbench: no archive of Debian has it. */
static bool is_ours(const struct ab_backend_info *b)
{
    return strcmp(b->package, "allocbench") == 0;
}

/* A library of our own may still be where it was built, which no service should depend on. */
static void add_place(struct snippet *s)
{
    if (s->is_preloaded && is_ours(s->backend) &&
        strstr(s->backend->path, "/lib/allocbench/") == NULL)
        ab_text_add(s->out, "\nThis is the file of a build: make install puts the library into "
                            "PREFIX/lib/allocbench; use its path there.\n");
}

static void add_shell(struct snippet *s)
{
    ab_text_add(s->out, "shell\n  ");
    for (size_t i = 0; i < s->n; i++)
        ab_text_addf(s->out, "%s ", s->variables[i]);
    if (s->is_preloaded)
        ab_text_addf(s->out, "LD_PRELOAD=%s ", s->backend->path);
    ab_text_add(s->out, "./your-program\n");
}

static void add_systemd(struct snippet *s)
{
    ab_text_add(s->out, "\nsystemd (systemctl edit your-service)\n  [Service]\n");
    for (size_t i = 0; i < s->n; i++)
        ab_text_addf(s->out, "  Environment=%s\n", s->variables[i]);
    if (s->is_preloaded)
        ab_text_addf(s->out, "  Environment=LD_PRELOAD=%s\n", s->backend->path);
}

/* With a package the loader finds the file by its name, on every architecture. */
static void add_docker(struct snippet *s)
{
    const struct ab_backend_info *b = s->backend;
    const char *slash = strrchr(b->path, '/'), *file = slash != NULL ? slash + 1 : b->path;
    bool has_package = b->package[0] != 0 && is_plain(b->package) && !is_ours(b);
    ab_text_add(s->out, "\nDockerfile (Debian, Ubuntu)\n");
    if (s->is_preloaded && has_package)
        ab_text_addf(s->out,
                     "  RUN apt-get update && \\\n"
                     "      apt-get install -y --no-install-recommends %s && \\\n"
                     "      rm -rf /var/lib/apt/lists/*\n"
                     "  ENV LD_PRELOAD=%s\n",
                     b->package, file);
    else if (s->is_preloaded)
        ab_text_addf(s->out, "  COPY %s /usr/local/lib/\n  ENV LD_PRELOAD=/usr/local/lib/%s\n",
                     file, file);
    for (size_t i = 0; i < s->n; i++)
        ab_text_addf(s->out, "  ENV %s\n", s->variables[i]);
}

enum ab_status ab_snippet_add(const struct ab_backend_info *backend, struct ab_text *out,
                              struct ab_err *err)
{
    struct snippet s = {.backend = backend, .out = out};
    AB_TRY(check_kind(&s, err));
    AB_TRY(read_variables(&s, err));
    if (!s.is_preloaded && s.n == 0) {
        ab_text_add(out, "nothing to set: it is the allocator that programs have anyway\n");
        return AB_OK;
    }
    add_shell(&s);
    add_systemd(&s);
    add_docker(&s);
    add_place(&s);
    return AB_OK;
}
