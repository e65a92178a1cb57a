/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the work beacon. */
#pragma once
#include <stdbool.h>

struct beacon_cfg {
	bool on;
};
