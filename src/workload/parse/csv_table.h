/* SPDX-License-Identifier: MIT
 *
 * A distribution out of a CSV file.
 */
#ifndef AB_WORKLOAD_PARSE_CSV_TABLE_H
#define AB_WORKLOAD_PARSE_CSV_TABLE_H

#include "workload/parse/dist_read.h"

/* Fills the rows of a TABLE from a csv file beside the workload; columns are names out of the
 * first line, or numbers from 1 when there is no such line. */
bool ab_csv_read(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_value *call,
                 struct ab_dist *d);

#endif
