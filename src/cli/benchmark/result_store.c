/* SPDX-License-Identifier: MIT */
#include "cli/benchmark/result_store.h"

#include "core/text.h"
#include "report/sink.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "results"
#define FOLDER_VARIABLE "ALLOCBENCH_RESULTS"

static const char *choose_folder(const struct ab_options *o)
{
    const char *from_environment = getenv(FOLDER_VARIABLE);
    if (o->is_store_off)
        return NULL;
    if (o->results != NULL)
        return o->results;
    if (from_environment == NULL)
        return DEFAULT_FOLDER;
    return from_environment[0] != 0 ? from_environment : NULL;
}

static enum ab_status try_folder(const char *folder, bool *is_made, struct ab_err *err)
{
    struct ab_output probe;
    *is_made = mkdir(folder, 0777) == 0;
    if (!*is_made && errno != EEXIST)
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder '%s' for results", folder);
    enum ab_status status = ab_output_open_new(folder, &probe, err);
    if (status == AB_OK)
        ab_output_abandon(&probe);
    else if (*is_made)
        rmdir(folder);
    return status;
}

enum ab_status ab_store_open(const struct ab_options *o, struct ab_store *out, struct ab_err *err)
{
    struct ab_err why;
    char shown[sizeof why.text];
    struct ab_store store = {.folder = choose_folder(o)};
    if (o->is_store_off && o->results != NULL)
        return ab_fail(err, AB_USAGE, "--results and --no-store are mutually exclusive");
    if (store.folder != NULL && try_folder(store.folder, &store.is_made, &why) != AB_OK) {
        if (o->results != NULL)
            return ab_fail(err, AB_USAGE, "--results: %s",
                           ab_text_printable(shown, sizeof shown, why.text));
        if (!o->is_quiet)
            fprintf(stderr, "allocbench: warning: the result will not be stored: %s\n",
                    ab_text_printable(shown, sizeof shown, why.text));
        store = (struct ab_store){0};
    }
    *out = store;
    return AB_OK;
}

void ab_store_stem(const struct ab_session *session, time_t when, char *buf, size_t cap)
{
    char name[65] = "", stamp[32] = "";
    struct tm tm;
    size_t n = 0;
    for (const char *c = session->name; *c != 0 && n < sizeof name - 1; c++, n++) {
        bool is_plain = isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;
        name[n] = is_plain && !(n == 0 && !isalnum((unsigned char)*c)) ? *c : '_';
    }
    if (gmtime_r(&when, &tm) != NULL)
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &tm);
    snprintf(buf, cap, "%s-%s-%.8s", n > 0 ? name : "result", stamp, session->tape_sha256);
}

enum ab_status ab_store_write(struct ab_store *store, const struct ab_session *session,
                              struct ab_err *err)
{
    struct ab_output file;
    char stem[128];
    if (store->folder == NULL)
        return AB_OK;
    mkdir(store->folder, 0777); /* it may have been removed meanwhile */
    enum ab_status status = ab_output_open_new(store->folder, &file, err);
    if (status != AB_OK)
        return status;
    if (!ab_sink_json(file.to, session)) {
        ab_output_abandon(&file);
        return ab_fail(err, AB_SYSTEM, "out of memory for the result");
    }
    ab_store_stem(session, time(NULL), stem, sizeof stem);
    status = ab_output_commit_new(&file, stem, store->name, sizeof store->name, err);
    if (status == AB_OK)
        store->is_made = false;
    else
        store->name[0] = 0;
    return status;
}

void ab_store_tell(const struct ab_store *store, FILE *to)
{
    char shown[512];
    if (store->folder != NULL && store->name[0] != 0)
        fprintf(to, "Stored: %s/%s\n",
                ab_text_printable(shown, sizeof shown, store->folder), store->name);
}

void ab_store_close(struct ab_store *store)
{
    if (store->folder != NULL && store->is_made)
        rmdir(store->folder); /* fails where something lies in it, as it should */
    *store = (struct ab_store){0};
}
