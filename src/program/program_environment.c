/* SPDX-License-Identifier: MIT
 *
 * The environment of a measured program. The last of two variables of one name counts.
 */
#include "core/alloc.h"
#include "core/text.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets a variable. Takes ownership of `text`. */
static void put(char **list, size_t *n, char *text)
{
    size_t name = strcspn(text, "=") + 1;
    for (size_t i = 0; i < *n; i++)
        if (strncmp(list[i], text, name) == 0) {
            free(list[i]);
            list[i] = text;
            return;
        }
    list[(*n)++] = text;
}

static char *preload_text(const char *preload)
{
    const char *users = getenv("LD_PRELOAD");
    bool has_more = users != NULL && users[0] != 0;
    struct ab_text t = {0};
    ab_text_addf(&t, "LD_PRELOAD=%s%s%s", preload, has_more ? ":" : "", has_more ? users : "");
    return t.s;
}

char **ab_environment_build(const char *preload, const char *const *settings)
{
    size_t n = 0, n_own = 0, n_settings = 0;
    while (environ[n_own] != NULL)
        n_own++;
    while (settings != NULL && settings[n_settings] != NULL)
        n_settings++;
    char **list = ab_alloc_zeroed(n_own + n_settings + 2, sizeof list[0]);
    for (size_t i = 0; i < n_own; i++)
        put(list, &n, ab_strdup(environ[i]));
    if (preload != NULL)
        put(list, &n, preload_text(preload));
    for (size_t i = 0; i < n_settings; i++)
        put(list, &n, ab_strdup(settings[i]));
    return list;
}

void ab_environment_free(char **list)
{
    for (size_t i = 0; list[i] != NULL; i++)
        free(list[i]);
    free(list);
}
