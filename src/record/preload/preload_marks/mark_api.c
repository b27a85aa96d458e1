/* SPDX-License-Identifier: MIT
 *
 * What src/record/mark.h calls when the recorder is there.
 */
#include "record/preload/preload_spool.h"

#include <errno.h>

__attribute__((visibility("default"))) void allocbench_mark_record(const char *name);

__attribute__((visibility("default"))) void allocbench_mark_record(const char *name)
{
    int saved = errno;
    ab_spool_note_mark(name != NULL ? name : "");
    errno = saved;
}
