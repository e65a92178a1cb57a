/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of lib/flow for control, which may allocate: machines, sets of tuples, and whether a
 * flow is possible. flow_run.h says what a machine is. */
#pragma once
#include "flow_run.h"

#define FLOW_RECORD 64 /* bytes of a cell of records */
struct flow_machine_conf {
	uint32_t connections; /* most that live at once, TIME-WAIT included; at most 2^27 */
	/* Cells for what only some need at a time: loss, small windows, endless messages (side; 0:
	 * an eighth of the connections and 4096; at most 2^20 - 1), and cells of records (0: one
	 * for each connection and 4096). A workload tells how many each connection has all its
	 * life: workload.cells() of workload_run.h. */
	uint32_t side_cells, record_cells;
	uint32_t touched;  /* of so many connections the memory is there before they are opened */
	bool touched_hash; /* they are a server's, and found by the hash: its memory, too */
	uint32_t buffers;  /* connections with buffers at once */
	uint16_t paths;    /* paths that servers learn, to different clients; 0: 1024 */
	bool is6;          /* IPv6 servers: 16 bytes more per connection */
	/* The sender may be a kernel on this machine, which leaves checksums to a device that there
	 * is not: a checksum that is the sum of the pseudo header alone counts as unverified. Of
	 * frames that were damaged on their way, one in 65536 looks so, too. */
	bool kernel_peer;
	/* All segments go the general way, also those that have a shorter one: to compare both. */
	bool general;
	bool verify_sums;   /* compute checksums of frames whose verdict is FLOW_SUM_UNKNOWN; else
			    * they count as unverified */
	uint64_t secret[2]; /* of sequence numbers and hashes (RFC 6528): random in real use */
	uint64_t now_ns;
	struct flow_sink *sink; /* the owner's; it outlives the machine */
};

/* Makes a machine. -ENOMEM, -EINVAL with *e. Memory comes from the system at once, but its pages
 * are used only when connections are, beside those of `touched`. */
int flow_machine_new(struct flow_machine **out, const struct flow_machine_conf *conf,
		     struct err *e);
void flow_machine_free(struct flow_machine *m);
/* Bytes that `connections` at once use, without and with the parts that only some need. */
uint64_t flow_machine_bytes(const struct flow_machine_conf *conf, bool all);

/* A set of tuples. Values, lists included, are copied. A server has no remote and remote_port.
 * dense: a slot of 4 bytes for each tuple, if all fields are ranges and there are at most
 * FLOW_DENSE_MAX tuples; a machine knows FLOW_SETS such sets at a time. Other tuples are found by a
 * hash of live connections. prefix6: the first 12 bytes of both addresses of IPv6; NULL: IPv4. */
#define FLOW_DENSE_MAX (1u << 26)
struct flow_tuples_conf {
	const struct flow_values *remote, *remote_port, *local, *local_port;
	const uint8_t *local_prefix6, *remote_prefix6;
	/* The order of fields, the fastest first: see enum flow_nest; all 0: the usual one. */
	uint8_t nest[4];
	bool dense, touched; /* touched: the memory of its slots is there from the start */
	uint64_t start;      /* the tuple that is opened first; with weights: the source */
	/* With weights: of the turns that `queues` machines take, these are numbers queue, queue +
	 * queues, ..., so that all together open the servers of one round after the other. With
	 * several, each round begins one turn behind the one before: so each machine meets all
	 * servers. 0 queues: there is one. */
	uint32_t queue, queues;
};
int flow_tuples_new(struct flow_tuples **out, const struct flow_tuples_conf *conf, struct err *e);
/* After the last machine that used it. */
void flow_tuples_free(struct flow_tuples *t);
/* How many there are (at most 2^64 - 1), tuple i (i below that), and the memory of the slots. */
uint64_t flow_tuples_count(const struct flow_tuples *t);
void flow_tuples_at(const struct flow_tuples *t, uint64_t i, struct flow_tuple *out);
uint64_t flow_tuples_bytes(const struct flow_tuples *t);
/* Whether a tuple is in the set: of a server, whether its local end is. */
bool flow_tuples_have(const struct flow_tuples *t, const struct flow_tuple *tuple);

/* How many sources a round of servers with weights needs, and how many there are. Returns how many
 * tuples that makes, 0: too few for a round. */
uint64_t flow_weights_count(const struct flow_tuples_conf *conf, uint64_t *need, uint64_t *have);

/* Makes an index of the servers of a flow: all addresses by all ports, in this order, at most
 * FLOW_SERVERS_MAX; `remote`: they are those of a client. free() it. NULL: there are more. */
struct flow_servers *flow_servers_new(const struct flow_values *address,
				      const struct flow_values *port, bool remote);
/* Their number, and address and port of number i, in the machine's order. */
uint32_t flow_servers_count(const struct flow_servers *s);
/* The number of one of them; their count: it is none. */
uint32_t flow_servers_find(const struct flow_servers *s, uint32_t address, uint16_t port);
void flow_servers_at(const struct flow_servers *s, uint32_t i, uint32_t *address, uint16_t *port);

/* Makes a path of its first l4 bytes. Lengths, checksums and addresses of the IP header at l3 need
 * not be right, and neither what `fix` names. -EINVAL with *e: it is no IP header, or too long. */
int flow_path_init(struct flow_path *p, const uint8_t *bytes, unsigned l3, unsigned l4,
		   uint16_t ident, const struct flow_fix *fix, unsigned nfix, struct err *e);

/* Whether a version is possible: what it lacks is said in *e. -EINVAL. */
int flow_check(const struct flow_spec *spec, struct err *e);
