/* SPDX-License-Identifier: MIT
 *
 * Programs and libraries that are of use here and may be missing. Without one of them the rest
 * works, so none is a warning.
 */
#include "doctor/doctor.h"

#include "backend/presets.h"
#include "backend/selection.h"
#include "core/system_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void find_tool(const struct ab_doctor_view *view, const char *name, const char *remedy,
                      struct ab_doctor_finding *out)
{
    char path[PATH_MAX];
    for (const char *s = view->path; s != NULL && *s != 0;) {
        size_t n = strcspn(s, ":");
        if (n > 0 && s[0] == '/' &&
            snprintf(path, sizeof path, "%.*s/%s", (int)n, s, name) < (int)sizeof path &&
            ab_system_file_exists(view->root, path)) {
            ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s", path);
            return;
        }
        s += n + (s[n] == ':');
    }
    ab_doctor_finding_set(out, AB_DOCTOR_NOTE, remedy, "not installed");
}

void ab_doctor_valgrind(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    find_tool(view, "valgrind", "sudo apt install valgrind", out);
}

bool ab_doctor_library(size_t i, struct ab_doctor_finding *out)
{
    struct ab_selection_list list;
    struct ab_err err;
    char remedy[128];
    if (i >= ab_preset_count())
        return false;
    const struct ab_preset *p = ab_preset_at(i);
    *out = (struct ab_doctor_finding){.id = p->name,
                                      .why = "a malloc library that can be measured by its name"};
    if (ab_selection_parse(&p->name, 1, NULL, &list, &err) != AB_OK) {
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "%s", err.text);
        return true;
    }
    const struct ab_selection *s = &list.items[0];
    snprintf(remedy, sizeof remedy, "sudo apt install %s", p->package);
    if (s->state == AB_SELECTION_OK)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s",
                              s->version[0] != 0 ? s->version : s->path);
    else
        ab_doctor_finding_set(out, AB_DOCTOR_NOTE, remedy, "%s",
                              s->state == AB_SELECTION_ABSENT ? "not installed" : s->reason);
    ab_selection_list_fini(&list);
    return true;
}
