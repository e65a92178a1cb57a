/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes tests build with cmocka 1.1 to 2. A test includes this before everything else. cmocka 2 has
 * a macro stop(), a name that tests here need for functions of their own, and it has another name
 * for assert_in_range(). */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef stop
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif
