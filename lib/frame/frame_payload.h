/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the payload, which lies between the headers and the end of a frame. */
#pragma once
#include "frame.h"

/* Writes the n payload bytes of the frame of ordinal 0. -EINVAL with text when spec lacks the text
 * or the bytes that its kind of payload repeats. */
int frame_payload(const struct frame_spec *spec, uint8_t *p, unsigned n, struct err *e);
