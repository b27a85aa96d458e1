/* SPDX-License-Identifier: MIT
 *
 * SHA-256 of a file.
 */
#ifndef AB_CORE_FILE_DIGEST_H
#define AB_CORE_FILE_DIGEST_H

#include <stdbool.h>

/* In hexadecimal. False when the file cannot be read to its end, errno says why. */
bool ab_file_digest(const char *path, char hex[65]);

#endif
