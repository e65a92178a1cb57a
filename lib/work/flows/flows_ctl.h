/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work flows that belong to control share. */
#pragma once
#include "flows_face.h"
#include "work.h"

extern const struct work work_flows;

static inline const struct flows_cfg *flows_cfg_of(const struct stream_cfg *cfg)
{
	return work_stream_cfg(cfg, &work_flows);
}
