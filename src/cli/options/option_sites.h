/* SPDX-License-Identifier: MIT
 *
 * --sites [N]: of `record` the depth of the stacks, of `trace` how many sites are shown. The number
 * may be left out.
 */
#ifndef AB_CLI_OPTIONS_OPTION_SITES_H
#define AB_CLI_OPTIONS_OPTION_SITES_H

#include "app/options.h"

enum { AB_SITE_DEPTH_DEFAULT = 8, AB_SITES_SHOWN_DEFAULT = 20 };

/* In the order of enum ab_site_order; ends with NULL. */
extern const char *const ab_option_site_orders[];

bool ab_option_is_count(const char *word);
/* value NULL = the default. */
enum ab_status ab_option_site_depth(const char *name, const char *value, struct ab_options *o,
                                    struct ab_err *err);
enum ab_status ab_option_sites(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err);

#endif
