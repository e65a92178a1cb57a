/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of TCP and UDP as a machine: frames in, frames out, time given. This is the half for
 * workers: nothing here waits, allocates, logs, or reads a clock. flow.h has the half of control.
 *
 * A machine has the connections of one queue of one port. It is one thread's. In each turn its
 * owner calls, with one time `now_ns`, which must not go back:
 *   flow_rx()     what was received, as arrays of frames;
 *   flow_open(), flow_go()   what is due: connections, transactions;
 *   flow_poll()   acknowledgements, timers, what back-pressure had held back.
 * What is to be sent is put into the sink during all of these calls, and the owner hands it to the
 * device behind them. Times are nanoseconds, lengths are bytes, addresses and ports are in the
 * machine's own order, but IPv6 addresses, which are 16 bytes in the order of the network.
 *
 * What a connection sends is a function of its flow and an offset (workload_run.h): no byte is kept
 * for sending again. What it receives is counted, and compared where the workload does so.
 *
 * TCP is that of RFC 9293 with RFC 7323 (window scale alone), 6298, 5681, 6582, 9438, 2018, 6675,
 * 8985, 5961 and 6528. */
#pragma once
#include "workload_run.h"

struct flow_machine;

/* ---- frames ---- */

/* What is known of the checksums of a received frame. */
enum flow_verdict {
	FLOW_SUM_UNKNOWN, /* the machine computes them */
	FLOW_SUM_GOOD,
	FLOW_SUM_BAD,
	/* Nobody can tell: the sender of this machine left a part to a device (its field holds the
	 * sum of the pseudo header alone), or bytes are missing; or nobody is to look. Counted as
	 * `unverified`. */
	FLOW_SUM_PARTIAL,
};

/* A piece of a frame that lies in several. */
struct flow_piece {
	const uint8_t *data; /* NULL: len bytes that nobody kept */
	uint32_t len;
	const struct flow_piece *next;
};

/* A received frame. All headers up to the payload of TCP or UDP lie in the first piece. Nothing is
 * kept of it when the call returns. */
struct flow_in {
	const uint8_t *data;
	uint32_t len; /* bytes at data, without FCS */
	uint16_t l3;  /* where the innermost IP header begins */
	/* Where TCP or UDP begins; 0: the machine looks, behind an IPv4 header with options, or an
	 * IPv6 header without extension headers. l4_udp: which of both, if l4 is given. */
	uint16_t l4;
	bool l4_udp;
	uint16_t ident;   /* the identity of the encapsulation: VLANs, VNI, ...; see flow_path */
	uint8_t verdict;  /* enum flow_verdict */
	uint8_t segments; /* frames on the wire that it was made of (LRO, GRO); 0: one */
	const struct flow_piece *rest; /* what follows data; NULL: nothing */
};

/* A frame to be sent. */
struct flow_out {
	void *handle; /* of the buffer, as it was in struct flow_room */
	uint32_t len; /* bytes at the buffer's data, without FCS */
	/* So many more bytes are to follow them: WL_X, which the buffer holds (FLOW_FILLED), or of
	 * frames with `segment` those at wl_rest[rest]. */
	uint32_t fill;
	union {
		struct {
			/* where the innermost IP header, TCP or UDP, and payload begin */
			uint16_t l3, l4, payload;
			/* Not 0: TCP payload of more than one segment, to be cut into pieces of
			 * this size. */
			uint16_t segment;
		};
		uint64_t places; /* all four at once */
	};
	/* The checksum of TCP or UDP is the sum of the pseudo header, not inverted, for a device to
	 * finish; without FLOW_OFFLOAD_SUM in the sink never set. An IPv4 header's is always
	 * complete, but for frames with `segment`, which the device completes for each piece. */
	bool sum_wanted;
	uint32_t rest; /* only of frames with `segment` and `fill` */
};

/* A buffer that may be written: `room` bytes of the sink's kind from data on. */
struct flow_room {
	uint8_t *data;
	void *handle;
};

