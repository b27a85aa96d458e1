/* SPDX-License-Identifier: MIT */
#include "cli/benchmark/outputs.h"

#include "base/bits.h"
#include "stats/aggregate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const options[AB_OUTPUT_KIND_COUNT] = {
    [AB_OUTPUT_JSON] = "--json",
    [AB_OUTPUT_CSV] = "--csv",
    [AB_OUTPUT_CSV_HIST] = "--csv-hist",
    [AB_OUTPUT_CSV_TIMELINE] = "--csv-timeline",
    [AB_OUTPUT_HLOG] = "--hlog",
};

static const char *path_of(const struct ab_options *o, unsigned kind)
{
    const char *const paths[AB_OUTPUT_KIND_COUNT] = {
        [AB_OUTPUT_JSON] = o->json,
        [AB_OUTPUT_CSV] = o->csv,
        [AB_OUTPUT_CSV_HIST] = o->csv_hist,
        [AB_OUTPUT_CSV_TIMELINE] = o->csv_timeline,
        [AB_OUTPUT_HLOG] = o->hlog,
    };
    return paths[kind];
}

static bool is_stdout(const struct ab_options *o, unsigned kind)
{
    return path_of(o, kind) != NULL && strcmp(path_of(o, kind), "-") == 0;
}

const char *ab_outputs_asked_for(const struct ab_options *o)
{
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT; i++)
        if (path_of(o, i) != NULL)
            return options[i];
    return o->hgrm != NULL ? "--hgrm" : NULL;
}

bool ab_outputs_use_stdout(const struct ab_options *o)
{
    bool is_used = false;
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT; i++)
        is_used = is_used || is_stdout(o, i);
    return is_used;
}

/* ---- --hgrm ---- */

static enum ab_status split_hgrm(const char *path, struct ab_outputs *out, struct ab_err *err)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    bool is_folder = (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) ||
                     (slash != NULL && slash[1] == 0) || path[0] == 0;
    const char *base = is_folder ? "" : slash == NULL ? path : slash + 1;
    size_t n = is_folder ? strlen(path) : (size_t)(base - path);
    out->hgrm_folder = n == 0 && !is_folder ? strdup(".") : strndup(path, n);
    out->hgrm_prefix = malloc(strlen(base) + 2);
    if (out->hgrm_folder == NULL || out->hgrm_prefix == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    sprintf(out->hgrm_prefix, "%s%s", base, *base != 0 ? "." : "");
    return AB_OK;
}

