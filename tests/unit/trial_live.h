/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials on real workers, for tests. */
#pragma once
#include "ctl_live.h"
#include "trial.h"

static inline struct trial *begun(const struct trial_spec *s)
{
	struct trial *t = NULL;
	struct err e = {.text = ""};

	if (trial_start(c, s, &t, &e) != 0)
		fail_msg("%s", e.text);
	return t;
}
