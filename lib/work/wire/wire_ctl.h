/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "wire" inside control: the device under test that frames of a wire pass in one
 * direction. It is there only while the settings ask for it. To begin, control makes the receiver's
 * queues read from rings of the device and has the sender's bursts stamped (kind "reroute"). When
 * all workers do so, the receiver's first Rx worker gets the task of the device (kind "dut"), which
 * moves frames from the wire to these rings. The device goes in the opposite order, when the
 * settings ask nothing of it and nothing is on its way. Control thread only. */
#pragma once
#include "ctl_int.h"
#include "dut.h"
#include "wire_cfg.h"
#include "wire_face.h"

enum device_phase {
	DEVICE_OFF,
	DEVICE_TURNING, /* the queues are being turned to the device */
	DEVICE_ON,
	DEVICE_LEAVING,   /* the worker is to drop the task of the device */
	DEVICE_RETURNING, /* the queues are being turned back to the wire */
};

struct device {
	struct ctl_port *to, *from;
	enum device_phase phase;
	uint64_t seq; /* plans with a higher number are of this phase */
	bool ready;   /* rings and state are there; only device_fill() is needed */
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
	struct device *device;
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
	return work_cfg(&cp->p.cfg, &work_wire);
}
static inline struct device *device_of(const struct ctl_port *to)
{
	return wire_of(to)->device;
}

/* device_job.c has pure functions of the settings. */
/* How many cells frames need, for all that these settings may make wait at this speed of the
 * link. A device may have fewer. */
uint64_t device_room(const struct wire_cfg *w, uint64_t speed_bps, uint64_t mtu);
/* Do the settings ask for anything that a wire without a device does not do? */
bool device_acts(const struct wire_cfg *w);
/* Makes the law of a normal or exponential delay. */
void device_law(const struct delay *d, struct dut_law *law);
/* Fills a job from the settings: all but line, law and room, and what is about the link and the
 * sender. */
void device_job(const struct wire_cfg *w, uint64_t speed_bps, struct dut_job *out);

/* device_mem.c. Functions that return int return 0, or -errno with the reason in *e. */
/* Makes rings and state, which is done once, and then does device_fill(). */
int device_make(struct device *d, struct err *e);
/* Makes what is missing of buffers and cells. */
int device_fill(struct device *d, struct err *e);
/* Nobody uses the device any more: gives the memory of its cells back. */
void device_empty(struct device *d);
/* Gives its buffers back too, with the frames that lie in its rings. */
void device_unfill(struct device *d);
/* Gives everything back. */
void device_unmake(struct device *d);

/* device_json.c: what `show plan` says of a task. NULL: the task is not of kind "dut". */
json_t *device_task_json(const struct ctl *c, const struct dp_task *task, const void *about);

/* device.c */
/* The port at the other end of the wire. NULL: the port is no wire, or not in use. */
struct ctl_port *wire_peer(const struct ctl *c, const struct ctl_port *cp);
/* What the device has counted since open. */
void device_counts(struct device *d, struct dut_counts *out);
/* The clock is better known by now: period and down are the setting in cycles, converted anew.
 * From its current period on, the link flaps by them. Returns false if nothing changes. */
bool device_flap_follow(struct wire_port *w, uint64_t now, uint64_t period, uint64_t down);
