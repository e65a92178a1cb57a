/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/flow share: the memory of a machine, and small functions over it. */
#pragma once
#include "flow_run.h"

#define FLOW_LIKELY(x) __builtin_expect(!!(x), 1)
#define FLOW_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* What is called for each segment. Jumps that are taken, calls and returns limit the machine (one
 * in two cycles): the usual segment runs through one piece, and conditions say what is usual. */
#define FLOW_INLINE inline __attribute__((always_inline))
#ifdef __clang__ /* the files are one for the compiler, so static functions are known to all */
#pragma clang diagnostic ignored "-Wstatic-in-inline"
#endif
/* What is called now and then takes no registers from the others. */
#define FLOW_ASIDE __attribute__((noinline, cold))

/* Flags of the TCP header. */
enum { TH_FIN = 1, TH_SYN = 2, TH_RST = 4, TH_PSH = 8, TH_ACK = 16 };

/* Flags of a connection, and above them CONN_DUP: how many acknowledgements came twice, or probes
 * of a closed window had no answer, or SYNs met an old connection. */
enum {
	CF_FIN_ASKED = 1 << 0, /* the workload sends nothing more */
	CF_FIN_SENT = 1 << 1,
	CF_ACK = 1 << 2,     /* something was received that is not acknowledged yet */
	CF_ACK_NOW = 1 << 3, /* it is in the list of those to be acknowledged in this turn */
	CF_SACK = 1 << 4,    /* both have offered selective acknowledgements */
	CF_READY = 1 << 5,   /* waits for go() */
	CF_BLOCKED = 1 << 6, /* the sink was full: it is in the list of those to be tried again */
	CF_WORK_TIMER = 1 << 7, /* the workload's timer runs */
	CF_TIMER = 1 << 8,      /* the timer of its state runs: retransmission, TIME-WAIT, ... */
	CF_PROBE = 1 << 9,      /* that timer is for a tail probe (RFC 8985 7) */
	CF_FILED = 1 << 10,     /* the wheel has an entry for the cell, in slot `filed` */
	CF_MAY_SEND = 1 << 11,  /* may_send() is owed */
	CF_TIMED = 1 << 12,     /* the segment at una is timed: it was sent at `stamp` */
	CONN_DUP = 13,
};

/* One connection: one cache line. Addresses and ports as they are in frames. What is written often
 * is read in the same size: a load waits for a smaller store into a part of it until that has left
 * the processor. So numbers of 24 bits are two members. */
struct flow_conn {
	uint32_t remote, local; /* of IPv6 the last 4 bytes */
	union {
		struct {
			uint16_t local_port, remote_port;
		};
		uint32_t ports;
	};
	uint32_t una, nxt; /* SND.UNA, SND.NXT; what is sent again does not move nxt */
	uint32_t rcv_nxt;
	/* The newest message: sequence numbers of its first byte, and behind its last one. */
	uint32_t msg_seq, msg_end;
	uint32_t mem[WL_MEM_WORDS];
	uint16_t deadline_low; /* ticks */
	uint8_t deadline_high;
	uint8_t state; /* enum flow_state */
	uint32_t side : 20, filed : 12;
	/* In units of 1024 ns; with nothing on its way in ticks: since when, if the window is above
	 * the initial one. */
	uint16_t stamp_low;
	uint8_t stamp_high;
	uint8_t wscale : 4, retry : 4; /* wscale 15: windows are not scaled */
	uint16_t wnd, cwnd;            /* the peer's window as it was in the header; segments */
	uint16_t mss, content; /* content: place in the machine's table, which tells the flow too */
	uint16_t path, flags;
} WR_ALIGNED(64);
_Static_assert(sizeof(struct flow_conn) == 64, "a connection is one cache line");
#define CONN_UNSCALED 15
#define CONN_DEADLINE 0xffffff

