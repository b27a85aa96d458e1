/* SPDX-License-Identifier: MIT
 *
 * Runs the checks in the order of checks.def.
 */
#include "doctor/doctor.h"

#include "base/bits.h"
#include "result/environment.h"

static const struct {
    const char *id, *why;
    void (*look)(const struct ab_doctor_view *view, struct ab_doctor_finding *out);
} checks[] = {
#define AB_DOCTOR_CHECK(id, function, why) {id, why, function},
#include "doctor/checks.def"
#undef AB_DOCTOR_CHECK
};

void ab_doctor_look(const char *root, const char *path, struct ab_doctor_view *out)
{
    *out = (struct ab_doctor_view){.root = root, .path = path};
    ab_environment_read_below(root, &out->host);
}

size_t ab_doctor_run(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    size_t n = 0;
    for (; n < AB_ARRAY_LEN(checks); n++) {
        out[n] = (struct ab_doctor_finding){
            .id = checks[n].id, .why = checks[n].why, .state = AB_DOCTOR_UNKNOWN};
        checks[n].look(view, &out[n]);
    }
    for (size_t i = 0; n < AB_DOCTOR_MAX && ab_doctor_library(i, &out[n]); i++)
        n++;
    return n;
}
