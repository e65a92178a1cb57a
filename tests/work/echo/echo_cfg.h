/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the work echo. */
#pragma once
#include <stdbool.h>

struct echo_cfg {
	bool on;
};
