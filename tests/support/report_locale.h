/* SPDX-License-Identifier: MIT */
#ifndef AB_TESTS_REPORT_LOCALE_H
#define AB_TESTS_REPORT_LOCALE_H

#include <stdbool.h>

/* Switches to a locale with a decimal comma: an installed one, or one that localedef builds in a
 * temporary folder. false = this machine can do neither. */
bool fake_german_locale(void);

#endif