/* What a connection has only when it needs it. Lists are of nodes, 0: none. */
struct flow_side {
	/* What was received out of order: intervals in ascending order. */
	uint32_t early;
	uint16_t nearly, told_from;
	bool fin_early;  /* a FIN is among it, at fin_seq */
	bool dsack;      /* the interval dsack_from..dsack_to came twice: to be told once */
	uint32_t newest; /* a sequence number in the interval that came last */
	uint32_t fin_seq, dsack_from, dsack_to;
	/* What of una..nxt has not arrived: holes below `high`, in ascending order. Beyond high
	 * nothing is known to have arrived. */
	uint32_t holes, high, recover;
	uint32_t rack;          /* when the latest of those segments was sent that have arrived */
	uint32_t older;         /* messages before the newest one, oldest first */
	uint32_t work_deadline; /* ticks; if both timers run */
	uint64_t more;          /* bytes of the newest message behind msg_end */
	/* The window of a SYN, which is not scaled, until another one comes; 0: wnd says it all. */
	uint32_t syn_window;
	/* The largest window of a peer whose windows may be small; 0: not known. */
	uint32_t most_window;
	/* congestion */
	uint16_t ssthresh, acked; /* segments; acked: of the present step of avoidance */
	uint32_t epoch;           /* when avoidance began, 1024 ns; 0: not begun */
	float w_max, k, w_est;    /* RFC 9438: segments, seconds */
	/* time: 1024 ns */
	uint32_t srtt, rttvar, min_rtt;
	uint32_t rtt_seq, rtt_then; /* a segment that is timed ends at rtt_seq */
	bool recovery;              /* fast recovery, up to `recover` */
	bool endless;               /* the newest message has no end */
	bool reset;                 /* behind it goes RST, not FIN */
	bool past_head; /* msg_seq is where a period of its filling began, not its head */
	bool rtt_on, reordered, lost_all; /* lost_all: after a time-out, until `recover` */
	uint8_t reo_steps;  /* quarters of a round trip that reordering may take, less one */
	uint32_t reo_round; /* the next one is added behind this */
	uint8_t tail;       /* a tail probe is on its way: 1 new data, 2 sent again */
	uint32_t tail_seq;
	bool reo;        /* the timer is for holes that may be the work of reordering */
	bool resend_one; /* one segment, however full the window is */
	uint32_t resent; /* segments that had been sent before */
} WR_ALIGNED(64);
#define SIDE_NO_SSTHRESH 0xffff

/* An element of a list. */
struct flow_node {
	uint32_t next;
	uint32_t from, to; /* sequence numbers */
	union {
		struct {
			uint32_t sent;    /* of a hole: from..sent was sent again */
			uint32_t when;    /* 1024 ns: when; or when the hole was seen first */
			uint32_t after;   /* nxt at that time */
			bool lost, again; /* lost: to be sent; again: some of it was */
		};
		struct {
			uint16_t content; /* of a message */
			bool past_head;
		};
	};
	uint32_t pad;
};
_Static_assert(sizeof(struct flow_node) == 32, "two in a cache line");

/* Pieces of memory of one size, from control. Those given back are used first; the others have
 * never been touched. Piece 0 is not used. */
struct flow_pool {
	uint8_t *mem;
	uint32_t size, n, fresh, free, used;
};
uint32_t flow_pool_take(struct flow_pool *p); /* zeroed; 0: there are none left */
void flow_pool_give(struct flow_pool *p, uint32_t i);
static inline void *flow_pool_at(const struct flow_pool *p, uint32_t i)
{
	return p->mem + (size_t)i * p->size;
}

/* Live connections by their tuple: 8 tags and indices in a line. */
struct flow_bucket {
	uint16_t tag[8]; /* 0: free */
	uint32_t at[8];
	uint32_t spill; /* how many connections went further because this line was full */
	uint32_t pad[3];
} WR_ALIGNED(64);

/* Timers: an array of indices for each tick, in chunks. A cell has one valid entry at most, in the
 * slot that `filed` tells; others are stale, and passed over when their time comes. */
#define WHEEL_SLOTS 4096
#define WHEEL_TICK_SHIFT 18 /* a tick is 262144 ns */
#define CHUNK_ENTRIES 62
struct flow_chunk {
	uint32_t next, n;
	uint32_t at[CHUNK_ENTRIES];
};

