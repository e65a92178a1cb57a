/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "capture_cfg.h"
#include "capture_face.h"
#include "cmd/show.h"

extern const struct vtype capture_vt_bytes;  /* uint64_t: the size of a file */
extern const struct vtype capture_vt_filter; /* its text alone */
extern const struct setting capture_rows[];  /* ends with a row without a name */
extern const struct verb verb_capture;
extern const struct snap_part part_captures;
show_fn capture_show;
/* Prints such a document. */
void capture_print(struct cmd_run *r, json_t *doc);
