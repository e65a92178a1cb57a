/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* app/schema.json, as the build has put it here. */
extern const char schema_text[];