/* Kinds of buffers. */
enum {
	FLOW_PLAIN,  /* anything may be in it */
	FLOW_FILLED, /* for segments whose payload is WL_X alone. The buffer holds WL_X everywhere,
		      * and the machine writes its headers and no more; that is why flow_out tells
		      * the two lengths apart. Headers are followed by WL_X up to the end of the
		      * longest ones that there can be: a buffer may be used again as it is. */
	FLOW_ROOMS
};

/* What a sink can do beyond plain frames. */
enum {
	FLOW_OFFLOAD_SUM = 1, /* it completes checksums of TCP and UDP: flow_out.sum_wanted */
	/* It cuts super-frames: flow_out.segment. It has all of their filling at hand, and adds it
	 * itself: flow_out.rest. */
	FLOW_OFFLOAD_SEGMENT = 2,
	FLOW_OFFLOAD_FILL = 4, /* it has rooms of the kind FLOW_FILLED */
};

/* Where frames go. The owner fills it in before the first call and empties it behind each turn; the
 * machine takes rooms from the end of their arrays and appends to out. */
struct flow_sink {
	struct flow_room *room[FLOW_ROOMS];
	uint32_t nroom[FLOW_ROOMS];
	struct flow_out *out;
	uint32_t nout, max_out;
	/* Called when rooms of a kind, or places in out, have run out. It may flush out, and get
	 * rooms. false: there is nothing now; the machine keeps what is due and tries again in the
	 * next turn. NULL: never more than there is. */
	bool (*more)(struct flow_sink *s, unsigned kind);
	uint32_t room_bytes; /* of each buffer: at least 256, and headers and the largest segment */
	uint32_t max_super;  /* FLOW_OFFLOAD_SEGMENT: payload of a super-frame, at most 65000 */
	uint8_t offload;     /* FLOW_OFFLOAD_... */
	void *owner;
};

/* ---- what flows are ---- */

enum flow_role { FLOW_CLIENT, FLOW_SERVER };

/* An address: 4 bytes of IPv4 in v4, or 16 bytes of IPv6. */
struct flow_addr {
	uint32_t v4;
	uint8_t v6[16];
};

/* A 4-tuple, from our end. */
struct flow_tuple {
	struct flow_addr local, remote;
	uint16_t local_port, remote_port;
	bool is6;
};

/* The values of one field of tuples, in order. */
struct flow_values {
	uint32_t count;       /* at least 1; all 2^32 values of an address: 0 */
	uint32_t base, step;  /* base, base + step, ... where list is NULL */
	const uint32_t *list; /* in any order, each once */
	/* Of servers that weigh differently, or stand beside such: a round of `turns` places among
	 * the values, in which each comes as often as it weighs. NULL: all weigh the same. */
	const uint16_t *turn;
	uint32_t turns;
};

/* The fields of tuples, from our end. */
enum flow_nest { FLOW_REMOTE = 1, FLOW_REMOTE_PORT, FLOW_LOCAL, FLOW_LOCAL_PORT };

/* Where tuples come from (DESIGN, "Tuples"): a client's, in which the destination address runs
 * fastest, then the destination port, then the source address, then the source port; or those
 * that a server listens on (source address and port; destination unused). Of IPv6 the fields
 * `local` and `remote` are the last 4 bytes of the addresses. Made by flow_tuples_new(); versions
 * of a flow, and flows with the same tuples, share one, and with it what is in use.
 *
 * Of a client whose destinations have weights, number i has the server of turn i mod `round` (the
 * turns of addresses run fastest, then those of ports), and the next source of that server: each
 * server goes through the sources (address, then port) by itself, so that no tuple comes twice in
 * as many rounds as the server that weighs most has sources for. Which of them a machine opens:
 * flow_tuples_conf.queue. */
struct flow_tuples;
#define FLOW_SETS 16 /* sets with slots (flow.h, `dense`) that a machine knows at a time */

/* The headers of a flow's frames up to the end of the innermost IP header: an opaque prefix, then
 * that header with its options or extension headers. Made by flow_path_init() (flow.h). */
