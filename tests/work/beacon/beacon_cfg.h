/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <stdbool.h>

struct beacon_cfg {
	bool on;
};
