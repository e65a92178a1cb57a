/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work recorder that belong to the program share. */
#pragma once
#include "cmd/show.h"
#include "recorder_face.h"

extern const struct verb verb_recorder;
show_fn recorder_show;
/* The value is a struct recorder_what: "loss,reorder", "latency>1ms". */
extern const struct vtype recorder_vt_what;
/* Kinds without latency, which is what `on` alone means. */
#define RECORDER_ALL ((1u << RECORDER_LATENCY) - 1)
