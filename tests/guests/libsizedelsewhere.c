/* SPDX-License-Identifier: MIT
 *
 * A malloc without sized frees that brings along another library, ELSEWHERE, which has some: blocks must
 * not go there.
 */
#include "toy.h"

#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void bring_along(void)
{
    if (getenv("ELSEWHERE") == NULL || dlopen(getenv("ELSEWHERE"), RTLD_NOW | RTLD_GLOBAL) == NULL)
        __builtin_trap();
}
