/* SPDX-License-Identifier: MIT
 *
 * `deploy`: chooses a back end of a stored result, the winner unless one is named, and prints how a
 * program is started with it.
 */
#include "backend/elf.h"
#include "base/nearest.h"
#include "cli/arguments/last_result.h"
#include "cli/commands.h"
#include "cli/compare/snippet.h"
#include "core/text.h"
#include "report/read/read_result.h"
#include "report/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *name; /* of the back end; NULL = the winner */
    const char *path; /* NULL = the newest result */
    char *newest;     /* malloc'ed */
};

static bool is_result_file(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".html") == 0);
}

/* [NAME] [RESULT], in any order. */
static enum ab_status read_arguments(const struct ab_options *o, struct request *r,
                                     struct ab_err *err)
{
    for (size_t i = 0; i < o->n_args; i++) {
        const char **to = is_result_file(o->args[i]) ? &r->path : &r->name;
        if (*to != NULL)
            return ab_fail(err, AB_USAGE,
                           "deploy takes one allocator and one result; unexpected '%s'",
                           AB_SHOWN(256, o->args[i]));
        *to = o->args[i];
    }
    if (r->path != NULL)
        return AB_OK;
    AB_TRY(ab_last_result(o, 0, &r->newest, err));
    r->path = r->newest;
    return AB_OK;
}

static enum ab_status find_named(const struct ab_session *s, const char *name, uint32_t *out,
                                 struct ab_err *err)
{
    const char **names = calloc(s->n_backends + 1, sizeof names[0]);
    enum ab_status status = AB_OK;
    uint32_t i = 0;
    if (names == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (; i < s->n_backends && strcmp(s->backends[i].name, name) != 0; i++)
        names[i] = s->backends[i].name;
    const char *nearest = i == s->n_backends ? ab_text_nearest(name, names, i) : NULL;
    if (nearest != NULL)
        status = ab_fail(err, AB_USAGE, "the result has no back end %s; did you mean %s?",
                         AB_SHOWN(128, name), AB_SHOWN(128, nearest));
    else if (i == s->n_backends)
        status = ab_fail(err, AB_USAGE,
                         "the result has no back end %s; allocbench report shows which it has",
                         AB_SHOWN(128, name));
    free(names);
    if (status == AB_OK)
        *out = i;
    return status;
}

/* The fastest that can be preloaded, if it is clearly faster than the base: what wins may be an
 * allocator whose functions a program has to call itself. NULL = there is none. */
static const struct ab_view_rank *find_preloadable(const struct ab_view *view)
{
    for (uint32_t i = 0; i < view->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &view->ranking.rows[i];
        if (rank->standing == AB_VIEW_RANKED &&
            ab_snippet_is_possible(&view->session->backends[rank->backend]))
            return rank->vs.is_clear && !rank->vs.is_less ? rank : NULL;
    }
    return NULL;
}

/* Only what clearly won is deployed without being named. */
static enum ab_status find_winner(const struct ab_view *view, uint32_t *out, struct ab_err *err)
{
    const struct ab_view_headline *h = &view->headline;
    const struct ab_session *s = view->session;
    bool is_alone = h->verdict == AB_VIEW_ALONE && view->ranking.n_ranked == 1;
    uint32_t winner = is_alone ? view->ranking.rows[0].backend : h->winner;
    if ((h->verdict != AB_VIEW_FASTER && !is_alone) || winner >= s->n_backends)
        return ab_fail(err, AB_USAGE,
                       "the result names no winner; name an allocator: allocbench deploy NAME. %s",
                       h->n_sentences > 0 ? h->sentences[0] : "There is nothing to compare.");
    const struct ab_view_rank *other = ab_snippet_is_possible(&s->backends[winner])
                                           ? NULL
                                           : find_preloadable(view);
    if (other != NULL) {
        fprintf(stderr,
                "%s is the fastest, but a program has to call its functions itself; of those that "
                "can be preloaded:\n",
                AB_SHOWN(128, s->backends[winner].name));
        winner = other->backend;
    }
    *out = winner;
    return AB_OK;
}

/* The file may have been removed or replaced since. */
static void warn_changed(const struct ab_backend_info *b)
{
    struct ab_elf elf;
    struct ab_err why;
    const char *path = AB_SHOWN(512, b->path);
    if (b->path[0] == 0)
        return;
    if (ab_elf_read(b->path, NULL, 0, &elf, &why) != AB_OK)
        fprintf(stderr, "allocbench: warning: %s is not on this machine\n", path);
    else if (strcmp(elf.build_id, b->build_id) != 0)
        fprintf(stderr, "allocbench: warning: %s is another build than the one measured\n", path);
}

/* What is recommended is used for other work as well. */
static void warn_deviating(const struct ab_backend_info *b)
{
    char name[300], what[4 * sizeof b->caveat];
    if (b->caveat[0] != 0)
        fprintf(stderr,
                "allocbench: warning: %s deviates from the standards: %s; allocbench verify %s "
                "lists what else\n",
                ab_text_printable(name, sizeof name, b->name),
                ab_text_printable(what, sizeof what, b->caveat), name);
}

static enum ab_status deploy(const struct request *r, const struct ab_view *view,
                             struct ab_err *err)
{
    struct ab_text lines = {0};
    uint32_t which = 0;
    const struct ab_session *s = view->session;
    AB_TRY(r->name != NULL ? find_named(s, r->name, &which, err) : find_winner(view, &which, err));
    const struct ab_backend_info *b = &s->backends[which];
    enum ab_status status = ab_snippet_add(b, &lines, err);
    if (status == AB_OK && lines.s == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    if (status == AB_OK) {
        printf("%s%s%s, as measured in %s\n\n%s", AB_SHOWN(128, b->name),
               b->version[0] != 0 ? " " : "", AB_SHOWN(64, b->version), AB_SHOWN(512, r->path),
               lines.s);
        warn_changed(b);
        warn_deviating(b);
    }
    ab_text_fini(&lines);
    return status;
}

enum ab_status ab_cmd_deploy(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct request r = {0};
    struct ab_stored stored;
    struct ab_view view;
    (void)exit_code;
    enum ab_status status = read_arguments(o, &r, err);
    if (status == AB_OK && (status = ab_stored_read_unaltered(r.path, &stored, err)) == AB_OK) {
        ab_view_make(&stored.session, &view);
        status = deploy(&r, &view, err);
        ab_view_fini(&view);
        ab_stored_fini(&stored);
    }
    free(r.newest);
    return status;
}
