/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/vary: what the files share that make variations of texts, and texts of variations. s
 * is the spec of a vt_vary, whose `of` describes one value. */
#pragma once
#include "form.h"
#include "vary.h"

unsigned vary_text_width(const struct vspec *s); /* of a value, in bits */
bool vary_text_is_ip(const struct vspec *s);
bool vary_text_is_flags(const struct vspec *s);
/* Whether values have colons of their own, so that brackets tell them from a weight. */
bool vary_text_has_colons(const struct vspec *s);

/* Reads one value, `A..B` whose dots are at `dots`, or a prefix whose slash is at `slash`: of one
 * with bits beside its length *one becomes true. */
int vary_text_one(const struct vspec *s, const struct form *f, size_t at, size_t len, vary_u *out,
		  struct err *e);
int vary_text_bounds(const struct vspec *s, const struct form *f, size_t dots, vary_u *a, vary_u *b,
		     struct err *e);
int vary_text_prefix(const struct vspec *s, const struct form *f, size_t slash, struct vary *v,
		     bool *one, struct err *e);
void vary_text_put(const struct vspec *s, vary_u x, struct sbuf *out);

/* vary_list.c: whether the values are a list, which may be one of one item with a weight; reads it:
 * *list, if it is more than one value, is to be freed; and prints it. */
bool vary_text_is_list(const struct vspec *s, const struct form *f);
int vary_text_list(const struct vspec *s, const struct form *f, struct vary *v, vary_u **list,
		   struct err *e);
void vary_text_put_list(const struct vspec *s, const struct vary *v, struct sbuf *out);
