/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "monitor" as the program sees it. */
#include "face.h"
#include "monitor_app.h"

static const struct verb_row verbs[] = {{250, &verb_monitor}, {0}};

const struct face face_monitor = {.verbs = verbs, .received = &verb_received};
