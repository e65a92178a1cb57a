/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "wire" inside control: the device under test that frames of a wire pass in one direction. It is there only while the settings ask for
 * it: control turns the receiver's queues to rings of its own and has the sender's bursts stamped (kind "reroute"), and when this is so, has the
 * receiver's first Rx worker read them (kind "dut"). It goes, in the opposite order, when nothing is asked of it and nothing is on its way.
 * Control thread. */
#pragma once
#include "ctl_int.h"
#include "dut.h"
#include "wire_cfg.h"
#include "wire_face.h"

enum device_phase {
	DEVICE_OFF,
	DEVICE_TURNING,   /* the queues go over to it */
	DEVICE_ON,
	DEVICE_LEAVING,   /* the worker lets go of it */
	DEVICE_RETURNING, /* the queues go back to the wire */
};

struct device {
	struct ctl_port *to, *from;
	enum device_phase phase;
	uint64_t seq;              /* plans with a higher number have the phase */
	bool ready;                /* all of it is there; */
	bool failed;               /* and cannot be made with these settings: */
	struct wire_cfg failed_cfg;
	char why[256];
	struct dut_line line;
	void *pool_mem, *mem;      /* mapped */
	size_t pool_bytes, mem_bytes;
	uint64_t room_wanted;      /* cells */
	struct dut_state *state;
	struct dut_sender sender[DUT_QUEUES]; /* per Tx queue of the sender */
	struct dp_state *route;    /* per Rx queue of the receiver, then per Tx queue of the sender */
	struct delay law_of;       /* what law was made for */
	struct dut_law *law;
	bool idle_told;            /* the plan says that the sender is idle */
	bool rest_told;            /* a note about too little room was given */
	struct dut_counts past, seen, base; /* before its state was zeroed; of its state; at `clear` */
};

/* What a wire keeps of a port. */
struct wire_port {
	struct device *device;     /* what frames pass on their way to this port; NULL: never was */
	struct flap flap;          /* as it was last looked at, */
	uint64_t flap_tsc;         /* and since when it goes on, with this period and down time in cycles; */
	uint64_t flap_period, flap_down;
	uint64_t flapped;          /* changes of the link by it that were told */
};
extern const struct work work_wire;
static inline struct wire_port *wire_of(const struct ctl_port *cp) { return work_port(cp, &work_wire); }
static inline const struct wire_cfg *wire_cfg_of(const struct ctl_port *cp) { return work_cfg(&cp->p.cfg, &work_wire); }
static inline struct device *device_of(const struct ctl_port *to) { return wire_of(to)->device; }

/* device_job.c: pure. cells: that frames may take, by what the settings make wait at that link speed; more than most are not there. */
uint64_t device_room(const struct wire_cfg *w, uint64_t speed_bps, uint64_t mtu);
bool device_acts(const struct wire_cfg *w); /* they say anything that a plain wire does not do */
void device_law(const struct delay *d, struct dut_law *law); /* normal and exponential */
/* All but line and law, and what belongs to the link. */
void device_job(const struct wire_cfg *w, uint64_t speed_bps, struct dut_job *out);

/* device_mem.c */
int device_make(struct device *d, struct err *e);    /* its rings and its state too, once */
int device_fill(struct device *d, struct err *e);    /* pool and cells */
void device_empty(struct device *d);                 /* nobody uses it: cells go */
void device_unfill(struct device *d);                /* its buffers too, and frames that lie in its rings */
void device_unmake(struct device *d);                /* and all else */

/* device_json.c */
json_t *device_task_json(const struct ctl *c, const struct dp_task *task, const void *about); /* NULL: it is of another kind */

/* device.c */
struct ctl_port *wire_peer(const struct ctl *c, const struct ctl_port *cp); /* NULL: no wire, or closed */
void device_counts(struct device *d, struct dut_counts *out); /* since open */
bool device_flap_follow(struct wire_port *w, uint64_t now, uint64_t period, uint64_t down); /* cycles of the refined clock; false: nothing changes */
