/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include "frame.h"

/* Returns the protocol table as the tests read it, a new reference. */
json_t *table_json(void);
