/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port` as its files share it. Control thread. */
#pragma once
#include "arm_port.h"
#include "flows_app.h"
#include "flows_face.h"

enum port_stage {
	PORT_NEW,
	PORT_ASKED, /* it starts as soon as its next hop is known */
	PORT_RUNS,
	PORT_FAILED,
	PORT_ENDS,
};

#define FLOWS_SERVED 2 /* kinds of connections that a server lets come */
struct port_chan;
struct port_arm {
	struct arm base;
	struct cmd_run *r;
	struct ctl *ctl;
	struct loop *loop;
	struct arm_port_ask ask;
	struct portset ports;
	struct sock_addr own, to;
	struct ctl_saved *saved;
	unsigned chan_stream, data_stream;
	enum port_stage stage;
	bool again; /* the start has been asked for before */
	bool stops;
	bool resets;       /* connections of data, which else close */
	uint64_t reset_at; /* what has not closed by then is reset; 0: it was */
	struct err error;
	struct flows_arm *arm;
	int timer;
	struct port_chan *chans;
	arm_accept_fn *accept;
	void *accept_arg;
	struct arm_data *data;
	void (*later)(void *arg);
	void *later_arg;
	struct port_arm *next_dropped;
	struct sbuf tuned[FLOWS_SERVED]; /* lines of settings that hold */
};

static inline struct port_arm *port_of(struct arm *a)
{
	return (struct port_arm *)a;
}

/* The address of one end: where a client connects to, or a server listens. */
static inline const struct sock_addr *port_at(const struct port_arm *a)
{
	return a->to.len > 0 ? &a->to : &a->own;
}
/* Bytes of IP and TCP. */
static inline unsigned port_headers(const struct port_arm *a)
{
	return port_at(a)->sa.any.sa_family == AF_INET6 ? 60 : 40;
}

/* ---- flows_arm_port.c ---- */

void flows_arm_free(struct port_arm *);

/* ---- flows_arm_data.c: connections of data ---- */

extern const struct arm_ops flows_arm_ops;
/* What has become of them, for who watches. */
void flows_data_events(struct arm_data *);

/* ---- flows_arm_own.c: the port's addresses ---- */

int flows_own_server_at(struct arm *, const char *host, unsigned port, int family,
			struct sock_addr *out, struct err *e);
int flows_own_reach(struct arm *, struct sock_addr *list, unsigned n, struct err *e);
/* Those to connect from are the port's own, of the family of the server's. */
int flows_own_check(const struct port_arm *, const struct arm_conf *, struct err *e);

/* ---- flows_arm_served.c: connections of data to a server ---- */

/* An address of 4 or 16 bytes; len 0 if n is neither. */
void flows_addr_make(struct sock_addr *, const uint8_t *ip, unsigned n, unsigned port);
void flows_served_let(struct arm *, enum arm_let, unsigned which);
bool flows_served_let_done(struct arm *);
bool flows_served_peer(struct arm *, uint64_t identity, struct sock_info *, struct sock_addr *own,
		       struct sock_addr *peer);

/* ---- flows_arm_chans.c: connections of control ---- */

struct chan *flows_chan_connect(struct arm *, const struct sock_addr *to,
				const struct sock_addr *from, const struct sock_tune *,
				const struct chan_ops *, void *arg, struct err *e);
struct arm_listener *flows_chan_listen(struct arm *, const struct sock_addr *,
				       const struct sock_tune *, arm_accept_fn *, void *arg,
				       struct err *e);
struct chan *flows_chan_take(struct arm *, arm_offer number, const struct chan_ops *, void *arg);
void flows_chan_refuse(struct arm *, arm_offer number);
void flows_chan_unlisten(struct arm *, struct arm_listener *);
/* What has come goes to them, and what they have put goes out. */
void flows_chans_turn(struct port_arm *);
void flows_chans_wait(struct arm *, bool (*over)(const void *arg), const void *arg,
		      uint64_t most_ns);
/* Waits, but not longer, until those that their protocol has done with have ended. */
void flows_chans_finish(struct port_arm *, uint64_t most_ns);
/* Those that their protocol has done with are no more. */
void flows_chans_free(struct port_arm *);
/* Offers those that have been accepted since. */
void flows_chans_accept(struct port_arm *);

/* ---- flows_arm_streams.c: the streams that carry them ---- */

/* Keeps the port's streams, none of which is sent meanwhile, and adds one of control and so many of
 * data. */
int flows_arm_take_streams(struct port_arm *, unsigned data, struct err *e);
/* Their settings. *source: with arm_conf.each the source port of the first of data. */
int flows_arm_set_streams(struct port_arm *, const struct arm_conf *, unsigned *source,
			  struct err *e);
/* Those of one of a server's kinds of data change. */
int flows_arm_retune(struct arm *, unsigned which, const struct sock_tune *, struct err *e);
/* The port has its streams of before. */
void flows_arm_give_streams(struct port_arm *);
