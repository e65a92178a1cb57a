/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "wire" inside control: the device under test that frames of a wire pass in one
 * direction. It is there only while the settings ask for it. To begin, control makes the receiver's
 * queues read from rings of the device and has the sender's bursts stamped (kind "reroute"). When
 * all workers do so, the receiver's first Rx worker gets the task of the device (kind "dut"), which
 * moves frames from the wire to these rings. The device goes in the opposite order, when the
 * settings ask nothing of it and nothing is on its way. Control thread only. */
#pragma once
#include "work.h"
#include "dut.h"
#include "wire_cfg.h"
#include "wire_face.h"

enum wire_stage {
	WIRE_DUT_OFF,
	WIRE_DUT_TURNING, /* the queues are being turned to the device */
	WIRE_DUT_ON,
	WIRE_DUT_LEAVING,   /* the worker is to drop the task of the device */
	WIRE_DUT_RETURNING, /* the queues are being turned back to the wire */
};

struct wire_dut {
	struct ctl_port *to, *from;
	enum wire_stage stage;
	uint64_t seq; /* plans with a higher number are of this stage */
	bool ready;   /* rings and state are there; only wire_dut_fill() is needed */
	/* failed: the device could not be made with the settings failed_cfg; `why` says why. */
	bool failed;
	struct wire_cfg failed_cfg;
	char why[256];
	struct dut_line line;
	void *pool_mem, *mem; /* mapped memory of the buffers, and of the frames inside */
	size_t pool_bytes, mem_bytes;
	uint64_t room_wanted; /* cells that the settings ask for */
	struct dut_state *state;
	struct dut_sender sender[DUT_QUEUES]; /* of each Tx queue of the sender */
	/* States of kind "reroute": of each Rx queue of the receiver, then of each Tx queue of the
	 * sender. */
	struct dp_state *route;
	struct delay law_of; /* the setting for which `law` was made */
	struct dut_law *law;
	bool idle_told; /* the plan says that the sender is idle */
	bool rest_told; /* a note that there is too little room was given */
	/* Counts from before the state was last zeroed, those of the state as last read, and the
	 * baseline of the last `clear`. */
	struct dut_counts past, seen, base;
};

/* What this work keeps for each port. */
struct wire_port {
	/* The device that frames pass on their way to this port. NULL: there never was one. */
	struct wire_dut *dut;
	struct flap flap;                /* the setting as it was last looked at */
	uint64_t flap_tsc;               /* from when on its periods are counted, in cycles */
	uint64_t flap_period, flap_down; /* the setting in cycles */
	uint64_t flapped;                /* how many changes of the link by it have been told */
};
extern const struct work work_wire;
static inline struct wire_port *wire_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_wire);
}
static inline const struct wire_cfg *wire_cfg_of(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_wire);
}
static inline struct wire_dut *wire_dut_of(const struct ctl_port *to)
{
	return wire_of(to)->dut;
}

/* wire_job.c has pure functions of the settings. */
/* How many cells frames need, for all that these settings may make wait at this speed of the
 * link. A device may have fewer. */
uint64_t wire_dut_room(const struct wire_cfg *w, uint64_t speed_bps, uint64_t mtu);
/* Do the settings ask for anything that a wire without a device does not do? */
bool wire_dut_acts(const struct wire_cfg *w);
/* Makes the law of a normal or exponential delay. */
void wire_dut_law(const struct delay *d, struct dut_law *law);
/* Fills a job from the settings: all but line, law and room, and what is about the link and the
 * sender. */
void wire_dut_job(const struct wire_cfg *w, uint64_t speed_bps, struct dut_job *out);

/* wire_mem.c. Functions that return int return 0, or -errno with the reason in *e. */
/* Makes rings and state, which is done once, and then does wire_dut_fill(). */
int wire_dut_make(struct wire_dut *d, struct err *e);
/* Makes what is missing of buffers and cells. */
int wire_dut_fill(struct wire_dut *d, struct err *e);
/* Nobody uses the device any more: gives the memory of its cells back. */
void wire_dut_empty(struct wire_dut *d);
/* Gives its buffers back too, with the frames that lie in its rings. */
void wire_dut_unfill(struct wire_dut *d);
/* Gives everything back. */
void wire_dut_unmake(struct wire_dut *d);

/* wire_json.c: what `show plan` says of a task. NULL: the task is not of kind "dut". */
json_t *wire_dut_task_json(const struct ctl *c, const struct dp_task *task, const void *about);

/* wire_ctl.c */
/* The port at the other end of the wire. NULL: the port is no wire, or not in use. */
struct ctl_port *wire_peer(const struct ctl *c, const struct ctl_port *cp);
/* What the device has counted since open. */
void wire_dut_counts(struct wire_dut *d, struct dut_counts *out);
/* The clock is better known by now: period and down are the setting in cycles, converted anew.
 * From its current period on, the link flaps by them. Returns false if nothing changes. */
bool wire_dut_flap_follow(struct wire_port *w, uint64_t now, uint64_t period, uint64_t down);
