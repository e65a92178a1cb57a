/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about flows. */
#pragma once
#include "ctl.h"
#include "flows_cfg.h"
#include "workload_run.h"

/* All flows of these ports, {"show":"flows","flows":[..]}, as docs/flows.md says; a new reference.
 * Totals are since the last clear, rates are those of the last full second. */
json_t *flows_json(struct ctl *c, const struct portset *ports);
/* The same by their servers, {"show":"flows_by_dst","flows":[..],"servers":[..]}, as docs/flows.md
 * says. */
json_t *flows_by_dst_json(struct ctl *c, const struct portset *ports);
/* Whether there is any of them, and any that counts by servers. */
bool flows_any(const struct ctl *c);
bool flows_any_by_dst(const struct ctl *c);
/* An array with the counters of each flow by the names that they have in tables, those of flows
 * whose streams were deleted, too: {"port","stream","role","protocol": "tcp", "udp" or null,"http": whether
 * it has that workload,"method": null if it is not known,"connections": of flow_counts_table,
 * "transactions":{"started","done","failed","mismatched"},"responses":{"2xx","other"},"requests": a server's by {"head","post","put"},"numbers": of
 * wl_numbers_table,"first_trip": {"count","sum_ns"} of a client with one transaction on each
 * connection: from the SYN to its answer, over UDP from the request to the response; else null}. */
json_t *flows_counts_json(struct ctl *c);
/* What flows have claimed and was of none of their connections, of each port that has flows:
 * [{"port","fragments": first ones,"malformed","bad_checksum","no_match","rst_sent": the answers to
 * those,"dead": those to dead servers,"hand_full": those that a worker could not hand over to another
 * one}], frames since the last `clear`. A new reference. */
json_t *flows_strays_json(struct ctl *c);
/* One of them, in which each of "latency" also has "bins" (hist_bins_json()) and "percentiles_ns"
 * (hist_json()). NULL: the stream has never run as a flow. */
json_t *flows_one_json(struct ctl *c, unsigned port, unsigned stream);

/* Samples of connections take workers a moment: flows_ask() begins to ask the port's workers for n
 * of them, at most FLOWS_SAMPLES_MOST, and flows_answered() says whether all have answered; it is
 * to be asked after each ctl_turn(). -EINVAL with *e: the port has no flow that has ever run. */
#define FLOWS_SAMPLES_MOST 256
int flows_ask(struct ctl *c, unsigned port, unsigned n, struct err *e);
bool flows_answered(const struct ctl *c, unsigned port);
/* What was answered last, a new reference: {"show":"connections","port":N,"connections":[{"stream",
 * "queue","state","src","sport","dst","dport","protocol","cwnd","ssthresh": null if none,"rtt_ns":
 * null if not measured,"rto_ns","unacked","unsent": null: without end,"peer_window","mss",
 * "retries","number"}]} */
json_t *flows_connections_json(struct ctl *c, unsigned port);

/* The values that a port of TCP or UDP has in connections of this stream if nobody has set it.
 * false: what is sent is what all streams send. nth: which of the headers of this protocol. */
bool flows_field_default(const struct stream_cfg *cfg, const struct proto *p, unsigned nth,
			 const struct field *f, struct vary *out);

/* flows_file.c: whether the files that a flow has as its requests and responses can be what its
 * other settings say; udp: of its frame. -EINVAL with *e, and what to do. */
int flows_files_check(const struct stream_cfg *cfg, bool udp, struct err *e);

/* ---- a program's protocol on a port (flows_arm_ctl.c) ---- */

/* One stream of the port carries its connections of control, which have buffers, and another one
 * its data. It is made before they start, and the streams' own settings say where to. With nlines
 * the port has one queue, or -ENOTSUP with *e; -EBUSY: another one runs there. */