#define FLOW_PREFIX_MAX 128
#define FLOW_FIXES 8
struct flow_path {
	uint8_t bytes[FLOW_PREFIX_MAX + 64] WR_ALIGNED(64); /* the rest is WL_X */
	uint16_t l3;                                        /* where the IP header begins */
	uint16_t l4;    /* where it ends: at most FLOW_PREFIX_MAX */
	uint16_t ident; /* frames of this identity belong to its connections */
	bool is6;
	bool plain; /* IPv4, and nothing to fix in headers outside of it */
	/* A device can cut a super-frame: Ethernet, VLAN tags, and an IP header without more. */
	bool cut;
	uint32_t ip_sum; /* of an IPv4 header without length, identification, checksum, addresses */
	uint64_t places; /* of struct flow_out, with a payload that begins at l4 */
	/* Lengths and checksums in the prefix that depend on the frame. Lengths come first, then
	 * checksums, the inner ones before those that they count in. */
	uint8_t nfix;
	struct flow_fix {
		uint8_t kind; /* enum flow_fix_kind */
		uint8_t at;   /* where the 2 bytes are */
		/* The length counts the frame's bytes from here on, and so does the checksum, an
		 * even number of them up to the end of the innermost IP header. */
		uint8_t from;
		/* FLOW_FIX_IP4: where that header's checksum is. FLOW_FIX_UDP: where the IP header
		 * is whose addresses count in the checksum. */
		uint8_t sum;
		/* Found out by flow_path_init(). The length is that of TCP or UDP and `add`; of a
		 * checksum `times` that. base: the sum of all that is always the same. */
		uint16_t add, times, base;
	} fix[FLOW_FIXES];
};
/* What answers take over from the frame that opened a connection: runs of bytes before its
 * innermost IP header. */
#define FLOW_BACK 24
struct flow_back {
	unsigned n;
	struct flow_span {
		uint8_t from, to, len; /* bytes of the frame that came, and of the answer; 1 to 8 */
	} span[FLOW_BACK];
};
enum flow_fix_kind {
	FLOW_FIX_LENGTH, /* a length of 16 bits (UDP, IPv6, GTP-U, PPPoE) */
	FLOW_FIX_IP4,    /* the total length of an IPv4 header, and its checksum with it */
	FLOW_FIX_UDP,    /* the checksum of UDP, with its pseudo header */
	FLOW_FIX_SUM,    /* a checksum (RFC 1071) without one (GRE) */
};

/* The servers of a flow, by which its connections are counted one by one: an index of addresses and
 * ports (flow_servers_new() in flow.h), and cells of this worker, as many as there are servers and
 * one more, for what is none of them. Sums over all are those of struct flow_counts. */
#define FLOW_SERVERS_MAX 4096
struct flow_servers;
struct flow_server_counts {
	cell_t opened, established, refused, connect_timeout, unreachable, aborted_opening;
	cell_t closed, reset_by_us, reset_by_peer, timed_out, aborted;
	cell_t done, failed; /* transactions */
	cell_t tx_bytes, rx_bytes;
	cell_t pad;
};

enum flow_congestion { FLOW_CUBIC, FLOW_NEWRENO, FLOW_NO_CONGESTION };

/* One version of a flow on one worker: constant from flow_adopt() until flow_released() names it.
 * All that it points to is its maker's. */
struct flow_spec {
	enum flow_role role;
	bool udp, is6;
	/* What connections do, with its contents (at least one) and counters. Versions may share
	 * one, if nothing in it differs. */
	struct wl_flow *wl;
	struct flow_counts *counts; /* zeroed at first, this worker's; versions share it */
	/* NULL: connections are not counted by their servers; else wl->by_server is set, too. */
	const struct flow_servers *servers;
	struct flow_server_counts *server_counts;

	struct flow_tuples *tuples;
	/* Paths of a client: client i (by its place among the source addresses; if there is one, by
	 * its place among the source ports) has path i mod npath. Those of a server are templates
	 * of answers, one for each identity of its clients' frames. */
	const struct flow_path *path;
	uint16_t npath;
	/* Of a server with several: path_of[ident] - 1 is the path of those who come with it. 0, or
	 * nidents and above: they are none of its clients. */
	const uint16_t *path_of;
	uint32_t nidents;
	/* Of a client whose destinations are not all reached by the same headers: of npath / nto
	 * clients each has nto paths, one behind the other, and takes number to_path[place of the
	 * destination in `to`, with port 0]. NULL: a client has one path. */
	const struct flow_servers *to;
	const uint16_t *to_path;
	uint16_t nto;
	/* What answers take over; NULL: MAC addresses, which are swapped. Lengths and checksums
	 * that `fix` names are the machine's. */
	const struct flow_back *back;
	/* Whether a tuple is this machine's to open (several workers). NULL: all are. */
	bool (*mine)(const void *arg, const struct flow_tuple *t);
	const void *mine_arg;