/* A version of a flow that is in use. */
struct flow_ver {
	const struct flow_spec *spec; /* NULL: the number is free */
	struct wl_flow *wl;
	struct flow_counts *k;
	const struct flow_path *path; /* the client's, or the server's template */
	uint16_t first, ncontent;     /* its places in the table of contents */
	uint16_t mss, iw;
	uint16_t window_field[2]; /* unscaled, scaled */
	uint32_t syn_options[3];  /* MSS; window scale; SACK permitted: as they are in a SYN */
	uint32_t syn_sum;
	uint8_t wscale;
	bool retired, released, buffered;
	bool by_server;  /* connections are counted by their servers */
	bool aside, tos; /* one of these two: none of the usual segments; its path has a TOS */
	/* It listens on this address and port alone, with TCP; as they are in frames. */
	bool one_local;
	uint16_t one_port;
	uint32_t one_addr;
	struct flow_back back; /* a server's */
	uint8_t back_len;      /* up to where that reads of frames that came */
	uint32_t serial;
	uint32_t window, window_most; /* that is offered, and up to where it may grow */
	struct flow_watch {           /* flow_window.c */
		uint32_t at;          /* the connection that is watched; 0: none */
		uint32_t to;          /* up to where it receives a window */
		uint32_t since;       /* 1024 ns, as all times here */
		uint32_t fastest;     /* window of this size; UINT32_MAX: there was none */
		uint32_t before;      /* and of half this size; 0: not known */
		uint16_t n, slow;     /* how many since one was judged; that took long */
	} watch;
	uint32_t refs;   /* connections, TIME-WAIT included */
	uint32_t in_use; /* those that count as opening or open */
	/* Round trip times of all its connections that have none of their own (RFC 9040): ns. */
	uint32_t srtt, rttvar;
	uint32_t rtt_skipped; /* samples since the last one that was taken */
	uint32_t rto_ticks, rto_floor_ticks, syn_ticks, delack_ticks, finwait_ticks;
	/* Connections that are ready, in chunks, oldest first; entries may be stale. */
	uint32_t ready_head, ready_tail, ready_at, ready_entries, nready;
	uint32_t accepted; /* channels that wait for flow_accept(): the oldest */
	uint8_t number;
};

struct flow_content_at {
	const struct wl_content *content;
	struct flow_ver *live;
};

struct flow_field {
	uint32_t count, base, step;
	uint32_t *list;
	uint64_t stride; /* of its ordinal in the number of a tuple */
};
struct flow_tuples {
	struct flow_field f[4]; /* enum flow_nest - 1 */
	uint8_t order[4];       /* which of f is the fastest, ... */
	uint8_t still;          /* so many of the fastest have one value alone */
	uint64_t count;
	bool server, is6;
	uint8_t local6[12], remote6[12];
	uint32_t *slot; /* dense: the connection of each tuple */
	size_t slot_bytes;
	/* There are slots, and one remote end alone, as it is in frames: most clients' slots are
	 * found without their other fields. */
	bool one_remote;
	uint16_t one_port;
	uint32_t one_addr;
	uint32_t users;               /* versions of the machine that use it */
	struct flow_weights *weights; /* NULL: all servers weigh the same */
	/* The next tuple: its number, ordinals of the fields in the order of nesting, values. */
	uint64_t next, cursor[4];
	uint32_t value[4];
};

/* A pair of buffers. Numbers of channels are its place, and a generation above bit 16. */
struct flow_buffers {
	uint32_t conn;           /* 0: gone */
	struct flow_tuple tuple; /* of one that has gone */
	uint16_t generation;
	uint8_t version, ended;
	bool used, peer_done, accepted, gone;
	uint32_t next_free, next_accept;
	uint32_t tx_head, tx_len; /* sequence of the oldest byte is the connection's una */
	uint32_t rx_head, rx_len;
	uint32_t offered; /* of the space behind these the peer knows so many bytes */
	uint8_t tx[FLOW_BUFFER], rx[FLOW_BUFFER];
};

struct flow_learned {
	struct flow_path path;
	uint32_t serial;           /* of the version that it was learned for */
	uint32_t hash, refs, next; /* next: in the list of its hash, or of free ones */
};
#define FLOW_PATH_LISTS 16384

struct flow_sweep {
	const struct wl_flow *wl;
	uint32_t at;
	bool abort;
	uint64_t room_ns; /* when the sink last had room */
};

#define FLOW_ACKS 4096
#define FLOW_BLOCKED 65536 /* a power of two */
#define FLOW_SWEEPS 16
#define FLOW_BURST 64

