/* SPDX-License-Identifier: MIT
 *
 * Finds the library files of presets. Searches the directories that Debian configures for the
 * dynamic linker. Does not read the linker's cache, because its format is private to glibc.
 */
#include "backend/presets.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/elf.h"
#include "core/text.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH "x86_64"
#elif defined(__aarch64__)
#define ARCH "aarch64"
#endif

static const char *const standard_dirs[] = {
    "/usr/local/lib/" ARCH "-linux-gnu",
    "/usr/local/lib",
    "/lib/" ARCH "-linux-gnu",
    "/usr/lib/" ARCH "-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    NULL,
};

#define AB_PRESET(name, package, summary, ...) \
    static const char *const name##_files[] = {__VA_ARGS__, NULL};
#include "backend/presets.def"
#undef AB_PRESET

/* ---- the names of packages, which depend on the release ---- */

/* Debian package of each preset. If the package has another name in a newer release, both names,
 * separated by '|'. */
static const char *const package_names[] = {
#define AB_PRESET(name, package, summary, ...) package,
#include "backend/presets.def"
#undef AB_PRESET
};

enum { PRESETS = AB_ARRAY_LEN(package_names), PACKAGE_BYTES = 64 };

/* Reads the value of a line KEY=value or KEY="value" of /etc/os-release; "" if there is no such
 * line. */
static void read_release(const char *key, char value[32])
{
    const char *of_test = getenv("ALLOCBENCH_TEST_OS_RELEASE");
    char line[256];
    size_t n = strlen(key);
    FILE *f = fopen(of_test != NULL ? of_test : "/etc/os-release", "re");
    value[0] = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, n) == 0 && line[n] == '=')
            snprintf(value, 32, "%.*s", (int)strcspn(line + n + 1 + (line[n + 1] == '"'), "\"\n"),
                     line + n + 1 + (line[n + 1] == '"'));
    if (f != NULL)
        fclose(f);
}

/* True if this system is so new that it uses the second name of the package. Debian testing counts
 * as new: it has no VERSION_ID. */
static bool has_new_name(const char *name)
{
    char id[32], version[32];
    read_release("ID", id);
    read_release("VERSION_ID", version);
    if (strcmp(id, "debian") == 0)
        return version[0] == 0 || strtol(version, NULL, 10) >= 13;
    return strcmp(id, "ubuntu") == 0 && ab_text_ends_with(name, "t64") &&
           strtod(version, NULL) >= 24.04;
}

/* Copies the first (which = 0) or second (1) of the names to `name`. Returns false if there is no
 * such name. */
static bool name_package(const char *names, unsigned which, char name[PACKAGE_BYTES])
{
    const char *other = strchr(names, '|');
    if (which > (other != NULL))
        return false;
    size_t n = which == 0 && other != NULL ? (size_t)(other - names) : PACKAGE_BYTES - 1;
    snprintf(name, PACKAGE_BYTES, "%.*s", (int)n, which == 0 ? names : other + 1);
    return true;
}

static struct ab_preset presets[] = {
#define AB_PRESET(name, package, summary, ...) {#name, NULL, summary, name##_files},
#include "backend/presets.def"
#undef AB_PRESET
};

/* Returns the presets, with the package names of this system. */
static const struct ab_preset *table(void)
{
    static char names[PRESETS][PACKAGE_BYTES];
    for (size_t i = 0; i < PRESETS && presets[i].package == NULL; i++) {
        char newer[PACKAGE_BYTES];
        name_package(package_names[i], 0, names[i]);
        if (name_package(package_names[i], 1, newer) && has_new_name(newer))
            strcpy(names[i], newer);
        presets[i].package = names[i];
    }
    return presets;
}

size_t ab_preset_count(void)
{
    return PRESETS;
}

const struct ab_preset *ab_preset_at(size_t index)
{
    return &table()[index];
}

const struct ab_preset *ab_preset_find(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &table()[i];
    return NULL;
}

static const char origin[] = "$ORIGIN/";

static bool is_beside_us(const char *file)
{
    return strncmp(file, origin, strlen(origin)) == 0;
}

bool ab_preset_is_own(const struct ab_preset *preset)
{
    return preset->files[0] != NULL && is_beside_us(preset->files[0]);
}

