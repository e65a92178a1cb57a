/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `kernel`: connections that are the kernel's sockets, and do what records of lib/workload
 * say. Threads of its own, each with an epoll loop; no DPDK, no rights needed. Control makes
 * everything, starts the threads, reads their cells, and stops them.
 *
 * A *line* is one connection with its wl_flow, or, at a client that opens again, one after another.
 * A line belongs to one thread, which alone touches it while threads run, but for its cells.
 * Functions are control's unless they say "on the thread". */
#pragma once
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "workload_run.h"

/* ---- addresses (sock_addr.c) ---- */

struct sock_addr {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa;
	socklen_t len; /* 0: none */
};
/* The addresses of a name or of an address as text, at most `max`; "" or NULL: any of this machine.
 * family: AF_INET, AF_INET6, or AF_UNSPEC for both. Asks the name service, which may take seconds,
 * if it is no address. Returns their number, or -EHOSTUNREACH with *e. */
int sock_resolve(const char *host, unsigned port, int family, struct sock_addr *out, unsigned max,
		 struct err *e);
void sock_addr_print(const struct sock_addr *, struct sbuf *out); /* 10.0.0.1:80, [::1]:80 */
unsigned sock_addr_port(const struct sock_addr *);
void sock_addr_set_port(struct sock_addr *, unsigned port);
bool sock_addr_same(const struct sock_addr *, const struct sock_addr *);
/* Of a connected socket; len 0: not known. */
void sock_ends(int fd, struct sock_addr *own, struct sock_addr *peer);

/* ---- sockets (sock_open.c) ---- */

/* What sockets are to be. 0 and NULL: as the kernel has them. */
struct sock_tune {
	bool udp;
	bool no_delay, reuse_addr, debug, freebind, fastopen;
	bool reuse_port;        /* listeners and receivers of several threads */
	bool rst;               /* SO_LINGER 0: close is a reset */
	bool v6_only;           /* of a listener */
	int mss;                /* TCP_MAXSEG */
	int send_buf, recv_buf; /* bytes */
	int tos, mark, tx_delay_us, flow_label;
	int backlog;            /* of a listener; 0: 128 */
	uint64_t pacing;        /* SO_MAX_PACING_RATE, bytes/s */
	const char *congestion; /* TCP_CONGESTION */
	const char *device;     /* SO_BINDTODEVICE */
};
/* All of these sockets are non-blocking and closed on exec. They return a descriptor that is the
 * caller's, or -errno with *e: what was asked of the kernel, and what it said. */
int sock_listen(const struct sock_addr *, const struct sock_tune *, struct err *e);
/* A datagram socket with this address. */
int sock_bind(const struct sock_addr *, const struct sock_tune *, struct err *e);
/* Begins to connect; `from` (NULL: the kernel chooses) may have the port 0. */
int sock_connect(const struct sock_addr *to, const struct sock_addr *from, const struct sock_tune *,
		 struct err *e);
/* What is to be set on a connected socket (also on one that was accepted). 0 or -errno with *e. */
int sock_tune_open(int fd, const struct sock_tune *, struct err *e);

/* ---- lines ---- */

/* Cells of a line: its thread writes them. */
struct sock_counts {
	cell_t tx_bytes, rx_bytes; /* payload that the kernel took, and gave */
	cell_t tx_calls, rx_calls; /* sends and receives that moved something; of UDP datagrams */
	cell_t opened;             /* connections established */
	cell_t failed;             /* connections that never opened */
	cell_t ended[WL_END_ABORTED + 1];
};

/* What the kernel says of a connection (TCP_INFO). */
struct sock_info {
	uint32_t retransmits; /* segments, since it opened */
	uint32_t cwnd_bytes, rtt_us, rttvar_us, pmtu, mss, reordering;
	uint32_t snd_wnd; /* bytes; 0: the kernel does not say */
	uint32_t unacked; /* bytes that the peer has not acknowledged, sent or not */
};

struct sock_line;
struct sock_thread;

/* What lines of one kind are. Constant while threads run; what it points to is the caller's. */
#define SOCK_BUFFER_MOST (1u << 20)
struct sock_spec {
	/* The pattern of the wl_flow of each line: wl, conf, content, ncontent, client, on_call,
	 * verify. counts and own are made by the arm, for each line of its own. Histograms
	 * are those of the pattern: `opens` gives lines such as they shall have, if any. */
	struct wl_flow flow;
	struct sock_tune tune;
	uint32_t buffer;   /* most bytes of one send or receive, up to SOCK_BUFFER_MOST; 0: 64 KB */
	bool more;         /* all is sent with MSG_MORE, as if it were a message without end */
	bool zerocopy;     /* MSG_ZEROCOPY */
	bool map_receive;  /* TCP_ZEROCOPY_RECEIVE */
	bool skip_receive; /* MSG_TRUNC: what is received is counted and thrown away */
	bool again;        /* client: opens anew when the connection has closed */
	bool leave;        /* closes without waiting for the end of the peer's direction */
	bool keep;         /* server: a line stays, closed, until sock_free() */
	/* Bytes that go before all that the record says, and that are not its. */
	const void *preamble;
	uint32_t preamble_len;
	/* Between the begins of two sends of a line: so many ns, and so many more per byte that was
	 * sent, in units of 2^-32 ns; late sends are made up for, at most burst_ns. */
	uint64_t gap_ns, byte_fraction, burst_ns;
	/* on_call: when go() is called for a line that is ready. 0: at once. every_ns: so much
	 * after its last one was due. slot_ns: the next of the arm's slots, one each slot_ns. */
	uint64_t every_ns, slot_ns;
	/* On the thread. `opens` is called before any function of the record for a new line (of a
	 * server: with its connection), and may set user, flow.own and histograms; it returns false
	 * to have it closed. `closes` before the line is given back. NULL: nothing. */
	bool (*opens)(struct sock_line *, void *arg);
	void (*closes)(struct sock_line *, void *arg);
	void *arg;
};