struct flow_machine {
	uint64_t now_ns;
	uint32_t now_us; /* 1024 ns */
	uint32_t now_tick;
	uint32_t tick; /* up to here the wheel has been turned */
	struct flow_conn *conn;
	struct flow_sink *sink;
	struct flow_content_at *content; /* FLOW_CONTENTS */
	struct flow_machine_counts k;
	uint64_t sent; /* frames; k.tx at the end of the turn */
	/* cells */
	uint32_t nconn, fresh, nfree;
	uint32_t *free;
	uint32_t *opened; /* the tick in which the connection of each cell was opened */
	struct flow_pool side, node, record, path;
	/* finding connections */
	struct flow_tuples *set[FLOW_SETS]; /* those with slots */
	unsigned nset;
	struct flow_bucket *bucket;
	uint32_t bucket_mask, hashed; /* hashed: connections found by the hash */
	bool any6, any_ident, odd, verify_sums, kernel_peer;
	bool straight; /* usual segments take their own ways (flow_tcp.c) */
	uint8_t (*peer6)[16];
	uint64_t secret[2];
	struct flow_ver *listen[FLOW_VERSIONS]; /* the newest first */
	unsigned nlisten;
	/* timers */
	uint32_t slot[WHEEL_SLOTS];
	uint64_t slot_used[WHEEL_SLOTS / 64];
	struct flow_chunk *chunk;
	uint32_t nchunk, chunk_fresh, chunk_free;
	bool timer_lost; /* an entry found no room: all cells are looked at now and then */
	uint32_t timer_hand;
	/* to be done at the end of the turn */
	uint32_t ack[FLOW_ACKS], nack;
	uint32_t blocked[FLOW_BLOCKED], blocked_at, nblocked; /* a ring, the oldest at blocked_at */
	struct flow_sweep sweep[FLOW_SWEEPS];
	unsigned nsweep;
	/* the rest */
	struct wl_turn turn;
	struct flow_ver live[FLOW_VERSIONS];
	unsigned nlive; /* numbers from here on have never been used */
	uint16_t ip_id;
	bool in_poll;
	uint32_t reclaim_hand;
	uint64_t challenge_until; /* the bucket of RFC 5961 7: when it will be full again */
	uint32_t path_list[FLOW_PATH_LISTS]; /* of those that were learned, by their hash */
	uint32_t path_last;                  /* the one that was learned last; 0: none */
	uint32_t path_serial;                /* of its version */
	uint32_t path_len;           /* of the prefix it came from, 8 to 16; 0: it has not */
	uint64_t path_came[2];       /* that prefix: two words, which may overlap */
	uint32_t path_hand, serials; /* to look for one that nobody uses; of versions */
	struct flow_buffers *buffers;
	uint32_t nbuffers, buffers_free;
	size_t mapped[8]; /* bytes of each area, for flow_machine_free() */
};
#define FLOW_CONTENTS 65536

/* A received segment or datagram, parsed. */
struct flow_seg {
	const struct flow_in *in;
	const uint8_t *l4, *data; /* data: the first piece of payload */
	uint32_t remote, local;
	uint32_t ports; /* local port in its first two bytes, then the remote one */
	uint32_t key;   /* hash of the tuple */
	uint32_t seq, ack;
	uint32_t len;     /* payload bytes */
	uint32_t piece;   /* of these at data */
	uint16_t options; /* bytes of TCP options behind the first 20 of its header */
	uint16_t wnd;
	uint8_t flags, segments;
	bool is6, udp, bad, unverified;
	bool dense; /* there is no key */
};
/* What the first step of receiving finds out of a frame that holds TCP over IP as usual: without
 * options or extension headers of IP, in one piece, not a fragment. */
struct flow_early {
	const uint8_t *l4;
	uint32_t remote, local, ports;
	uint32_t l4_len; /* 0: not the usual frame, to be parsed in full */
	union {
		uint32_t *slot;
		uint32_t key;
	};
	uint32_t at; /* in the second step: the connection, 0: not found yet */
	bool dense;
	bool summed; /* its checksums have been computed, and are right */
};
#define SEG_SYN_FIN(g) ((uint32_t)(((g)->flags & TH_SYN) != 0) + (((g)->flags & TH_FIN) != 0))