	uint32_t most; /* open at once, a client's: opening stops there */
	uint16_t mss;  /* of IPv4: MTU - 40; IPv6: MTU - 60 */
	/* Bytes that may be received ahead, at most 2^30. window_most above it: they grow up to
	 * there as long as they are what limits a connection. */
	uint32_t window, window_most;
	enum flow_congestion congestion;
	uint16_t initial_window; /* segments; 0: 10 (RFC 6928) */
	uint64_t rto_ns;         /* floor, at most 300 s; 0: 200 ms */
	/* Before there is a measurement; 0: the 1 s of RFC 6298 2.1, or the floor if it is longer,
	 * and at most five times the floor. Whoever sets a floor for a fast link waits no second
	 * there for a lost SYN. */
	uint64_t rto_first_ns;
	uint64_t delack_ns;   /* 0: 40 ms; at most 500 ms (RFC 5681 4.2) */
	uint64_t timewait_ns; /* 0: connections are forgotten at once */
	/* FIN-WAIT-2 of a connection nobody uses; 0: 60 s, or twice the floor if that is more */
	uint64_t finwait_ns;
	uint8_t retries; /* of one segment, SYN included, at most 14 */
	bool sack;       /* offered, and used if both did */
	bool buffered;   /* connections have a pair of buffers: see flow_buffer */
};

/* ---- the calls of a turn ---- */

/* Makes a version known. Returns its number (0..FLOW_VERSIONS - 1), -ENOSPC: there are no numbers
 * or contents left, -EINVAL: the version is not possible (flow_check() in flow.h says why, to
 * control, beforehand). A server listens from now on. Opening is by number. */
#define FLOW_VERSIONS 256
int flow_adopt(struct flow_machine *m, const struct flow_spec *spec);
/* No new connections for this version: flow_open() is refused, and of two versions of a server
 * with overlapping tuples the newest listens. Its connections live on. */
void flow_retire(struct flow_machine *m, int version);
/* Returns a retired version without connections, once, or NULL: there is none. It is not used any
 * more, and its number may come back. */
const struct flow_spec *flow_released(struct flow_machine *m);

/* Frames of one port and queue, in their order. */
void flow_rx(struct flow_machine *m, const struct flow_in *in, unsigned n, uint64_t now_ns);

/* Opens n connections of a client's version with its next tuples. due_ns: when the first was to be
 * opened, and each_ns how much later each next one (for since_due). Returns how many were: fewer
 * means that the sink is full or that `most` are open. An open without a free tuple counts as
 * no_tuple, one without memory as no_memory, and both as done. */
unsigned flow_open(struct flow_machine *m, int version, unsigned n, uint64_t due_ns,
		   uint64_t each_ns, uint64_t now_ns);
/* The same for one tuple of a flow with `buffered`. Returns the connection's number (> 0), 0: the
 * tuple is in use or there is no memory. */
uint32_t flow_open_one(struct flow_machine *m, int version, const struct flow_tuple *t,
		       uint64_t now_ns);

/* Starts a transaction on each of n connections that wait for it, those first that wait longest.
 * Returns on how many; fewer means that no more of them wait. */
unsigned flow_go(struct flow_machine *m, int version, unsigned n, uint64_t due_ns, uint64_t each_ns,
		 uint64_t now_ns);

/* The end of a turn. Returns how many frames and timers it moved. */
unsigned flow_poll(struct flow_machine *m, uint64_t now_ns);
/* When flow_poll() must run next: in the past if something waits already, UINT64_MAX if only frames
 * can change anything. */