struct flows_arm;
struct flows_arm_ask {
	unsigned port, chan_stream, data_stream;
	bool client;
	unsigned flows; /* a client's connections of data */
	/* 0, or so many streams from data_stream on have one connection of data each, a line, and
	 * like is an array of what they do. Of a server they have those that flows_arm_let() lets
	 * come. -EINVAL: too many. */
	unsigned nlines;
	/* What the data does: wl, conf, content, ncontent, own, on_call. They live until `free` was
	 * called, which is later than flows_arm_end(). */
	const struct wl_flow *like;
	void *const *owns; /* without nlines: own of each queue's worker */
	void (*free)(void *arg);
	void *arg;
};
struct flows_arm *flows_arm_new(struct ctl *c, const struct flows_arm_ask *ask, struct err *e);
void flows_arm_end(struct flows_arm *a);

/* Connections of control, by number. -ENOSPC: there are no more; of a client before its start
 * -EAGAIN. */
int flows_arm_connect(struct flows_arm *a);
struct flows_arm_chan {
	bool used;  /* also by one that was accepted, and that nobody knows yet */
	bool open;  /* established */
	bool ended; /* the peer sends nothing more, and all was read */
	int error;  /* errno: why it has gone; 0: it has not, or both ends have closed */
	bool gone;
	uint64_t waiting; /* bytes that were put and the peer may not have */
};
void flows_arm_chan(struct flows_arm *a, unsigned chan, struct flows_arm_chan *out);
unsigned flows_arm_chans(const struct flows_arm *a);

/* The other end of one that was accepted, 4 or 16 bytes; 0: it is not known. */
unsigned flows_arm_peer(const struct flows_arm *a, unsigned chan, uint8_t ip[16], unsigned *port);
size_t flows_arm_put(struct flows_arm *a, unsigned chan, const void *data, size_t n);
size_t flows_arm_get(struct flows_arm *a, unsigned chan, void *data, size_t n);
void flows_arm_close(struct flows_arm *a, unsigned chan); /* FIN behind what was put */
void flows_arm_forget(struct flows_arm *a, unsigned chan);

/* A client's connections of data open; all: and begin. */
void flows_arm_go(struct flows_arm *a, bool all);
void flows_arm_stop(struct flows_arm *a);
struct flows_arm_look {
	/* since go, until now or stop */
	uint64_t done, tx_bytes, rx_bytes, tx, rx, retransmitted;
	uint64_t established, open, failed, ended; /* since the start */
	bool went, stopped;
	uint64_t went_ago_ns, stopped_ago_ns, first_ago_ns; /* 0: it has not happened */
	const char *why;                                    /* the connections that failed did */
};
/* Of one of its workers. */
void flows_arm_look(const struct flows_arm *a, unsigned worker, struct flows_arm_look *out);
struct flows_arm_line {
	bool ready, failed, ended; /* before it was ready, and then */
	uint64_t tx_bytes, rx_bytes, tx, rx, retransmitted;
	uint32_t cwnd, window, mss; /* of some ms ago; 0: not known */
	uint32_t unacked;
	uint64_t srtt_ns;
	const char *why; /* it failed */
};
void flows_arm_line(const struct flows_arm *a, unsigned line, struct flows_arm_line *out);
/* Connections may come to one of a server's lines alone, or to none, and those that are there stay
 * or end. flows_arm_let_done(): it is so, with the settings that the line has now. */
enum flows_arm_let { FLOWS_ARM_NONE, FLOWS_ARM_COME, FLOWS_ARM_STAY };
void flows_arm_let(struct flows_arm *a, enum flows_arm_let let, unsigned line);
bool flows_arm_let_done(const struct flows_arm *a);
/* One that has come, by its wl_identity(); false: it was not seen yet. */
struct flows_arm_peer_look {
	uint32_t cwnd, window, mss, resent;
	uint64_t srtt_ns;
	uint8_t ip[16]; /* of the other end, 4 or 16 bytes */
	unsigned ip_len, port;
};
bool flows_arm_peer_look(const struct flows_arm *a, uint64_t identity,
			 struct flows_arm_peer_look *out);
unsigned flows_queues(const struct ctl *c, unsigned port);
uint64_t flows_mtu(const struct ctl *c, unsigned port); /* in force, or with the next start */
/* The least time before a segment of the stream is sent again. */
uint64_t flows_rto_ns(const struct stream_cfg *cfg);
