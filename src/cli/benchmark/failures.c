/* SPDX-License-Identifier: MIT
 *
 * Prints what became of back ends that a result has no numbers of.
 */
#include "cli/benchmark/failures.h"

#include "core/text.h"

#include <stdio.h>

int ab_failures_tell(const struct ab_session *session, bool is_quiet)
{
    int exit_code = 0;
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i];
        if (ab_backend_status_has_numbers(b->status))
            continue;
        bool is_error = b->was_named || b->status != AB_BACKEND_ABSENT;
        char name[300], reason[1400];
        if (is_error)
            exit_code = ab_status_exit_code(AB_BACKEND);
        if (is_error || !is_quiet)
            fprintf(stderr, "allocbench: %s: %s: %s: %s\n", is_error ? "error" : "warning",
                    ab_text_printable(name, sizeof name, b->name),
                    ab_backend_status_name(b->status),
                    ab_text_printable(reason, sizeof reason, b->reason));
    }
    return exit_code;
}
