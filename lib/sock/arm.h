/* SPDX-License-Identifier: BSD-3-Clause */
/* What a protocol of control and its connections of data run on: the kernel's sockets, by
 * arm_kernel(), or our own TCP and UDP on a worker of a port. The protocol does not know which. All
 * of this is control's. An arm has one run of data at a time. */
#pragma once
#include "chan.h"

/* The lines of a thread, while none of them comes or goes. An arm that counts connections together
 * has one line for all of them. */
struct arm_thread {
	unsigned number;
	const void *of;
	struct sock_line *(*next)(const void *of, const struct sock_line *before);
};
typedef void arm_tick_fn(void *arg, const struct arm_thread *, uint64_t now_ns, bool last);

#define ARM_EACH_MOST 62
struct arm_conf {
	struct sock_conf sock; /* without `tick`, whose place the next member takes */
	arm_tick_fn *tick;     /* for each thread */
	/* What all lines are; of those that are adopted NULL. On a port the settings of sockets
	 * mean nothing, but for udp, rst and congestion, and neither do those of single sends and
	 * receives. */
	const struct sock_spec *spec;
	/* On a port, a client's: how many connections there are, to `ports` ports behind each
	 * other from `port` on, from source ports behind each other; of a server, where it
	 * listens. */
	unsigned flows, port, ports, source_port; /* source_port 0: any */
	/* The same: the addresses that they connect from in turn, and the control connection from
	 * the first of them. None: the port's. */
	const struct sock_addr *local;
	unsigned nlocal;
	/* On a port, a client's [flows]: each connection is a line of its own, which is what its
	 * spec says, has a source port behind that of the one before, and opens when that one has
	 * said by its first transaction that it is ready. go() calls flow.on_call of each. NULL:
	 * they are counted together.
	 * A server's: what those connections do that ops->let lets come, which are all those of
	 * one of them, on `port`. Their record tells them apart. */
	const struct sock_spec *each;
};

/* Connections of data to a server. All that comes to its port otherwise is of control. */
enum arm_let {
	ARM_LET_NONE, /* those that are there end */
	ARM_LET_COME, /* to one of arm_conf.each, and those of before are no more */
	ARM_LET_STAY, /* those that are there live on, and no more come */
};

/* A connection that a listener has got: it is taken, or refused. */
typedef int arm_offer;
typedef void arm_accept_fn(void *arg, arm_offer offer, const struct sock_addr *peer);

struct arm_data;
struct arm_listener;
typedef void arm_say_fn(void *arg, const char *key, const char *value, bool number);

struct arm;
struct arm_ops {
	const char *name;
	/* Connections of data are counted together, as one line, whose flow.counts are those of
	 * all: the workload itself keeps to the budget, by flow.on_call alone begins each
	 * connection, and flow.draining says that nothing counts any more. */
	bool together;
	/* Where a server listens; host: one of our own addresses, or "". */
	int (*server_at)(struct arm *, const char *host, unsigned port, int family,
			 struct sock_addr *out, struct err *e);
	/* Keeps of n addresses of a server those that it can reach, at least one, and returns how
	 * many; -errno with *e: none. */
	int (*reach)(struct arm *, struct sock_addr *list, unsigned n, struct err *e);

	/* ---- control: as in chan.h ---- */
	struct chan *(*connect)(struct arm *, const struct sock_addr *to,
				const struct sock_addr *from, const struct sock_tune *,
				const struct chan_ops *, void *arg, struct err *e);
	struct arm_listener *(*listen)(struct arm *, const struct sock_addr *,
				       const struct sock_tune *, arm_accept_fn *, void *arg,
				       struct err *e);
	struct chan *(*take)(struct arm *, arm_offer, const struct chan_ops *, void *arg);
	void (*refuse)(struct arm *, arm_offer);
	void (*unlisten)(struct arm *, struct arm_listener *); /* NULL is allowed */
	/* Bytes of a segment on the way to a server; 0: not known. chan: a connection to it; NULL:
	 * there is none yet. */
	unsigned (*mss)(struct arm *, const struct chan *chan);
	/* Of an arm that is `together`: how many workers there are. Each has a share of a client's
	 * flows as that of a thread, and is one in what tick() and each() are told. */
	unsigned (*workers)(const struct arm *);

	/* Goes on with connections of control, but not longer than so, until it is over; for who is
	 * to end and is called no more. NULL: it cannot. */
	void (*wait)(struct arm *, bool (*over)(const void *arg), const void *arg,
		     uint64_t most_ns);

	/* ---- data: as in sock.h ---- */
	struct arm_data *(*data)(struct arm *, const struct arm_conf *, struct err *e);
	int (*add)(struct arm_data *, unsigned thread, const struct sock_addr *to,
		   const struct sock_addr *from, struct err *e);
	int (*serve)(struct arm_data *, unsigned thread, const struct sock_addr *, struct err *e);
	/* Of the kernel's sockets alone, before start(): a connected one becomes a line. */
	void (*adopt)(struct arm_data *, unsigned thread, const struct sock_spec *, int fd);
	int (*start)(struct arm_data *, struct err *e);
	void (*go)(struct arm_data *);
	void (*stop)(struct arm_data *); /* NULL is allowed */
	void (*free)(struct arm_data *); /* the same */
	/* Calls fn when nobody uses what data() was given any more: behind free(), now or later. */
	void (*later)(struct arm *, void (*fn)(void *arg), void *arg);
	/* fn is called when there are events, from the loop. NULL: no more. */
	void (*watch)(struct arm_data *, loop_fd_fn *fn, void *arg);
	unsigned (*events)(struct arm_data *); /* enum sock_event */
	bool (*error)(struct arm_data *, struct err *e);
	void (*each)(struct arm_data *, void (*fn)(void *arg, struct sock_line *), void *arg);
	bool (*info)(struct arm_data *, const struct sock_line *, struct sock_info *);
	uint64_t (*mapped)(struct arm_data *, const struct sock_line *);
	/* The ends of a line's connection. */
	void (*ends)(struct arm_data *, const struct sock_line *, struct sock_addr *own,
		     struct sock_addr *peer);
	unsigned (*alive)(struct arm_data *); /* connections that are open */
	/* When lines began by go() and ended by stop(), of sock_now_ns(); 0: they have not. */
	uint64_t (*began_ns)(struct arm_data *);
	uint64_t (*ended_ns)(struct arm_data *);
	/* ---- of an arm that is `together`: a server's data (arm_conf.each) ---- */
	/* What the next ones of `which` are to be: mss, recv_buf, tos, congestion; 0 and NULL: as
	 * the port has them. */
	int (*tune)(struct arm *, unsigned which, const struct sock_tune *, struct err *e);
	/* let_done(): it is so, with what tune() has said. */
	void (*let)(struct arm *, enum arm_let, unsigned which);
	bool (*let_done)(struct arm *);
	/* A connection that has come, by its wl_identity(); false: nobody knows it yet. */
	bool (*peer)(struct arm *, uint64_t identity, struct sock_info *, struct sock_addr *own,
		     struct sock_addr *peer);
	/* Says what carries the connections: stack, device, congestion, rto_floor. */
	void (*say)(struct arm_data *, arm_say_fn *, void *arg);
};
struct arm {
	const struct arm_ops *ops;
};

/* That of the kernel's sockets. It is given back by arm_kernel_free(), behind its data. */
struct arm *arm_kernel(struct loop *);
void arm_kernel_free(struct arm *);
