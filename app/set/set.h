/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the setting table, for cmd_new. Field rows are made once from the protocol table. */
#pragma once
#include "cmd.h"

const struct setting *const *set_rows(unsigned *n);
