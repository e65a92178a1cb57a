/* SPDX-License-Identifier: BSD-3-Clause */
/* Super-frames of UDP: a kernel of this machine gives several datagrams of a connection as one
 * frame (UDP_SEGMENT, UDP_GRO), with lengths and a begun checksum of all of them. The machine gets
 * those that a network would have carried, each with headers of its own. */
#include "flows_own.h"
#include "proto_run.h"

#define CUT_HEADERS 512u          /* most bytes of headers that are made anew */
#define CUT_ROOM (65536u + 2048u) /* of datagrams at a time; one is at most 65507 bytes */
#define CUT_AT_ONCE 64u

/* Where headers end and what is in the frame. */
struct cut {
	unsigned l4, payload; /* where UDP and its payload begin */
	uint32_t left, size;  /* bytes of payload, and of each datagram but the last one */
};

/* false: it does not say of itself what is in it; the machine is to judge it as it is. */
static bool cut_find(const struct flow_in *in, const struct rte_mbuf *m, struct cut *c)
{
	const uint8_t *ip = in->data + in->l3;
	bool is6 = ip[0] >> 4 == 6;
	uint32_t says, packet;

	c->l4 = in->l4 != 0 ? in->l4 : in->l3 + (is6 ? LEN_IP6 : (ip[0] & 15u) * 4);
	c->payload = c->l4 + LEN_UDP;
	if (in->len < c->payload || c->payload > CUT_HEADERS)
		return false;
	says = get_be16(in->data + c->l4 + 4);
	packet = is6 ? LEN_IP6 + get_be16(ip + 4) : get_be16(ip + 2);
	if (says < LEN_UDP || c->l4 + says > m->pkt_len || c->l4 + says > in->l3 + packet)
		return false;
	c->left = says - LEN_UDP;
	c->size = m->tso_segsz;
	return c->left > c->size;
}

/* Where the next byte of a frame that lies in several buffers is. */
struct cut_from {
	const struct rte_mbuf *m;
	uint32_t at;
};

static void cut_copy(struct cut_from *f, uint8_t *to, uint32_t n)
{
	while (n > 0) {
		uint32_t some = RTE_MIN(n, f->m->data_len - f->at);

		memcpy(to, rte_pktmbuf_mtod_offset(f->m, const uint8_t *, f->at), some);
		to += some;
		n -= some;
		f->at += some;
		if (f->at == f->m->data_len && n > 0)
			*f = (struct cut_from){.m = f->m->next};
	}
}

/* Makes the headers of a datagram with n bytes. Its checksum is not made. */
static void cut_headers(const struct flow_in *in, const struct cut *c, uint8_t *to, uint32_t n)
{
	uint8_t *ip = to + in->l3;

	memcpy(to, in->data, c->payload);
	if (ip[0] >> 4 == 6)
		put_be16(ip + 4, (uint16_t)(c->payload - in->l3 - LEN_IP6 + n));
	else
		put_be16(ip + 2, (uint16_t)(c->payload - in->l3 + n));
	put_be16(to + c->l4 + 4, (uint16_t)(LEN_UDP + n));
}

__rte_noinline void flows_datagrams(struct flow_machine *machine, const struct flow_in *in,
				    const struct rte_mbuf *m, uint64_t now_ns)
{
	uint8_t room[CUT_ROOM]; /* not filled with zeros */
	struct flow_in one[CUT_AT_ONCE];
	struct cut_from from = {.m = m};
	struct cut c;

	if (!cut_find(in, m, &c)) {
		flow_rx(machine, in, 1, now_ns);
		return;
	}
	from.at = c.payload;
	while (c.left > 0) {
		uint32_t used = 0, n;
		unsigned k = 0;

		for (; c.left > 0 && k < CUT_AT_ONCE; k++, used += c.payload + n, c.left -= n) {
			n = RTE_MIN(c.left, c.size);
			if (used + c.payload + n > CUT_ROOM)
				break;
			cut_headers(in, &c, room + used, n);
			cut_copy(&from, room + used + c.payload, n);
			one[k] = *in;
			one[k].data = room + used;
			one[k].len = c.payload + n;
			one[k].rest = NULL;
			/* that of the frame is the first one's at most */
			if (in->verdict == FLOW_SUM_UNKNOWN)
				one[k].verdict = FLOW_SUM_PARTIAL;
		}
		flow_rx(machine, one, k, now_ns);
	}
}
