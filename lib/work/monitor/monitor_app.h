/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "cmd/show.h"
#include "monitor_face.h"

extern const struct verb verb_monitor, verb_received;

/* Appends the time of day: "14:03:07.123456789". */
void monitor_print_time(uint64_t wall_ns, struct sbuf *out);
/* A frame as a document, a new reference. */
json_t *monitor_line_json(const struct monitor_line *l);
/* Prints a frame as the session wants it. first: it is the first one of the command. */
void monitor_print(struct cmd_run *r, const struct monitor_line *l, bool hex, bool first);
