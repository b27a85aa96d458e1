/* SPDX-License-Identifier: MIT
 *
 * What a library on disk is good for, by its dynamic symbols: a plug-in, a malloc to preload, or
 * neither and why.
 */
#ifndef AB_BACKEND_LIBRARY_H
#define AB_BACKEND_LIBRARY_H

#include "backend/selection.h"

/* Fills path, dev, ino, build_id, source, and state with its reason, from the file `path`. */
void ab_library_classify(const char *path, struct ab_selection *selection);

#endif
