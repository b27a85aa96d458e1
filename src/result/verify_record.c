/* SPDX-License-Identifier: MIT
 *
 * The frozen names of verdicts and of the resulting status.
 */
#include "result/verify_record.h"

#include "base/bits.h"

const char *ab_verify_verdict_name(unsigned verdict)
{
    static const char *const names[] = {"ok",      "failed",  "not_proven", "crashed",
                                        "timeout", "skipped", "info"};
    return verdict < AB_ARRAY_LEN(names) ? names[verdict] : "unknown";
}

bool ab_verify_verdict_fails(enum ab_verify_verdict verdict)
{
    return verdict != AB_VERIFY_OK && verdict != AB_VERIFY_SKIPPED && verdict != AB_VERIFY_INFO;
}

const char *ab_verify_status_name(const struct ab_verify_backend *b)
{
    return b->n_failed == 0                 ? "conforming"
           : b->n_failed == b->n_not_proven ? "unproven"
                                            : "nonconforming";
}
