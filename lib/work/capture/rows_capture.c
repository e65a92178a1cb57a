/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of captures. */
#include "capture_app.h"
#include "set/rows.h"

extern const struct work work_capture;

#define TEXT_OF(n) TEXT_OF_IT(n)
#define TEXT_OF_IT(n) #n

const struct setting capture_rows[] = {
	{.name = "capture.memory",
	 .scope = &scope_port,
	 .v = {&vt_uint, 1, CAPTURE_MOST_MEMORY},
	 .dflt = TEXT_OF(CAPTURE_DFLT_MEMORY),
	 .unit = "MB",
	 .offset = offsetof(struct capture_cfg, memory),
	 .store = &set_work_store,
	 .arg = &work_capture,
	 .why = WHY_WORK,
	 .help = "memory of a capture of the port, in 10^6 bytes, for frames that are not written yet; the next capture takes it"},
	{0},
};
