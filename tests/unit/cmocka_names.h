/* SPDX-License-Identifier: BSD-3-Clause */
/* cmocka from 1.1 to 2: included before all else in what is tested by it. 2 takes the name stop() for a macro of its own, which tests here want for
 * what they test, and asks for another name of assert_in_range(). */
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