/* Of IPv6: the addresses, in its header. */
static inline const uint8_t *seg_src6(const struct flow_seg *g)
{
	return g->in->data + g->in->l3 + 8;
}
static inline const uint8_t *seg_dst6(const struct flow_seg *g)
{
	return g->in->data + g->in->l3 + 24;
}

static inline struct flow_ver *conn_live(const struct flow_machine *m, const struct flow_conn *c)
{
	return m->content[c->content].live;
}
static inline uint32_t conn_index(const struct flow_machine *m, const struct flow_conn *c)
{
	return (uint32_t)(c - m->conn);
}
static inline struct flow_side *conn_side(const struct flow_machine *m, const struct flow_conn *c)
{
	return FLOW_LIKELY(c->side == 0) ? NULL : flow_pool_at(&m->side, c->side);
}
static inline struct flow_node *node_at(const struct flow_machine *m, uint32_t i)
{
	return flow_pool_at(&m->node, i);
}
/* Sequence numbers (RFC 9293 3.4): whether a is before b, or not behind it. */
static inline bool seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
static inline bool seq_le(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}
static inline uint32_t conn_deadline(const struct flow_conn *c)
{
	return (uint32_t)c->deadline_high << 16 | c->deadline_low;
}
static inline void conn_set_deadline(struct flow_conn *c, uint32_t ticks)
{
	c->deadline_low = (uint16_t)ticks;
	c->deadline_high = (uint8_t)(ticks >> 16);
}
/* A time of 24 bits. */
static inline void conn_stamp_at(struct flow_conn *c, uint32_t t)
{
	c->stamp_low = (uint16_t)t;
	c->stamp_high = (uint8_t)(t >> 16);
}
/* How long ago that was. */
static inline uint32_t conn_stamp_age(const struct flow_conn *c, uint32_t now)
{
	return (now - ((uint32_t)c->stamp_high << 16 | c->stamp_low)) & 0xffffff;
}
/* The segment that is sent at una is timed. */
static inline void conn_set_stamp(struct flow_conn *c, uint32_t us)
{
	c->flags |= CF_TIMED;
	conn_stamp_at(c, us);
}
static inline unsigned conn_dup(const struct flow_conn *c)
{
	return c->flags >> CONN_DUP;
}
static inline void conn_set_dup(struct flow_conn *c, unsigned n)
{
	c->flags = (uint16_t)((c->flags & ((1 << CONN_DUP) - 1)) | n << CONN_DUP);
}
static inline uint32_t conn_window(const struct flow_conn *c)
{
	unsigned shift = c->wscale;

	return (uint32_t)c->wnd << (shift == CONN_UNSCALED ? 0 : shift);
}
/* The peer's window, of a connection with its side cell or NULL. */
static inline uint32_t conn_send_window(const struct flow_conn *c, const struct flow_side *s)
{
	return FLOW_UNLIKELY(s != NULL && s->syn_window != 0) ? s->syn_window : conn_window(c);
}
/* A window came from the peer. */
static inline void conn_new_window(struct flow_conn *c, struct flow_side *s, uint16_t field)
{
	c->wnd = field;
	if (FLOW_UNLIKELY(s != NULL)) {
		s->syn_window = 0;
		if (s->most_window != 0 && s->most_window < conn_window(c))
			s->most_window = conn_window(c);
	}
}
/* The bytes that may still be received beyond rcv_nxt. */
uint32_t flow_buffer_offered(const struct flow_machine *m, const struct flow_conn *c);
uint32_t flow_buffer_offer(const struct flow_machine *m, const struct flow_ver *f,
			   const struct flow_conn *c);
static inline uint32_t conn_rcv_window(const struct flow_machine *m, const struct flow_ver *f,
				       const struct flow_conn *c)
{
	if (FLOW_UNLIKELY(f->spec->buffered))
		return flow_buffer_offered(m, c);
	return FLOW_UNLIKELY(c->wscale == CONN_UNSCALED && f->window > 65535) ? 65535 : f->window;
}
/* Folds a sum to 16 bits (RFC 1071). Added to itself turned by half, its upper half gets the carry
 * of the lower one. */
static inline uint32_t flow_fold(uint64_t s)
{
	uint32_t half;

	s += s >> 32 | s << 32;
	half = (uint32_t)(s >> 32);
	half += half >> 16 | half << 16;
	return half >> 16;
}