/* A line as others may see it. */
struct sock_line {
	struct wl_flow flow; /* its own */
	struct wl_counts counts;
	struct sock_counts n;
	const struct sock_spec *spec;
	struct sock_thread *thread;
	void *user;        /* the caller's */
	unsigned number;   /* on its thread, from 0 on */
	int fd;            /* the thread's; -1: no connection. See sock_line_info() */
	uint64_t first_ns; /* when its first bytes came; 0: none have */
	struct sock_addr to, from;
	/* The rest is the arm's (sock_int.h). */
};

/* ---- the arm ---- */

struct sock_conf {
	unsigned threads;      /* at least 1 */
	const int *cpu;        /* thread i runs on cpu[i]; NULL: anywhere */
	unsigned epoll_events; /* 0: 1000 */
	bool spins;            /* threads wait as spin.h says, in place of sleeping at once */
	/* Client lines begin all together, when each of them is connected and sock_go() is called;
	 * without it each begins when it is connected. */
	bool gather;
	/* At most so many go() in all, of lines that are on_call; 0: without end. When they are
	 * done SOCK_SPENT is told. */
	uint64_t budget;
	/* On the thread, each tick_ns since sock_go() (or sock_start() without `gather`), and once
	 * more (last) when it stops. NULL: none. */
	void (*tick)(void *arg, struct sock_thread *, uint64_t now_ns, bool last);
	uint64_t tick_ns;
	void *arg;
};

struct sock_arm *sock_new(const struct sock_conf *);
/* Before sock_start(). The line will connect from `from` (NULL: any) to `to`. */
struct sock_line *sock_add(struct sock_arm *, unsigned thread, const struct sock_spec *,
			   const struct sock_addr *to, const struct sock_addr *from);
/* Before sock_start(): the thread accepts connections of fd, a socket of sock_listen(), or takes
 * datagrams of one of sock_bind(): each peer is a line. fd becomes the arm's. */
void sock_serve(struct sock_arm *, unsigned thread, const struct sock_spec *, int fd);
/* At any time: a connected socket becomes a line of the thread; fd becomes the arm's. `first` are
 * bytes that have been read from it already. */
void sock_adopt(struct sock_arm *, unsigned thread, const struct sock_spec *, int fd,
		const void *first, uint32_t n);

/* 0, or -errno with *e: a thread cannot be made. */
int sock_start(struct sock_arm *, struct err *e);
void sock_go(struct sock_arm *);
/* Threads end, their last ticks are over when it returns; connections stay as they are.
 * NULL is allowed. */
void sock_stop(struct sock_arm *);
/* Stops, closes all, gives back everything. NULL is allowed. */
void sock_free(struct sock_arm *);

/* What has happened, for control: the descriptor is readable when bits have been set since the last
 * sock_events(). */
enum sock_event {
	SOCK_CONNECTED = 1, /* all lines of sock_add() are */
	SOCK_FAILED = 2,    /* a line could not connect, or broke: sock_error() */
	SOCK_SPENT = 4,     /* the budget is used up, and the last transaction is done */
	SOCK_ACCEPTED = 8,  /* a server has a new line */
	SOCK_ENDED = 16,    /* a line has closed, and does not open again */
};
int sock_event_fd(const struct sock_arm *);
unsigned sock_events(struct sock_arm *);
/* The first failure of a line. false: there was none. */
bool sock_error(struct sock_arm *, struct err *e);

/* ---- looking ---- */

unsigned sock_thread_number(const struct sock_thread *);
/* On the thread, or when it does not run: its lines in the order in which they came, NULL behind
 * the last. */
struct sock_line *sock_line_next(const struct sock_thread *, const struct sock_line *before);
/* At any time: calls fn for each line of all threads, which meanwhile open and close none. */
void sock_each(struct sock_arm *, void (*fn)(void *arg, struct sock_line *), void *arg);
/* In the fn of sock_each(), or on the thread: false if it has no TCP connection. */
bool sock_line_info(const struct sock_line *, struct sock_info *);
/* Bytes that TCP_ZEROCOPY_RECEIVE has mapped. */
uint64_t sock_line_mapped(const struct sock_line *);
/* What a thread has used of the CPU so far, at any time until sock_free(). */
uint64_t sock_thread_cpu_ns(const struct sock_arm *, unsigned thread);
uint64_t sock_now_ns(void); /* the clock of all of this: CLOCK_MONOTONIC */
