/* SPDX-License-Identifier: MIT
 *
 * The images of one spool and what they have from each other: a forked child begins with the
 * blocks that lived in its parent at the fork. To know them the parent's events are gone through
 * as far as the fork; a parent that has been followed that far is kept for its later children.
 */
#ifndef AB_RECORD_FAMILY_H
#define AB_RECORD_FAMILY_H

#include "record/address_map.h"
#include "record/spool_reader.h"

struct ab_family;

/* Folder and images stay the caller's, and stay as they are. */
enum ab_status ab_family_open(const char *folder, const struct ab_spool_entry *images, size_t n,
                              struct ab_family **out, struct ab_err *err);
void ab_family_close(struct ab_family *f);
const char *ab_family_folder(const struct ab_family *f);

/* The blocks that the image's process had at its start, in the order of their allocations; free
 * *out. None where it was no fork, or where the parent's recording does not reach it. */
enum ab_status ab_family_inherited(struct ab_family *f, const struct ab_spool_entry *image,
                                   struct ab_held **out, size_t *n, struct ab_err *err);

#endif
