/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "flows" as the program sees it. */
#include "face.h"
#include "flows_app.h"

static const struct set_chunk rows[] = {{790, flows_rows}, {791, .add = flows_tuple_rows}, {0}};

const struct face face_flows = {.rows = rows, .idle_row = flows_idle};