/* flow_side.c: the side cell of a connection, made if it has none; NULL: there are none left.
 * What it has is given back with it. */
struct flow_side *flow_side(struct flow_machine *m, struct flow_conn *c);
void flow_side_drop(struct flow_machine *m, struct flow_conn *c);
uint32_t flow_node_after(struct flow_machine *m, uint32_t *link, uint32_t from, uint32_t to);
void flow_node_cut(struct flow_machine *m, uint32_t *link);
/* flow_early.c: what came before its time. `early` keeps from..to and tells whether there was room;
 * joined() moves rcv_nxt over what lies at it, and returns over how many bytes. */
bool flow_early_add(struct flow_machine *m, struct flow_side *s, uint32_t from, uint32_t to);
uint32_t flow_early_join(struct flow_machine *m, struct flow_conn *c, struct flow_side *s);
unsigned flow_early_blocks(const struct flow_machine *m, struct flow_side *s, uint8_t *to,
			   unsigned room);

/* flow_window.c: what is offered. watch() is for segments with many bytes, of a flow whose window
 * may grow yet. */
void flow_window_begin(struct flow_ver *f, uint32_t window, uint32_t most);
void flow_window_watch(const struct flow_machine *m, struct flow_ver *f, const struct flow_conn *c);
#define WINDOW_WATCHED 512

/* flow_wheel.c */
void flow_file(struct flow_machine *m, struct flow_conn *c, uint32_t ticks);
void flow_wheel_turn(struct flow_machine *m);
uint64_t flow_wheel_next(const struct flow_machine *m);
uint32_t flow_chunk_take(struct flow_machine *m);
void flow_chunk_give(struct flow_machine *m, uint32_t i);
/* Sees to it that the wheel visits the cell in at most so many ticks. */
static FLOW_INLINE void conn_visit_in(struct flow_machine *m, struct flow_conn *c, uint32_t ticks)
{
	if (FLOW_LIKELY((c->flags & CF_FILED) != 0) &&
	    FLOW_LIKELY(((c->filed - m->tick) & (WHEEL_SLOTS - 1)) <=
			m->now_tick - m->tick + ticks))
		return;
	flow_file(m, c, ticks);
}
void flow_timer_aside(struct flow_machine *m, struct flow_conn *c);
/* Starts the timer of the state. */
static FLOW_INLINE void conn_timer(struct flow_machine *m, struct flow_conn *c, uint32_t ticks)
{
	if (FLOW_UNLIKELY((c->flags & (CF_WORK_TIMER | CF_TIMER)) == CF_WORK_TIMER))
		flow_timer_aside(m, c);
	/* a part of the present tick has passed already */
	conn_set_deadline(c, m->now_tick + ticks + 1);
	c->flags = (uint16_t)((c->flags | CF_TIMER) & ~CF_PROBE);
	conn_visit_in(m, c, ticks + 1);
}
void flow_timer_stop_both(struct flow_machine *m, struct flow_conn *c);
static inline void conn_timer_stop(struct flow_machine *m, struct flow_conn *c)
{
	if (FLOW_UNLIKELY((c->flags & (CF_WORK_TIMER | CF_TIMER)) == (CF_WORK_TIMER | CF_TIMER)))
		flow_timer_stop_both(m, c);
	c->flags &= (uint16_t) ~(CF_TIMER | CF_PROBE);
}
void flow_work_timer(struct flow_machine *m, struct flow_conn *c, uint64_t ns);
/* Ticks for so many ns, rounded up. */
static inline uint32_t flow_ticks(uint64_t ns)
{
	uint64_t t = (ns + (1u << WHEEL_TICK_SHIFT) - 1) >> WHEEL_TICK_SHIFT;

	if (t > CONN_DEADLINE / 2 - 1)
		return CONN_DEADLINE / 2 - 1;
	return t == 0 ? 1 : (uint32_t)t;
}

/* flow_tuple.c */
void flow_tuple_of(const struct flow_tuples *t, uint32_t remote, uint32_t local, uint32_t ports,
		   struct flow_tuple *out);
uint32_t flow_tuple_user(struct flow_machine *m, const struct flow_ver *f,
			 const struct flow_conn *c);