struct search {
    char *path; /* path of the best file so far, the caller's buffer */
    size_t cap;
    bool found;    /* True if a file was found, right or wrong */
    bool is_right; /* True if the file at `path` is a library for this machine */
};

static void consider(struct search *s, const char *candidate)
{
    struct ab_elf elf;
    if (s->is_right || access(candidate, F_OK) != 0 || strlen(candidate) >= s->cap)
        return;
    s->is_right = ab_elf_read(candidate, NULL, 0, &elf, NULL) == AB_OK;
    if (s->is_right || !s->found)
        strcpy(s->path, candidate);
    s->found = true;
}

/* Considers the files that match the pattern, the newest version first (llvm-14 is newer than
 * llvm-9). */
static void consider_pattern(struct search *s, const char *pattern)
{
    char text[PATH_MAX];
    const char *arch = strstr(pattern, "ARCH");
    glob_t matches;
    if (arch != NULL)
        AB_FIT(text, "%.*s" ARCH "%s", (int)(arch - pattern), pattern, arch + 4);
    else
        AB_COPY(text, pattern);
    if (glob(text, GLOB_NOSORT, NULL, &matches) != 0)
        return;
    for (size_t round = 0; round < matches.gl_pathc && !s->is_right; round++) {
        char **newest = &matches.gl_pathv[0];
        for (size_t i = 1; i < matches.gl_pathc; i++)
            if (strverscmp(matches.gl_pathv[i], *newest) > 0)
                newest = &matches.gl_pathv[i];
        consider(s, *newest);
        **newest = 0;
    }
    globfree(&matches);
}

/* Considers a file in the folder of this program. `file` begins with "$ORIGIN/". */
static void consider_beside_us(struct search *s, const char *file)
{
    char self[PATH_MAX], candidate[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    while (n > 0 && self[n - 1] != '/')
        n--;
    if (n > 0 && (size_t)snprintf(candidate, sizeof candidate, "%.*s%s", (int)n, self,
                                  file + strlen(origin)) < sizeof candidate)
        consider(s, candidate);
}

bool ab_preset_locate(const struct ab_preset *preset, const char *const *dirs, char *path,
                      size_t cap)
{
    struct search s = {.path = path, .cap = cap};
    char candidate[PATH_MAX];
    for (const char *const *file = preset->files; *file != NULL; file++) {
        if (**file == '/') {
            consider_pattern(&s, *file);
            continue;
        }
        if (is_beside_us(*file)) {
            consider_beside_us(&s, *file);
            continue;
        }
        for (const char *const *dir = dirs != NULL ? dirs : standard_dirs; *dir != NULL; dir++)
            if ((size_t)snprintf(candidate, sizeof candidate, "%s/%s", *dir, *file) <
                sizeof candidate)
                consider(&s, candidate);
    }
    return s.found;
}

/* If the line begins with `key`, returns the rest without the newline; otherwise NULL. */
static const char *field(char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return NULL;
    line[strcspn(line, "\n")] = 0;
    return line + n;
}

const char *ab_package_version(const char *package, const char *status_file, char *buf, size_t cap)
{
    char line[1024];
    bool is_it = false, is_installed = false;
    const char *of_test = getenv("ALLOCBENCH_TEST_DPKG_STATUS");
    const char *of_system = of_test != NULL ? of_test : "/var/lib/dpkg/status";
    FILE *f = fopen(status_file != NULL ? status_file : of_system, "re");
    buf[0] = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *value;
        if ((value = field(line, "Package: ")) != NULL) {
            is_it = strcmp(value, package) == 0;
            is_installed = false;
        } else if (is_it && (value = field(line, "Status: ")) != NULL) {
            is_installed = strstr(value, " installed") != NULL;
        } else if (is_installed && (value = field(line, "Version: ")) != NULL) {
            const char *epoch = strchr(value, ':');
            snprintf(buf, cap, "%s", epoch != NULL ? epoch + 1 : value);
            break;
        }
    }
    if (f != NULL)
        fclose(f);
    return buf;
}

/* Returns the package names for the file at `path`. If it is the first file of some preset, returns
 * that preset's packages, otherwise those of `preset`. */
