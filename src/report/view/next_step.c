/* SPDX-License-Identifier: MIT
 *
 * From the verdict to what would settle it; what helps against noise is with its warning.
 */
#include "report/view/next_step.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static void add(struct ab_view_steps *out, const char *command, const char *why)
{
    for (unsigned i = 0; i < out->n; i++)
        if (strcmp(out->items[i].command, command) == 0)
            return;
    if (out->n < AB_VIEW_STEPS_MAX && command[0] != 0)
        out->items[out->n++] = (struct ab_view_step){command, why};
}

/* What the effect says about how many rounds would do. */
static void add_rounds(const struct ab_session *s, const struct ab_view_headline *headline,
                       struct ab_view_texts *texts, struct ab_view_steps *out)
{
    uint32_t n = ab_effect_rounds_needed(&headline->speed, NAN);
    bool is_over = n > 10 * (s->n_rounds > 10 ? s->n_rounds : 10);
    if (headline->verdict == AB_VIEW_TOO_FEW)
        add(out, ab_session_is_exec(s) ? "--rounds 20" : "--rounds 10",
            "there is no interval below 6");
    else if (n == 0 || is_over)
        return;
    else
        add(out, ab_view_texts_addf(texts, "--rounds %u", n),
            "as many would settle whether they differ");
}

/* ---- what won, for other programs ---- */

/* Has it nothing that a shell, systemd or Docker take for something else, so that it can be copied
 * anywhere? A result may come from anyone. */
static bool is_plain(const char *text, size_t n, const char *also)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && strchr("._-+/=", text[i]) == NULL &&
            strchr(also, text[i]) == NULL)
            return false;
    return true;
}

static bool is_preloadable(const struct ab_backend_info *b)
{
    return b->boundary != NULL && b->n_heaps == 0 && strstr(b->name, ":prefix=") == NULL &&
           strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_MALLOC]) == 0;
}

/* Of "name{A=b;C=d}" with the path of its library "A=b C=d LD_PRELOAD=path"; "" where there is
 * nothing to set, or not in plain characters. */
static const char *environment_of(const struct ab_backend_info *b, struct ab_view_texts *texts)
{
    char set[sizeof b->name] = "";
    const char *brace = strchr(b->name, '{'), *path = b->path;
    size_t n_name = strcspn(b->name, "{"), n = brace != NULL ? strcspn(brace + 1, "}") : 0;
    bool is_own = n_name == strlen("glibc") && strncmp(b->name, "glibc", n_name) == 0;
    if (n > 0 && !is_plain(brace + 1, n, ";:,"))
        return "";
    for (size_t i = 0; i < n; i++)
        set[i] = brace[1 + i] == ';' ? ' ' : brace[1 + i];
    if (is_own)
        return n > 0 ? ab_view_texts_addf(texts, "%s", set) : "";
    if (path[0] != '/' || !is_plain(path, strlen(path), "@,"))
        return "";
    return ab_view_texts_addf(texts, "%s%sLD_PRELOAD=%s", set, n > 0 ? " " : "", path);
}

/* The fastest that can be preloaded: a program has to call the functions of others itself. */
static void add_winner(const struct ab_session *s, const struct ab_view_headline *headline,
                       const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                       struct ab_view_steps *out)
{
    for (uint32_t i = 0; i < ranking->n_rows; i++) {
        const struct ab_view_rank *rank = &ranking->rows[i];
        const struct ab_backend_info *b = &s->backends[rank->backend];
        if (rank->standing != AB_VIEW_RANKED || !is_preloadable(b))
            continue;
        if (rank->backend == headline->winner || (rank->vs.is_clear && !rank->vs.is_less))
            add(out, environment_of(b, texts),
                ab_view_texts_addf(texts, "runs a program with %s", AB_SHOWN(128, b->name)));
        return;
    }
}

void ab_view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                        const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                        struct ab_view_steps *out)
{
    *out = (struct ab_view_steps){0};
    if (!s->is_complete) /* to go on comes first, and says so itself */
        return;
    if (headline->verdict == AB_VIEW_TOO_NOISY || headline->verdict == AB_VIEW_NO_CLEAR ||
        headline->verdict == AB_VIEW_TOO_FEW)
        add_rounds(s, headline, texts, out);
    if (headline->verdict == AB_VIEW_FASTER)
        add_winner(s, headline, ranking, texts, out);
}
