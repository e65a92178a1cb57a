/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of what is counted, and names of states. */
#include "flow_run.h"

#define ROW(field, unit, help) \
	{ \
#field, unit, help, offsetof(struct flow_counts, field) \
	}
#define CONNS(field, help) ROW(field, "connections", help)
#define SEGMENTS(field, help) ROW(field, "segments", help)

const struct counter flow_counts_table[] = {
	CONNS(opened, "connections that were begun; a server's with the SYN"),
	CONNS(established, "handshakes that were completed"),
	CONNS(refused, "answered by RST while opening"),
	CONNS(connect_timeout, "without an answer while opening"),
	CONNS(unreachable, "ended by an ICMP error while opening"),
	ROW(no_tuple, "opens", "opens that found eight tuples in use, one after another"),
	CONNS(aborted_opening, "given up by us while opening"),
	CONNS(opening, "opening now"),
	CONNS(closed, "closed by FIN of both ends"),
	CONNS(reset_by_us, "reset by us, as their workload asked"),
	CONNS(reset_by_peer, "reset by the peer"),
	CONNS(timed_out, "whose peer did not answer any more"),
	CONNS(aborted, "reset by us at the end of a run"),
	CONNS(open, "open now"),
	ROW(tx_bytes, "bytes", "payload sent, each byte once"),
	ROW(rx_bytes, "bytes", "payload received, each byte once"),
	SEGMENTS(tx, "segments or datagrams sent"),
	SEGMENTS(rx, "segments or datagrams received"),
	SEGMENTS(retransmitted, "segments that had been sent before"),
	SEGMENTS(duplicate, "segments of which all had been received before"),
	SEGMENTS(out_of_order, "segments that came before others that are missing"),
	SEGMENTS(bad_checksum, "segments with a wrong checksum"),
	SEGMENTS(unverified, "segments whose checksum nobody could verify"),
	SEGMENTS(same_tos, "received with the type of service of those sent, if that is not 0"),
	ROW(rto, "times", "retransmission time-outs"),
	ROW(fast_recovery, "times", "recoveries that acknowledgements started"),
	ROW(tail_probe, "segments", "probes for losses at the end of a flight"),
	ROW(window_probe, "segments", "sent into a closed window"),
	ROW(window_full, "times", "times that the peer's window was closed"),
	SEGMENTS(dup_ack, "received that acknowledge nothing new"),
	SEGMENTS(ack_sent, "sent without payload"),
	SEGMENTS(ack_again, "ACKs sent again, since what they acknowledge came a second time"),
	SEGMENTS(syn_retransmitted, "SYNs sent again"),
	SEGMENTS(fin_retransmitted, "FINs sent again"),
	SEGMENTS(rst_received, "RSTs that ended a connection"),
	SEGMENTS(rst_sent, "RSTs of connections"),
	SEGMENTS(rst_ignored, "RSTs outside of the window"),
	SEGMENTS(challenge_ack, "ACKs in answer to what an attacker could have sent"),
	SEGMENTS(beyond_window, "segments with more than we had offered to take"),
	SEGMENTS(not_kept, "segments out of order that were dropped"),
	CONNS(timewait_reused, "tuples used again before their rest was over"),
	ROW(pmtu_lowered, "times", "times that segments became smaller for a router"),
	SEGMENTS(syn_dropped, "opens of others without room for them"),
	ROW(no_memory, "opens", "opens without a free cell"),
	ROW(not_sent, "datagrams", "datagrams that the device had no room for"),
	CONNS(no_side, "times that a connection found no memory for losses or messages"),
	ROW(icmp_port, "errors", "ICMP errors: nobody listens on the port"),
	ROW(icmp_host, "errors", "ICMP errors: host or network unreachable"),
	ROW(icmp_prohibited, "errors", "ICMP errors: prohibited"),
	ROW(icmp_other, "errors", "ICMP errors for other reasons, such as exceeded hops"),
	ROW(icmp_too_big, "errors", "ICMP errors: too big for a link on the way"),
	ROW(icmp_ignored, "errors", "ICMP errors about what is not on its way"),
	{NULL},
};

#define MACHINE(field, unit, help) \
	{ \
#field, unit, help, offsetof(struct flow_machine_counts, field) \
	}
const struct counter flow_machine_counts_table[] = {
	MACHINE(rx, "frames", "frames received for flows"),
	MACHINE(tx, "frames", "frames handed to the device"),
	MACHINE(malformed, "frames", "frames whose lengths contradict each other"),
	MACHINE(not_ours, "frames", "fragments, and frames of other protocols"),
	MACHINE(bad_checksum, "frames", "frames of no flow with a wrong checksum"),
	MACHINE(no_match, "frames", "frames of no connection"),
	MACHINE(rst_sent, "segments", "RSTs in answer to those"),
	MACHINE(sink_full, "times", "times that the device had no room"),
	MACHINE(cells_used, "cells", "connections that live now, or rest"),
	MACHINE(side_used, "cells", "connections with more than one cell now"),
	MACHINE(paths_used, "paths", "paths that servers know"),
	MACHINE(timer_visits, "visits", "entries of the timer wheel that came due"),
	{NULL},
};

const char *flow_state_name(enum flow_state s)
{
	static const char *const name[] = {
		[FLOW_FREE] = "FREE",
		[FLOW_SYN_SENT] = "SYN-SENT",
		[FLOW_SYN_RECEIVED] = "SYN-RECEIVED",
		[FLOW_ESTABLISHED] = "ESTABLISHED",
		[FLOW_FIN_WAIT_1] = "FIN-WAIT-1",
		[FLOW_FIN_WAIT_2] = "FIN-WAIT-2",
		[FLOW_CLOSING] = "CLOSING",
		[FLOW_TIME_WAIT] = "TIME-WAIT",
		[FLOW_CLOSE_WAIT] = "CLOSE-WAIT",
		[FLOW_LAST_ACK] = "LAST-ACK",
		[FLOW_UDP] = "UDP",
	};

	return (unsigned)s < ARRAY_SIZE(name) ? name[s] : "?";
}