uint64_t flow_next_ns(const struct flow_machine *m);

/* Tells connections of all versions of a `wl` that it drains (wl->draining must be true), or resets
 * them: they end as aborted. Both go through the connections step by step in flow_poll(), until
 * flow_sweeping() is false. */
void flow_drain(struct flow_machine *m, const struct wl_flow *wl);
void flow_abort(struct flow_machine *m, const struct wl_flow *wl);
bool flow_sweeping(const struct flow_machine *m);
/* Whether connections wait for room in the sink. */
bool flow_waiting(const struct flow_machine *m);
/* The device has gone: all connections of the machine end at once as aborted, and nobody is told.
 * It may take a while. */
void flow_lost(struct flow_machine *m, uint64_t now_ns);

/* An ICMP error that quotes a segment of ours; quote: the quoted IP header, len bytes of it and of
 * what follows. mtu: of the next hop (RFC 1191, RFC 8201), 0: not told. Each is counted once, by
 * what it says, or as icmp_ignored: one about a segment that is not on its way (RFC 5927 4.1), or
 * with a size that holds already. Returns the version whose connection it is about, -1: there is no
 * such connection. */
enum flow_icmp {
	FLOW_ICMP_TOO_BIG, /* the connection's segments become smaller */
	/* These end a connection that is opening, and one of UDP (RFC 5461). */
	FLOW_ICMP_PORT,       /* nobody listens */
	FLOW_ICMP_HOST,       /* there is no way to the host or its network */
	FLOW_ICMP_PROHIBITED, /* a router does not let it pass */
	FLOW_ICMP_OTHER,      /* unreachable for another reason */
	FLOW_ICMP_EXCEEDED,   /* hops, or reassembly: ends nothing (RFC 1122 4.2.3.9) */
};
int flow_icmp(struct flow_machine *m, enum flow_icmp what, uint32_t mtu, const uint8_t *quote,
	      unsigned len, uint16_t ident, uint64_t now_ns);

/* ---- buffered connections ---- */

/* A connection of a flow with `buffered` has bytes of its own to send and keeps what it receives,
 * FLOW_BUFFER bytes each way. Its workload is flow_buffer_wl, which does nothing by itself. */
#define FLOW_BUFFER 16384
extern const struct workload flow_buffer_wl;
/* How many of n bytes were taken. */
unsigned flow_write(struct flow_machine *m, uint32_t number, const void *data, unsigned n,
		    uint64_t now_ns);
/* How many bytes there were, at most n; they are gone from the buffer. */
unsigned flow_read(struct flow_machine *m, uint32_t number, void *data, unsigned n,
		   uint64_t now_ns);
/* FIN behind what was written, or RST. */
void flow_close(struct flow_machine *m, uint32_t number, enum wl_close how, uint64_t now_ns);
/* What a connection is. Its number is valid until flow_forget(), also when it has gone: what came
 * before can still be read. false: there is no such number. */
struct flow_channel {
	bool open, peer_done;
	unsigned readable, writable; /* bytes */
	bool gone;
	enum wl_end ended; /* if it has gone */
};
bool flow_channel(struct flow_machine *m, uint32_t number, struct flow_channel *out);
/* Its ends, also of one that has gone; false: there is no such number. */
bool flow_channel_tuple(const struct flow_machine *m, uint32_t number, struct flow_tuple *out);
/* Gives the number back; a connection that still lives is reset. */
void flow_forget(struct flow_machine *m, uint32_t number, uint64_t now_ns);
/* A server's next new connection: its number, or 0. The buffers of one that has ended before are
 * for others when there are no more. */
uint32_t flow_accept(struct flow_machine *m, int version);

/* ---- what is counted ---- */

/* Cells of one flow on one worker, exact at any time:
 * opened = established + refused + connect_timeout + unreachable + aborted_opening + opening,
 * established = closed + reset_by_us + reset_by_peer + timed_out + aborted + open.
 * A server counts a connection as opened with the SYN. */
