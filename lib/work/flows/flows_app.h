/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "flows_cfg.h"

/* The types of values (value_flows.c). */
extern const struct vtype
	flows_vt_app; /* struct flows_app_value: "http", "dialog send 1, recv 2" */
extern const struct vtype flows_vt_file;  /* struct filebytes *, which is not held; NULL: "none" */
extern const struct vtype flows_vt_dead;  /* struct flows_dead_value: "10.1.0.3,10.1.0.4", "none" */
extern const struct vtype flows_vt_close; /* struct flows_close_value: "fin client", "keep" */
/* struct flows_tps_value; vspec.of is a spec of vt_per_second */
extern const struct vtype flows_vt_tps;
/* uint64_t: a number, or 0, which is written as the word vspec.choices[0] */
extern const struct vtype flows_vt_number;
/* Texts of struct flows_cfg: the default is "", and is written as the word vspec.choices[0]. */
extern const struct vtype flows_vt_method, flows_vt_path, flows_vt_host, flows_vt_status,
	flows_vt_header;
/* The same of numbers that vary: vspec.of is a spec of vt_wl_sizes or vt_wl_pauses. */
extern const struct vtype flows_vt_vary;

extern const struct setting flows_rows[]; /* ends with a row without a name */
/* appends rows that are made at run time: flow.src and its like */
void flows_tuple_rows(const struct setting ***rows, unsigned *n);
/* Says whether a row is about flows and the stream is none. */
bool flows_idle(const struct setting *row, const struct set_obj *obj);

extern const struct arm_port flows_arm_port; /* flows_arm_port.c */
extern const struct verb verb_show_connections, verb_show_flows;
extern const struct snap_part part_flows, part_flows_by_dst, part_flow_counts, part_flow_strays,
	part_flow;
/* The parts of a snapshot for lines `interval`; NULL: no flow has run. */
const char *flows_interval(const struct app *app);
/* Adds what the flows of a port do when it starts, for a person. */
void flows_loads(const struct app *app, unsigned port, struct sbuf *out);
