/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <stdbool.h>

struct echo_cfg {
	bool on;
};
