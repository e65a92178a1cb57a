/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that are put together of pieces, so that who adds to one needs no line in a file of others. A piece is a record whose first member is
 * `int at`, its place, above 0; an array of them ends with a record whose place is 0. */
#pragma once
#include <stddef.h>

struct face;

/* The program's own pieces, and those that of() gives of each kind of work (NULL: none), each of that size. Lowest place first, equals in the order
 * in which they stand. New; *n: how many. */
const void **pieces(const void *own, const void *(*of)(const struct face *), size_t size, unsigned *n);
