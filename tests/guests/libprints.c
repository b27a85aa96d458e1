/* SPDX-License-Identifier: MIT
 *
 * Writes to standard output at each 1000th malloc; a harness that passed this on would break the
 * JSON of its caller.
 */
#include <unistd.h>

static void print(void);

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        if (n_mallocs % 1000 == 0) \
            print(); \
    } while (0)
#include "toy.h"

static void print(void)
{
    static const char text[] = "guest was here {\"schema\": 1}\n";
    ssize_t ignored = write(1, text, sizeof text - 1);
    (void)ignored;
}
