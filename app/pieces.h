/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a list together from the program's own pieces and those of works, so that a work adds to a
 * list without a line in a file outside of its folder. A piece is a record whose first member is
 * `int at`: its place in the list, above 0. An array of pieces ends with a record whose place is
 * 0. */
#pragma once
#include <stddef.h>

struct face;

/* Returns pointers to the pieces of own and to those that of() finds in each face (of() may return
 * NULL: none). size is that of one piece in bytes. The lowest place comes first; pieces with the
 * same place stay in the order in which they were found. The caller frees the array. *n is its
 * length. */
const void **pieces(const void *own, const void *(*of)(const struct face *), size_t size,
		    unsigned *n);
