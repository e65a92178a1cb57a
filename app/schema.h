/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The text of app/schema.json, which the build puts into the program. */
extern const char schema_text[];
