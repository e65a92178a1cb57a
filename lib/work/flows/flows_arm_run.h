/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's protocol on a port: one flow of buffered connections, whose bytes go to and from
 * control, and one of data. This is the memory that control and the worker of a queue share; each
 * cell has one writer. */
#pragma once
#include "flow_run.h"

#define FLOWS_CHANS 64
/* Flows of data that have one connection each: of a port's flows one is that of control. */
#define FLOWS_LINES 62

/* What control asks of a connection. */
enum flows_order {
	FLOWS_ORDER_NONE,
	FLOWS_ORDER_CONNECT, /* of one that is FREE */
	FLOWS_ORDER_CLOSE,   /* FIN behind all that was put */
	FLOWS_ORDER_FORGET,  /* with a RST if it lives; it becomes FREE */
};
enum flows_chan_state { FLOWS_CHAN_FREE, FLOWS_CHAN_OPENING, FLOWS_CHAN_OPEN, FLOWS_CHAN_GONE };

/* A connection: two rings of bytes, whose positions only grow. */
struct flows_chan {
	/* control's */
	WR_ALIGNED(CACHE_LINE) cell_t order, tx_put, rx_got;
	struct flow_tuple tuple; /* of CONNECT */
	/* the worker's */
	WR_ALIGNED(CACHE_LINE) cell_t state, tx_got, rx_put;
	cell_t unacked;   /* bytes of those it got that the peer may not have yet */
	cell_t peer_done; /* behind all that was read */
	cell_t ended;     /* enum wl_end, of GONE */
	uint32_t number;
	bool fin;
	struct flow_tuple peer; /* of one that was accepted, if it is known */
	uint8_t tx[FLOW_BUFFER], rx[FLOW_BUFFER];
};

/* Counters at one time. */
struct flows_arm_at {
	cell_t tsc; /* 0: not yet */
	struct flow_counts flow;
	struct wl_counts wl;
};

/* A flow of data with one connection. */
struct flows_line {
	struct flows_state_of *flow; /* constant */
	/* the worker's: of its connection, as it was some ms ago */
	WR_ALIGNED(CACHE_LINE) cell_t cwnd, srtt_ns, window, mss, unacked;
	bool begun;
};

enum flows_go {
	FLOWS_GO_NOT,  /* a client opens nothing */
	FLOWS_GO_OPEN, /* it opens */
	FLOWS_GO_ALL,  /* and each connection that waits for it begins */
};

/* A server whose connections of data come when control lets them: flows that nobody listens for
 * until then, though they have the address and the port of the connections of control, which all
 * others are for. */
enum flows_let {
	FLOWS_LET_NONE, /* those that are there end */
	FLOWS_LET_COME, /* to one of the flows; those of before are no more then */
	FLOWS_LET_STAY, /* those that are there live on, and no more come */
};
/* What control asks: flows_let, which flow, and a number that is another one each time. */
#define FLOWS_LET(let, which, number) ((uint64_t)(number) << 16 | (uint64_t)(which) << 8 | (let))
#define FLOWS_LET_OF(order) ((order)&0xff)
#define FLOWS_LET_WHICH(order) ((unsigned)((order) >> 8 & 0xff))

/* A connection that has come to such a flow, as it was some ms ago. It keeps its place until others
 * may come. */
#define FLOWS_PEERS 512
struct flows_peer {
	cell_t identity; /* wl_identity(); 0: a free place */
	cell_t cwnd, srtt_ns, window, mss, resent;
	struct flow_tuple tuple; /* constant */
};
struct flows_arm_job {
	/* constant */
	struct flows_state_of *chan_flow, *data_flow;
	bool client;
	uint32_t flows; /* the worker's share of a client's connections of data */
	/* 0: data_flow has them all. Else so many flows have one each, of which it is the first; a
	 * server's have those that `let` lets come. */
	uint32_t nlines;
	/* control's */
	WR_ALIGNED(CACHE_LINE) cell_t go; /* enum flows_go */
	cell_t stop; /* 1: the workload drains from now on, and `stopped` is written */
	cell_t let;  /* FLOWS_LET(); 0: nothing yet */
	/* the worker's */
	WR_ALIGNED(CACHE_LINE) cell_t first_tsc; /* when data came first; 0: not yet */
	struct flows_arm_at went, stopped;
	uint64_t seen;  /* of go, behind the counters of `went` */
	uint32_t begun; /* connections that have begun; of lines, that were opened */
	uint64_t walk_ns;
	uint32_t walk_at;
	cell_t let_done;  /* of `let`, when it is so */
	uint32_t listens; /* of which flow the version listens, counted from 1; 0: of none */
	uint64_t end_ns;  /* what is left of NONE is reset then; 0: nothing is */
	struct flows_peer peer[FLOWS_PEERS];
	struct flows_line line[FLOWS_LINES];
	uint8_t scratch[FLOW_BUFFER];
	struct flows_chan chan[FLOWS_CHANS];
};