/* A folder that is not there or cannot be written to shows before anything runs. */
static enum ab_status open_hgrm(const char *path, struct ab_outputs *out, struct ab_err *err)
{
    struct ab_output trial;
    if (strcmp(path, "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "--hgrm -: several files will be written; give a folder or a prefix");
    enum ab_status status = split_hgrm(path, out, err);
    if (status == AB_OK && (status = ab_output_open_new(out->hgrm_folder, &trial, err)) == AB_OK)
        ab_output_abandon(&trial);
    return status;
}

struct hgrm_name {
    char text[AB_TAG_BYTES + 4096];
};

static const char *name_hgrm(const struct ab_outputs *outputs, const struct ab_session *s,
                             uint32_t backend, const char *phase, unsigned op,
                             struct hgrm_name *name)
{
    char tag[AB_TAG_BYTES];
    snprintf(name->text, sizeof name->text, "%.4000s%s.hgrm", outputs->hgrm_prefix,
             ab_sink_tag(tag, s->backends[backend].name, phase, op));
    return name->text;
}

static enum ab_status check_name(const char *folder, const char *name, struct ab_err *err)
{
    struct stat st;
    size_t cap = strlen(folder) + strlen(name) + 2;
    char *path = malloc(cap);
    enum ab_status status = AB_OK;
    if (path == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    snprintf(path, cap, "%s/%s", folder, name);
    if (strlen(name) > 255)
        status = ab_fail(err, AB_USAGE, "--hgrm: '%s' is too long for a file name", name);
    else if (lstat(path, &st) == 0)
        status = ab_fail(err, AB_USAGE,
                         "--hgrm: '%s' already exists and will not be overwritten; give another "
                         "folder or prefix",
                         path);
    free(path);
    return status;
}

enum ab_status ab_outputs_check(const struct ab_outputs *outputs, const struct ab_session *s,
                                struct ab_err *err)
{
    struct hgrm_name name;
    enum ab_status status = AB_OK;
    for (uint32_t b = 0; outputs->hgrm_folder != NULL && b < s->n_backends; b++)
        for (uint32_t p = 0; p < s->n_phases; p++)
            for (unsigned op = 0; op <= AB_OP_ALL && status == AB_OK; op++)
                if (op == AB_OP_ALL || (s->facts.kinds >> op & 1) != 0)
                    status = check_name(outputs->hgrm_folder,
                                        name_hgrm(outputs, s, b, s->phases[p], op, &name), err);
    return status;
}

static enum ab_status write_hgrm_file(const struct ab_outputs *outputs, const struct ab_hdr *hdr,
                                      const char *name, struct ab_err *err)
{
    struct ab_output file;
    enum ab_status status = ab_output_open_new(outputs->hgrm_folder, &file, err);
    if (status != AB_OK)
        return status;
    ab_sink_hgrm(file.to, hdr);
    return ab_output_commit_as(&file, name, err);
}

static enum ab_status write_hgrms(const struct ab_outputs *outputs, const struct ab_session *s,
                                  struct ab_err *err)
{
    struct hgrm_name name;
    enum ab_status status = AB_OK;
    struct ab_hdr *hdr = malloc(sizeof *hdr);
    if (hdr == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (uint32_t b = 0; b < s->n_backends; b++)
        for (uint32_t p = 0; ab_session_has_numbers(s, b) && p < s->n_phases; p++)
            for (unsigned op = 0; op <= AB_OP_ALL && status == AB_OK; op++) {
                ab_session_merge(s, b, s->phases[p], op, hdr);
                if (ab_hdr_total(hdr) > 0)
                    status = write_hgrm_file(
                        outputs, hdr, name_hgrm(outputs, s, b, s->phases[p], op, &name), err);
            }
    free(hdr);
    return status;
}

/* ---- all ---- */

static enum ab_status check_stdout(const struct ab_options *o, struct ab_err *err)
{
    const char *first = NULL;
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT; i++) {
        if (!is_stdout(o, i))
            continue;
        if (first != NULL)
            return ab_fail(err, AB_USAGE, "%s - and %s - cannot both write to standard "
                                          "output", first,
                           options[i]);
        first = options[i];
    }
    return AB_OK;
}

/* The last that was opened against those before it. */
static enum ab_status check_same(const struct ab_outputs *outputs, unsigned last,
                                 struct ab_err *err)
{
    for (unsigned i = 0; i < last; i++)
        if (ab_output_is_same(&outputs->files[i], &outputs->files[last]))
            return ab_fail(err, AB_USAGE, "%s and %s name the same file", options[i],
                           options[last]);
    return AB_OK;
}

enum ab_status ab_outputs_open(const struct ab_options *o, time_t start, struct ab_outputs *out,
                               struct ab_err *err)
{
    *out = (struct ab_outputs){.start = start};
    enum ab_status status = check_stdout(o, err);
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT && status == AB_OK; i++)
        if (path_of(o, i) != NULL &&
            (status = ab_output_open(path_of(o, i), &out->files[i], err)) == AB_OK)
            status = check_same(out, i, err);
    if (status == AB_OK && o->hgrm != NULL)
        status = open_hgrm(o->hgrm, out, err);
    return status;
}

static bool write_kind(const struct ab_outputs *outputs, unsigned kind,
                       const struct ab_session *session)
{
    FILE *to = outputs->files[kind].to;
    if (kind == AB_OUTPUT_JSON)
        return ab_sink_json(to, session);
    if (kind == AB_OUTPUT_HLOG)
        return ab_sink_hlog(to, session, outputs->start);
    if (kind == AB_OUTPUT_CSV)
        ab_sink_csv(to, session);
    else if (kind == AB_OUTPUT_CSV_HIST)
        ab_sink_hist(to, session);
    else
        ab_sink_timeline(to, session);
    return true;
}

enum ab_status ab_outputs_write(struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err)
{
    struct ab_err more;
    enum ab_status first = AB_OK, status;
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT; i++) {
        struct ab_err *where = first == AB_OK ? err : &more;
        if (outputs->files[i].to == NULL)
            continue;
        if (write_kind(outputs, i, session))
            status = ab_output_commit(&outputs->files[i], where);
        else
            status = ab_fail(where, AB_SYSTEM, "out of memory for %s", options[i]);
        first = first == AB_OK ? status : first;
    }
    if (outputs->hgrm_folder != NULL) {
        status = write_hgrms(outputs, session, first == AB_OK ? err : &more);
        first = first == AB_OK ? status : first;
    }
    return first;
}

void ab_outputs_abandon(struct ab_outputs *outputs)
{
    for (unsigned i = 0; i < AB_OUTPUT_KIND_COUNT; i++)
        ab_output_abandon(&outputs->files[i]);
    free(outputs->hgrm_folder);
    free(outputs->hgrm_prefix);
    *outputs = (struct ab_outputs){0};
}