static const char *package_of(const struct ab_preset *preset, const char *path)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (presets[i].files[0] != NULL && presets[i].files[0][0] != '/' &&
            strstr(path, presets[i].files[0]) != NULL)
            return package_names[i];
    return package_names[preset - presets];
}

const char *ab_preset_version(const struct ab_preset *preset, const char *path, char *buf,
                              size_t cap)
{
    const char *clang = strstr(path, "/clang/");
    if (clang != NULL) {
        clang += strlen("/clang/");
        snprintf(buf, cap, "%.*s", (int)strcspn(clang, "/"), clang);
        return buf;
    }
    if (ab_preset_is_own(preset)) {
        snprintf(buf, cap, "%s", AB_VERSION);
        return buf;
    }
    buf[0] = 0;
    if (strstr(path, "/local/") != NULL) /* no package installs files there */
        return buf;
    char name[PACKAGE_BYTES];
    for (unsigned i = 0; buf[0] == 0 && name_package(package_of(preset, path), i, name); i++)
        ab_package_version(name, NULL, buf, cap);
    return buf;
}

/* Tests that defaults.def names: which built-in allocators suit the work. They need only sums over
 * the requests. By Markov's inequality the mean size bounds the share of requests that are larger
 * than a multiple of the mean. */

static double mean_bytes(const struct ab_work *w)
{
    return (double)w->requested_bytes / (double)w->n_requests;
}

static bool is_freed_in_bulk(const struct ab_work *w)
{
    return (double)w->stretch_bytes <= 1.25 * (double)w->live_peak_bytes;
}

static bool is_of_one_size(const struct ab_work *w)
{
    return mean_bytes(w) >= 0.8 * (double)w->largest_bytes;
}

static bool is_small_and_mixed(const struct ab_work *w)
{
    return mean_bytes(w) <= 512 && !is_of_one_size(w);
}

static const struct ab_default defaults[] = {
#define AB_DEFAULT(name, test, why, rule) {#name, test, why, rule},
#include "backend/defaults.def"
#undef AB_DEFAULT
};

size_t ab_default_count(void)
{
    return AB_ARRAY_LEN(defaults);
}

const struct ab_default *ab_default_at(size_t index)
{
    return &defaults[index];
}

bool ab_default_suits(size_t index, const struct ab_work *work)
{
    return work->requested_bytes > 0 && defaults[index].is_suited != NULL &&
           defaults[index].is_suited(work);
}

bool ab_default_has_library(const struct ab_preset *preset)
{
    const struct ab_preset *other;
    if (ab_preset_is_own(preset))
        return false;
    for (size_t i = 0; preset->files[0] != NULL && (other = ab_preset_at(i)) != preset; i++)
        for (const char *const *file = other->files; *file != NULL; file++)
            if (strcmp(*file, preset->files[0]) == 0)
                return false;
    return true;
}

/* Rows of --sweep. All rows of one back end are adjacent in the table. */

enum { NAMES_MAX = 32 };

static const struct ab_sweep_row rows[] = {
#define AB_SWEEP(backend, settings, says) {#backend, #backend settings, settings, says},
#include "backend/sweeps.def"
#undef AB_SWEEP
};

const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n)
{
    const struct ab_sweep_row *first = NULL;
    *n = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].backend, backend) == 0) {
            first = first != NULL ? first : &rows[i];
            (*n)++;
        }
    return first;
}

const char *ab_sweep_name(size_t index)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
        if (rows[i].settings[0] == 0 && index-- == 0)
            return rows[i].backend;
    return NULL;
}

enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **out, size_t *n,
                             struct ab_err *err)
{
    const char *names[NAMES_MAX];
    char list[256] = "";
    size_t n_names = 0;
    if ((*out = ab_sweep_rows(backend, n)) != NULL)
        return AB_OK;
    for (; n_names < NAMES_MAX && ab_sweep_name(n_names) != NULL; n_names++) {
        names[n_names] = ab_sweep_name(n_names);
        ab_text_join(list, sizeof list, ", ", names[n_names]);
    }
    const char *nearest = ab_text_nearest(backend, names, n_names);
    return ab_fail(err, AB_USAGE,
                   "--sweep: there is no list of settings for \"%s\"%s%s%s Known: %s",
                   AB_SHOWN(128, backend), nearest != NULL ? "; did you mean \"" : ".",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", list);
}
