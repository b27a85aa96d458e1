/* SPDX-License-Identifier: MIT
 *
 * cmocka with the headers that it wants to see first.
 */
#ifndef AB_TESTS_SUPPORT_CMOCKA_H
#define AB_TESTS_SUPPORT_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
