/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the parts of frame_compile(). */
#pragma once
#include "frame.h"
#include "run_bits.h"

/* Where the field of val lies in the frame. False: it is not there, or it has no bits. */
bool compile_field_bit(const struct frame *f, const struct frame_val *val, uint32_t *bit);
/* Puts the checksums that the builder filled in into the recipe, the inner before the outer. */
void compile_sums(const struct frame *f, struct frame_recipe *p);
/* Removes the checksums whose own field overlaps these bits: they are not filled in any more. */
void compile_drop_sum(struct frame_recipe *p, uint32_t bit, unsigned bits);
/* Computes what each variation adds to each checksum: coef, pay_coef and linear of the recipe. */
void compile_coef(struct frame_recipe *p);
/* Says in the recipe whether a NIC may fill in the checksums, and which. */
void compile_offload(const struct frame_spec *spec, const struct frame *f, struct frame_recipe *p);