void flow_tuples_begin(struct flow_tuples *t, uint64_t number);
bool flow_tuple_next(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     uint32_t *rests);
void flow_tuple_fetch(const struct flow_ver *f);
struct flow_ver *flow_listener(const struct flow_machine *m, const struct flow_seg *g);
struct flow_ver *flow_local(struct flow_machine *m, const struct flow_seg *g);
void flow_conn_tuple(const struct flow_machine *m, const struct flow_conn *c,
		     struct flow_tuple *out);
const struct flow_path *flow_client_path(const struct flow_ver *f, const struct flow_conn *c);
static inline const struct flow_path *conn_path(const struct flow_machine *m,
						const struct flow_ver *f, const struct flow_conn *c)
{
	if (f->spec->role == FLOW_SERVER) {
		const struct flow_learned *l = flow_pool_at(&m->path, c->path);

		return &l->path;
	}
	return FLOW_LIKELY(f->spec->npath == 1) ? f->path : flow_client_path(f, c);
}
/* The template for answers to frames of an identity; NULL: they are none of the server's. */
static inline const struct flow_path *flow_server_path(const struct flow_ver *f, uint16_t ident)
{
	const struct flow_spec *spec = f->spec;

	if (FLOW_LIKELY(spec->npath == 1))
		return FLOW_LIKELY(f->path->ident == ident) ? f->path : NULL;
	if (ident >= spec->nidents || spec->path_of[ident] == 0)
		return NULL;
	return &f->path[spec->path_of[ident] - 1];
}

