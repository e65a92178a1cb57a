/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "cmd/show.h"
#include "host_cfg.h"

/* The types of values (value_host.c). `none` is an empty list in all of them. */
extern const struct vtype host_vt_ip;       /* struct host_addrs: "10.0.0.1/24,fd00::1/64" */
extern const struct vtype host_vt_gateway;  /* the same, at most one of each family, no lengths */
extern const struct vtype host_vt_prefixes; /* the same: "10.1.0.0/16" */
extern const struct vtype
	host_vt_neighbours;                /* struct host_statics: "10.0.0.2=02:00:00:00:00:02" */
extern const struct vtype host_vt_address; /* uint8_t[16]: one address of either family */

extern const struct setting host_rows[]; /* ends with a row without a name */
/* Says whether a row is about hosts and the port can be none. */
bool host_idle(const struct setting *row, const struct set_obj *obj);

show_fn host_show, host_show_neighbours;
extern const struct verb verb_garp, verb_clear_neighbours, verb_ping, verb_arping, verb_traceroute;
/* verb_ping.c: the one port that asks, and the stream through whose headers, -1 for none. -EINVAL
 * with *e: these are several. */
int host_asking_port(struct cmd_run *r, const struct arg_val *a, unsigned *port, int *stream,
		     struct err *e);
/* Whether requests may follow each other so fast. -ERANGE with *e. */
int host_asking_every(const struct arg_val *every, uint64_t ns, struct err *e);
