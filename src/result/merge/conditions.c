/* SPDX-License-Identifier: MIT
 *
 * Lists what two sessions do not have in common.
 */
#include "result/merge/conditions.h"

#include "result/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *or_unknown(const char *s)
{
    return s == NULL || s[0] == 0 ? "unknown" : s;
}

void ab_differences_add(struct ab_differences *d, const char *what, const char *now,
                        const char *was)
{
    char a[96], b[96];
    if (strcmp(or_unknown(now), or_unknown(was)) != 0)
        ab_text_addf(&d->text, "%s%s is %.64s, %s %.64s", d->text.n > 0 ? "; " : "", what,
                     ab_text_printable(a, sizeof a, or_unknown(now)), d->word,
                     ab_text_printable(b, sizeof b, or_unknown(was)));
}

void ab_differences_add_number(struct ab_differences *d, const char *what, uint64_t now,
                               uint64_t was)
{
    char a[32], b[32];
    snprintf(a, sizeof a, "%" PRIu64, now);
    snprintf(b, sizeof b, "%" PRIu64, was);
    ab_differences_add(d, what, now == UINT64_MAX ? "" : a, was == UINT64_MAX ? "" : b);
}

/* Lists of strings, side by side: the first pair that differs is named. */
static void compare_settings(struct ab_differences *d, const struct ab_session *now,
                             const struct ab_session *was)
{
    const char *const *a = now->settings, *const *b = was->settings;
    while (a != NULL && b != NULL && *a != NULL && *b != NULL && strcmp(*a, *b) == 0)
        a++, b++;
    const char *x = a != NULL && *a != NULL ? *a : "none",
               *y = b != NULL && *b != NULL ? *b : "none";
    ab_differences_add(d, "a setting", x, y);
}

static void compare_phases(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    ab_differences_add_number(d, "the number of phases", now->n_phases, was->n_phases);
    for (uint32_t i = 0; i < now->n_phases && i < was->n_phases; i++)
        ab_differences_add(d, "a phase", now->phases[i], was->phases[i]);
}

/* "0,2,3", as much of it as there is room for. */
static const char *cpu_list(char *buf, size_t cap, const struct ab_session *s)
{
    size_t n = 0;
    snprintf(buf, cap, "not given");
    for (uint32_t i = 0; i < s->n_cpus && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%d", i == 0 ? "" : ",", s->cpus[i]);
    return buf;
}

static void compare_lanes(struct ab_differences *d, const struct ab_session *now,
                          const struct ab_session *was)
{
    char a[256], b[256];
    ab_differences_add(d, "--cpus", cpu_list(a, sizeof a, now), cpu_list(b, sizeof b, was));
    ab_differences_add(d, "--order", ab_order_names[now->is_strict],
                       ab_order_names[was->is_strict]);
    ab_differences_add_number(d, "--window", now->window, was->window);
}

static void compare_backends(struct ab_differences *d, const struct ab_session *now,
                             const struct ab_session *was)
{
    ab_differences_add_number(d, "the number of back ends", now->n_backends, was->n_backends);
    for (uint32_t i = 0; i < now->n_backends && now->n_backends == was->n_backends; i++) {
        ab_differences_add(d, "a back end", now->backends[i].name, was->backends[i].name);
        ab_differences_add(d, "a back end's boundary", now->backends[i].boundary,
                           was->backends[i].boundary);
        ab_differences_add(d, "a placement (--map)", now->backends[i].map, was->backends[i].map);
    }
}

/* "6", "every round" */
static const char *rounds_of(char buf[32], const struct ab_pass_plan *plan, enum ab_pass pass)
{
    snprintf(buf, 32, "in every round");
    if (plan->is_known && plan->rounds[pass] != AB_EVERY_ROUND)
        snprintf(buf, 32, plan->rounds[pass] == 0 ? "not run" : "in %u rounds", plan->rounds[pass]);
    return buf;
}

static void compare_passes(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    char label[64], a[32], b[32];
#define COMPARE(pass) \
    snprintf(label, sizeof label, "the %s pass", ab_pass_names[pass]); \
    if (pass != AB_PASS_THROUGHPUT) \
        ab_differences_add(d, label, rounds_of(a, &now->passes, pass), \
                           rounds_of(b, &was->passes, pass));
    AB_ROUND_PASSES(COMPARE)
#undef COMPARE
}

static const char *version_of(const struct ab_session *s)
{
    return s->tool.version != NULL ? s->tool.version : AB_VERSION;
}

void ab_conditions_compare(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    ab_differences_add(d, "allocbench", version_of(now), version_of(was));
    ab_differences_add(d, "the work", now->kind, was->kind);
    ab_differences_add(d, "the file's sha256", now->config_sha256, was->config_sha256);
    compare_settings(d, now, was);
    ab_differences_add_number(d, "the seed", now->seed, was->seed);
    ab_differences_add_number(d, "--rounds", now->n_rounds_planned, was->n_rounds_planned);
    compare_passes(d, now, was);
    ab_differences_add(d, "tape_sha256", now->tape_sha256, was->tape_sha256);
    compare_phases(d, now, was);
    compare_lanes(d, now, was);
    compare_backends(d, now, was);
}

void ab_conditions_compare_build(struct ab_differences *d, const struct ab_backend_info *now,
                                 const struct ab_backend_info *was, bool with_path)
{
    const struct {
        const char *what, *now, *was;
    } rows[] = {{"the version", now->version, was->version},
                {"the build id", now->build_id, was->build_id},
                {"the file", now->path, was->path}};
    char label[256];
    for (unsigned i = 0; i < 2u + with_path; i++) {
        snprintf(label, sizeof label, "%s of %s", rows[i].what, now->name);
        ab_differences_add(d, label, rows[i].now, rows[i].was);
    }
}
