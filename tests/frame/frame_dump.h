/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include "frame.h"

/* The protocol table as the tests read it. Caller decrefs. */
json_t *table_json(void);
