/* SPDX-License-Identifier: MIT
 *
 * SHA-256 of a file.
 */
#ifndef AB_CORE_FILE_DIGEST_H
#define AB_CORE_FILE_DIGEST_H

#include <stdbool.h>

/* Computes the digest in hexadecimal. Returns false, with errno set, if the file cannot be read to
 * its end. */
bool ab_file_digest(const char *path, char hex[65]);

#endif
