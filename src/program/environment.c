/* SPDX-License-Identifier: MIT
 *
 * Copies the environment; the last of two variables of one name counts.
 */
#include "program/environment.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes `text`; false when there is none. */
static bool put(char **list, size_t *n, char *text)
{
    if (text == NULL)
        return false;
    size_t name = strcspn(text, "=") + 1;
    for (size_t i = 0; i < *n; i++)
        if (strncmp(list[i], text, name) == 0) {
            free(list[i]);
            list[i] = text;
            return true;
        }
    list[(*n)++] = text;
    return true;
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
    bool ok = true;
    for (size_t i = 0; i < n_own && ok; i++)
        ok = put(list, &n, ab_strdup(environ[i]));
    if (ok && preload != NULL)
        ok = put(list, &n, preload_text(preload));
    for (size_t i = 0; i < n_settings && ok; i++)
        ok = put(list, &n, ab_strdup(settings[i]));
    if (ok)
        return list;
    ab_environment_free(list);
    return NULL;
}

void ab_environment_free(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}
