/* SPDX-License-Identifier: MIT
 *
 * One empty file for each library that passed, named by its build id.
 */
#include "app/verified.h"

#include "app/result_store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "verified"

/* False where there is nothing to name the file by, or no folder for results. */
static bool find_path(const struct ab_options *o, const struct ab_backend_info *b,
                      char out[PATH_MAX])
{
    struct ab_options where = *o;
    where.is_store_off = false; /* --no-store is about the new result */
    const char *results = ab_store_folder(&where);
    bool is_id = b->build_id[0] != 0 &&
                 strspn(b->build_id, "0123456789abcdef") == strlen(b->build_id);
    return results != NULL && is_id && b->settings[0] == 0 &&
           snprintf(out, PATH_MAX, "%s/" FOLDER "/%s", results, b->build_id) < PATH_MAX;
}

void ab_verified_keep(const struct ab_options *o, const struct ab_backend_info *b, bool has_passed)
{
    char path[PATH_MAX], folder[PATH_MAX];
    if (!find_path(o, b, path))
        return;
    if (!has_passed) {
        unlink(path);
        return;
    }
    memcpy(folder, path, sizeof folder);
    *strrchr(folder, '/') = 0; /* RESULTS/verified */
    char *end = strrchr(folder, '/');
    *end = 0;
    mkdir(folder, 0777);
    *end = '/';
    mkdir(folder, 0777);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
}

void ab_verified_find(const struct ab_options *o, struct ab_session *session)
{
    char path[PATH_MAX];
    for (uint32_t i = 0; i < session->n_backends; i++) {
        struct ab_backend_info *b = &session->backends[i];
        b->is_verified = find_path(o, b, path) && access(path, F_OK) == 0;
    }
}
