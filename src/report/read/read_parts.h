/* SPDX-License-Identifier: MIT
 *
 * What says of which parts and machines a result is; nothing of it is in older ones.
 */
#ifndef AB_REPORT_READ_READ_PARTS_H
#define AB_REPORT_READ_READ_PARTS_H

#include "report/read/read_records.h"

/* session->shard and parts, of the object config. */
void ab_stored_shard(struct ab_stored_reader *r, const struct ab_json_node *config);
/* session->hosts; each is read by read_host. */
void ab_stored_hosts(struct ab_stored_reader *r, const struct ab_json_node *document,
                     void (*read_host)(struct ab_json_reader *r, const struct ab_json_node *o,
                                       struct ab_host *h));
/* Index of hosts; 0 where there is one machine. */
uint32_t ab_stored_round_host(struct ab_stored_reader *r, const struct ab_json_node *round);

#endif