struct flow_counts {
	cell_t opened, established, refused, connect_timeout, unreachable, no_tuple;
	cell_t aborted_opening, opening;
	cell_t closed, reset_by_us, reset_by_peer, timed_out, aborted, open;
	cell_t tx_bytes, rx_bytes; /* payload, each byte once */
	cell_t tx, rx;             /* segments or datagrams; of super-frames each segment */
	cell_t retransmitted;      /* segments that had been sent before */
	cell_t duplicate;          /* segments of which all had been received before */
	cell_t out_of_order;       /* segments that came before others that are missing */
	cell_t bad_checksum, unverified;
	/* why */
	cell_t rto, fast_recovery,
		tail_probe;  /* time-outs, recoveries by ACKs, probes (RFC 8985) */
	cell_t window_probe; /* sent into a window of 0 */
	cell_t window_full;  /* times that the peer's window stopped us */
	cell_t dup_ack;      /* received that acknowledge nothing new */
	cell_t ack_sent;     /* segments without payload */
	cell_t syn_retransmitted, fin_retransmitted;
	cell_t rst_received, rst_sent, rst_ignored;
	cell_t challenge_ack;   /* sent (RFC 5961) */
	cell_t beyond_window;   /* segments outside of what we offered */
	cell_t not_kept;        /* out of order, and dropped: no memory, or content wanted */
	cell_t timewait_reused; /* tuples used again before their rest was over */
	cell_t pmtu_lowered;    /* by the path: too big (ICMP), the MSS was lowered */
	cell_t syn_dropped;     /* SYNs to a server without room for them */
	cell_t no_memory;       /* opens without a cell */
	cell_t not_sent;        /* datagrams that the sink had no room for */
	cell_t no_side;         /* connections that needed more memory than there was */
	/* ICMP errors, by what they say */
	cell_t icmp_port, icmp_host, icmp_prohibited, icmp_other, icmp_too_big, icmp_ignored;
	cell_t ack_again; /* ACKs of what came a second time */
	cell_t same_tos;  /* of rx: with the type of service that ours have, if that is not 0 */
};
extern const struct counter flow_counts_table[];

/* Cells of a machine: frames that belong to no connection. */
struct flow_machine_counts {
	cell_t rx, tx;       /* frames given, frames put into the sink */
	cell_t malformed;    /* lengths or offsets that contradict the frame */
	cell_t not_ours;     /* neither TCP nor UDP, fragments, another IP version */
	cell_t bad_checksum; /* frames that could not be laid to a flow */
	cell_t no_match;     /* no connection, and nobody listens */
	cell_t rst_sent;     /* in answer to those */
	cell_t sink_full;    /* times that the sink had no room */
	cell_t cells_used, side_used, paths_used; /* now */
	cell_t timer_visits;
};
extern const struct counter flow_machine_counts_table[];
const struct flow_machine_counts *flow_machine_counts(const struct flow_machine *m);

/* ---- samples ---- */

enum flow_state {
	FLOW_FREE,
	FLOW_SYN_SENT,
	FLOW_SYN_RECEIVED,
	FLOW_ESTABLISHED,
	FLOW_FIN_WAIT_1,
	FLOW_FIN_WAIT_2,
	FLOW_CLOSING,
	FLOW_TIME_WAIT,
	FLOW_CLOSE_WAIT,
	FLOW_LAST_ACK,
	FLOW_UDP
};
const char *flow_state_name(enum flow_state s);

struct flow_info {
	struct flow_tuple tuple;
	enum flow_state state;
	int version;
	uint32_t cwnd, ssthresh; /* bytes; ssthresh UINT32_MAX: none yet */
	uint64_t srtt_ns;        /* 0: not measured */
	uint64_t rto_ns;
	uint32_t unacked, unsent; /* bytes; unsent UINT32_MAX: without end */
	uint32_t peer_window;
	uint32_t resent; /* segments of data that had been sent before */
	uint16_t mss;
	uint8_t retries;
	uint32_t number;
	uint64_t age_ns; /* since it was opened, to 262 us */
};
/* Goes through connections: *at is 0 at first; returns false at the end. By the machine's own
 * thread, which steps through `budget` cells at most and then returns with out->state FLOW_FREE. */
bool flow_walk(const struct flow_machine *m, uint32_t *at, unsigned budget, struct flow_info *out);