/* flow_conn.c: their lives. */
void flow_conn_free(struct flow_machine *m, struct flow_conn *c);
/* The connection ends with this fate; the cell is gone unless it is to rest (TIME-WAIT). */
void flow_conn_end(struct flow_machine *m, struct flow_conn *c, enum wl_end why, bool rest);
void flow_conn_closed(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, bool rest);
void flow_established(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
uint64_t flow_late_ns(const struct flow_conn *c);
void flow_late_set(struct flow_conn *c, uint64_t ns);
struct flow_conn *flow_conn_accept(struct flow_machine *m, struct flow_ver *f,
				   const struct flow_seg *g, uint32_t isn_after, bool use_after);
static inline void flow_now(struct flow_machine *m, uint64_t now_ns)
{
	m->now_ns = now_ns;
	m->now_us = (uint32_t)(now_ns >> 10);
	m->now_tick = (uint32_t)(now_ns >> WHEEL_TICK_SHIFT);
}

/* flow_buffer.c: mem[0] of a connection with buffers is their place + 1; while it is begun they are
 * noted in mem[1]. 0: there are none left. */
uint32_t flow_buffer_take(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
/* A version goes: those of its connections that nobody has taken are free. */
void flow_buffer_release(struct flow_machine *m, struct flow_ver *f);
uint32_t flow_buffer_number(const struct flow_machine *m, const struct flow_conn *c);
void flow_buffer_acked(struct flow_machine *m, struct flow_conn *c, uint32_t n);

/* flow_work.c: calls of the record. They return false if the connection has gone. */
struct flow_work {
	struct wl_turn t;
	struct flow_machine *m;
	struct flow_conn *c;
};
bool flow_work_opened(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
bool flow_work_received(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			const uint8_t *data, uint32_t n, bool push);
bool flow_work_datagram(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			const uint8_t *data, uint32_t n, uint32_t length);
bool flow_work_ahead(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     uint32_t distance, const uint8_t *data, uint32_t n);
bool flow_work_ended(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
enum flow_call { CALL_TIMER, CALL_GO, CALL_DRAIN };
bool flow_work_call(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		    enum flow_call which, uint64_t late_ns);
void flow_work_closed(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      enum wl_end why);
bool flow_ready_push(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);

/* flow_output(), and may_send() as long as it asks for more. false: the connection has gone. */
bool flow_push(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);

/* flow_send.c: what is to be sent. false: the sink is full; the connection is noted to be tried
 * again. */
bool flow_output(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
bool flow_send_again(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t from,
		     uint32_t to, uint32_t *next);
bool flow_send_probe(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
/* A peer that begins with a window below a segment may have no larger one. */
void flow_window_small(struct flow_machine *m, struct flow_conn *c, uint32_t window);
static FLOW_INLINE void flow_window_first(struct flow_machine *m, struct flow_conn *c)
{
	uint32_t window = conn_send_window(c, conn_side(m, c));

	if (FLOW_UNLIKELY(window < c->mss) && window != 0)
		flow_window_small(m, c, window);
}
bool flow_window_override(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
void flow_blocked(struct flow_machine *m, struct flow_conn *c);
void flow_retry_one(struct flow_machine *m, struct flow_conn *c);
void flow_retry(struct flow_machine *m);
bool flow_message(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint16_t content,
		  uint64_t n);

/* flow_ack.c and flow_loss.c: acknowledgements that came. */
bool flow_ack_in(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		 const struct flow_seg *g);
struct flow_side *flow_sack_options(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				    const struct flow_seg *g, bool *dsack);
void flow_loss_acked(struct flow_machine *m, struct flow_conn *c, struct flow_side *s);
void flow_loss_detect(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      struct flow_side *s);
void flow_loss_dup(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
void flow_loss_partial(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		       struct flow_side *s, uint32_t bytes);
void flow_loss_timeout(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
bool flow_loss_resend(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      struct flow_side *s);
uint32_t flow_pipe(const struct flow_machine *m, const struct flow_conn *c,
		   const struct flow_side *s);
void flow_tail_probe(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
void flow_loss_smaller(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
/* flow_send.c: the timer of what is on its way. */
void flow_flight_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);

/* flow_cc.c */
uint32_t flow_backoff(const struct flow_ver *f, uint32_t ticks, unsigned retry);
void flow_cc_acked(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		   struct flow_side *s, uint32_t bytes);
void flow_cc_restart(const struct flow_machine *m, const struct flow_ver *f, struct flow_conn *c);
void flow_cc_loss(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		  struct flow_side *s);
void flow_rtt_sample(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t us);
/* The segment that was timed has been acknowledged. Of connections that share an estimate every
 * eighth sample is enough, and any that is far from it. */
static inline void conn_rtt(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	uint32_t us = conn_stamp_age(c, m->now_us);

	c->flags &= (uint16_t)~CF_TIMED;
	if (FLOW_UNLIKELY(c->side != 0 || (++f->rtt_skipped & 7) == 1 || us > f->srtt >> 8))
		flow_rtt_sample(m, f, c, us);
}
uint32_t flow_own_rto_ticks(const struct flow_machine *m, const struct flow_ver *f,
			    const struct flow_conn *c);
static FLOW_INLINE uint32_t conn_rto_ticks(const struct flow_machine *m, const struct flow_ver *f,
					   const struct flow_conn *c)
{
	if (FLOW_UNLIKELY(c->side != 0 || c->retry != 0))
		return flow_own_rto_ticks(m, f, c);
	return f->rto_ticks;
}

/* flow_odd.c: RST, SYN, and no ACK at all; before or behind the window: whether the segment may be
 * looked at all the same; in TIME-WAIT; of no connection. */
void flow_tcp_odd(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		  const struct flow_seg *g, uint32_t window);
bool flow_tcp_outside(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      const struct flow_seg *g, uint32_t window);
void flow_tcp_time_wait(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			const struct flow_seg *g);
void flow_tcp_unknown(struct flow_machine *m, const struct flow_seg *g);

/* flow_rx.c, flow_tcp.c, flow_open.c, flow_udp.c: received segments. */
bool flow_usual_sum(const struct flow_machine *m, const struct flow_in *in, struct flow_early *e);
unsigned flow_tcp_straight(struct flow_machine *m, const struct flow_in *in, struct flow_early *e,
			   unsigned i, unsigned n);
void flow_tcp_in(struct flow_machine *m, uint32_t at, const struct flow_seg *g);
void flow_syn_sent_in(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      const struct flow_seg *g);
void flow_passive(struct flow_machine *m, struct flow_ver *f, const struct flow_seg *g,
		  uint32_t isn_after, bool use_after);
void flow_udp_in(struct flow_machine *m, uint32_t at, const struct flow_seg *g);
void flow_udp_retry(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
bool flow_udp_send(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		   const struct wl_turn *t);
void flow_state_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
void flow_path_back(const struct flow_ver *f, const struct flow_seg *g, struct flow_path *p);
void flow_path_sums(struct flow_path *p);
