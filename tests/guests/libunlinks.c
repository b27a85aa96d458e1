/* SPDX-License-Identifier: MIT
 *
 * Removes its own file as it is loaded: who then looks where its functions come from finds nothing,
 * as after a chroot.
 */
#include "toy.h"

#include <dlfcn.h>
#include <unistd.h>

__attribute__((constructor)) static void vanish(void)
{
    Dl_info self;
    if (dladdr((void *)vanish, &self) != 0)
        unlink(self.dli_fname);
}
