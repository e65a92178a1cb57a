/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the parts of frame_compile(). */
#pragma once
#include "frame.h"
#include "run_bits.h"

/* Where the field of val lies in the frame; false: nowhere, or it has no bits. */
bool compile_field_bit(const struct frame *f, const struct frame_val *val, uint32_t *bit);
/* The checksums that the builder filled in, the inner before the outer. */
void compile_sums(const struct frame *f, struct frame_plan *p);
/* Checksums whose own bits are among these are no longer filled in. */
void compile_drop_sum(struct frame_plan *p, uint32_t bit, unsigned bits);
/* What each variation adds to each checksum. */
void compile_coef(struct frame_plan *p);
/* May a NIC fill in the checksums? */
void compile_offload(const struct frame_spec *spec, const struct frame *f, struct frame_plan *p);
