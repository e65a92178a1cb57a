/* SPDX-License-Identifier: BSD-3-Clause */
/* One port of a file in commands: the host, the headers, and the tuples of its connections. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "dperf_int.h"

#define ANSWER_MOST 16 /* prefixes of answer.for */
#define VXLAN_PORT 4789
#define JUMBO_MTU 9710
#define PLAIN_MTU 1500
#define GATEWAY_WAIT_S 60 /* so long dperf asks for it, so that either end may be started first */

/* What follows from nothing that the file says is of the line of its port. */
static struct dperf_from say_from(const struct dperf_say *s, enum dperf_id id)
{
	unsigned i = dperf_directives[id].repeats && id != DPERF_CHANGE_DIP ? s->i : 0;
	const struct dperf_line *l = dperf_find(s->c, id, i);

	l = l != NULL ? l : dperf_find(s->c, DPERF_PORT, s->i);
	return (struct dperf_from){.name = s->c->name, .line = l->line, .col = l->col};
}

static void say_came(const struct dperf_say *s, struct dperf_from from)
{
	struct dperf_plan *p = s->plan;

	p->from = xrealloc(p->from, (p->nfrom + 1) * sizeof(*p->from));
	p->from[p->nfrom++] = from;
}

void dperf_set(const struct dperf_say *s, enum dperf_id id, const char *fmt, ...)
{
	va_list ap;

	say_came(s, say_from(s, id));
	sbuf_addf(s->out, "set %u", s->port);
	if (s->stream > 0)
		sbuf_addf(s->out, "/%u", s->stream - 1);
	sbuf_addc(s->out, ' ');
	va_start(ap, fmt);
	sbuf_vaddf(s->out, fmt, ap);
	va_end(ap);
	sbuf_addc(s->out, '\n');
}

void dperf_command(const struct dperf_say *s, const struct dperf_line *l, const char *fmt, ...)
{
	va_list ap;

	say_came(s, (struct dperf_from){.name = s->c->name, .line = l->line, .col = l->col});
	va_start(ap, fmt);
	sbuf_vaddf(s->out, fmt, ap);
	va_end(ap);
	sbuf_addc(s->out, '\n');
}

void dperf_set_word(const struct dperf_say *s, enum dperf_id id, const char *setting,
		    const char *text)
{
	struct sbuf word = {0};

	cmd_quote(text, &word);
	dperf_set(s, id, "%s %s", setting, sbuf_str(&word));
	sbuf_free(&word);
}

static unsigned say_bits(const struct dperf_addr *a)
{
	return a->six ? 128 : 32;
}

static bool say_bit(const struct dperf_addr *a, unsigned i)
{
	return a->b[i / 8] >> (7 - i % 8) & 1;
}

/* All bits behind the first n have this value. */
static bool say_rest_is(const struct dperf_addr *a, unsigned n, bool value)
{
	for (unsigned i = n; i < say_bits(a); i++)
		if (say_bit(a, i) != value)
			return false;
	return true;
}

/* How many bits two addresses have in common. */
static unsigned say_common(const struct dperf_addr *a, const struct dperf_addr *b)
{
	unsigned n = 0;

	while (n < say_bits(a) && say_bit(a, n) == say_bit(b, n))
		n++;
	return n;
}

/* Whether an address is the first or the last one of the prefix of `in` that has n bits. */
static bool say_is_edge(const struct dperf_addr *a, const struct dperf_addr *in, unsigned n)
{
	return a->six == in->six && say_common(a, in) >= n &&
	       (say_rest_is(a, n, false) || say_rest_is(a, n, true));
}

/* Whether one of those that a client sends to is: nobody but a broadcast has its last one. */
static bool say_sends_to_edge(const struct dperf_say *s, const struct dperf_addr *in, unsigned n)
{
	const struct dperf_line *l = dperf_find(s->c, DPERF_SERVER, s->i);
	const struct dperf_line *x = dperf_find(s->c, DPERF_VXLAN, s->i);
	const struct dperf_value *to = x != NULL ? &x->v[5] : &l->v[0];

	for (uint64_t i = 0; !s->c->server && i < to[1].n; i++) {
		struct dperf_addr a = dperf_add(&to->addr, i);
		if (say_is_edge(&a, in, n))
			return true;
	}
	return false;
}

/* The longest prefix that has both addresses of a port and its gateway, and neither of them, nor
 * what the port sends to, as its first or last one. dperf sends all to the gateway, so the fewer
 * addresses are on the link the better. */
static unsigned say_prefix(const struct dperf_say *s, const struct dperf_addr *a,
			   const struct dperf_addr *b)
{
	unsigned n = say_common(a, b);

	while (n > 1 &&
	       (say_is_edge(a, a, n) || say_is_edge(b, a, n) || say_sends_to_edge(s, a, n)))
		n--;
	return n > 0 ? n : 1;
}

/* Appends the prefixes that are n addresses from a on. Returns how many. */
static unsigned say_prefixes(const struct dperf_addr *a, unsigned n, struct sbuf *out)
{
	unsigned count = 0, bits = say_bits(a), last = a->six ? 15 : 3;
	struct dperf_addr at = *a;

	while (n > 0) {
		unsigned size = 1, len = bits;
		while (at.b[last] % (2 * size) == 0 && 2 * size <= n && size < 128) {
			size *= 2;
			len--;
		}
		sbuf_add(out, out->len > 0 ? "," : "");
		dperf_print_addr(&at, out);
		sbuf_addf(out, "/%u", len);
		at = dperf_add(&at, size);
		n -= size;
		count++;
	}
	return count;
}

/* The port answers for the addresses of its flows, or below VXLAN for those of the tunnel. */
static void say_answers(const struct dperf_say *s)
{
	const struct dperf_line *l =
		dperf_find(s->c, s->c->server ? DPERF_SERVER : DPERF_CLIENT, s->i);
	const struct dperf_line *x = dperf_find(s->c, DPERF_VXLAN, s->i);
	struct sbuf list = {0};
	unsigned n;

	if (x != NULL) {
		n = say_prefixes(&x->v[3].addr, (unsigned)x->v[4].n, &list);
	} else {
		n = say_prefixes(&l->v[0].addr, (unsigned)l->v[1].n, &list);
		for (unsigned i = 2; i < l->n; i++)
			n += say_prefixes(&l->v[i].addr, 1, &list);
	}
	if (n > ANSWER_MOST) {
		struct dperf_addr net = l->v[0].addr;
		net.b[net.six ? 15 : 3] = 0;
		sbuf_reset(&list);
		dperf_print_addr(&net, &list);
		sbuf_addf(&list, "/%u", say_bits(&net) - 8);
		sbuf_addf(s->out,
			  "# client: it answers for all of %s, because the addresses come to %u "
			  "prefixes and %d are possible\n",
			  list.s, n, ANSWER_MOST);
	}
	dperf_set(s, s->c->server ? DPERF_SERVER : DPERF_CLIENT, "answer.for %s", list.s);
	sbuf_free(&list);
}

unsigned dperf_jumbo(const struct dperf_conf *c)
{
	return dperf_has(c, DPERF_JUMBO) ? (unsigned)dperf_number(c, DPERF_JUMBO, JUMBO_MTU) : 0;
}

void dperf_say_host(const struct dperf_say *s)
{
	const struct dperf_line *p = dperf_find(s->c, DPERF_PORT, s->i);
	const struct dperf_line *vlan = dperf_find(s->c, DPERF_VLAN, 0);

	if (dperf_has(s->c, DPERF_JUMBO))
		dperf_set(s, DPERF_JUMBO, "mtu %u", dperf_jumbo(s->c));
	else if (s->peer != NULL && dperf_has(s->peer, DPERF_JUMBO))
		dperf_set(s, DPERF_JUMBO, "mtu %d", PLAIN_MTU);
	dperf_set(s, DPERF_PORT, "ip %s/%u", p->v[1].text,
		  say_prefix(s, &p->v[1].addr, &p->v[2].addr));
	dperf_set(s, DPERF_PORT, "gateway %s", p->v[2].text);
	if (vlan != NULL)
		dperf_set(s, DPERF_VLAN, "host.vlan %s", vlan->v[0].text);
	if (p->n > 3)
		dperf_set(s, DPERF_PORT, "host.neighbours %s=%s", p->v[2].text, p->v[3].text);
	else
		dperf_set(s, DPERF_PORT, "host.wait %ds", GATEWAY_WAIT_S);
	if (!dperf_has(s->c, DPERF_NEIGH_IGNORE))
		say_answers(s);
	/* dperf does so but inside VXLAN. What answers a flood is of its sockets there. */
	if (!s->c->udp && !dperf_has(s->c, DPERF_FLOOD) && !dperf_has(s->c, DPERF_VXLAN) &&
	    dperf_number(s->c, DPERF_TCP_RST, 1) != 0)
		dperf_set(s, DPERF_TCP_RST, "answer arp,nd,ping,reset");
}

void dperf_range(const struct dperf_line *l, uint64_t first, uint64_t n, struct sbuf *out)
{
	bool row = l->n <= 2 && n > 1;
	struct dperf_addr a;

	if (l->n > 2 && n > 1)
		sbuf_add(out, "list ");
	for (uint64_t i = 0; i < n; i += row ? n - 1 : 1) {
		sbuf_add(out, i == 0 ? "" : row ? ".." : ",");
		dperf_address(l, (unsigned)(first + i), &a);
		dperf_print_addr(&a, out);
	}
}

void dperf_span_print(const struct dperf_span *v, struct sbuf *out)
{
	sbuf_addf(out, "%llu", (unsigned long long)v->first);
	if (v->n > 1)
		sbuf_addf(out, "..%llu", (unsigned long long)(v->first + (v->n - 1) * v->step));
	if (v->n > 1 && v->step > 1)
		sbuf_addf(out, " step %llu", (unsigned long long)v->step);
}

struct dperf_fields dperf_fields(const struct dperf_conf *c)
{
	bool tunnel = dperf_has(c, DPERF_VXLAN);

	return (struct dperf_fields){.ip = c->six   ? "ipv6"
					   : tunnel ? "ipv4[2]"
						    : "ipv4",
				     .l4 = !c->udp  ? "tcp"
					   : tunnel ? "udp[2]"
						    : "udp"};
}

/* The headers of a tunnel: local and remote ends as they are seen from here. */
static void say_tunnel(const struct dperf_say *s, const struct dperf_line *x)
{
	static const struct {
		const char *field;
		unsigned at;
	} ends[] = {{"ipv4.src", 3}, {"ipv4.dst", 5}};

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct dperf_value *v = &x->v[ends[i].at];
		struct dperf_addr last = dperf_add(&v->addr, v[1].n - 1);
		struct sbuf b = {0};
		dperf_print_addr(&v->addr, &b);
		if (v[1].n > 1) {
			sbuf_add(&b, "..");
			dperf_print_addr(&last, &b);
		}
		/* A server answers to whoever asks, and from the end that was asked: it says its
		 * own only if it has one. */
		if (!s->c->server || (i == 0 && v[1].n == 1))
			dperf_set(s, DPERF_VXLAN, "%s %s", ends[i].field, b.s);
		sbuf_free(&b);
	}
	dperf_set(s, DPERF_VXLAN, "udp.dst %d", VXLAN_PORT);
	dperf_set(s, DPERF_VXLAN, "vxlan.vni %s", x->v[0].text);
	dperf_set(s, DPERF_VXLAN, "eth[2].src %s", x->v[1].text);
	dperf_set(s, DPERF_VXLAN, "eth[2].dst %s", x->v[2].text);
}

void dperf_say_frame(const struct dperf_say *s)
{
	const struct dperf_line *p = dperf_find(s->c, DPERF_PORT, s->i);
	const struct dperf_line *x = dperf_find(s->c, DPERF_VXLAN, s->i);
	const struct dperf_line *vlan = dperf_find(s->c, DPERF_VLAN, 0);
	uint64_t tos = dperf_number(s->c, DPERF_TOS, 0);

	dperf_set(s, DPERF_PROTOCOL, "frame eth%s%s/%s/%s", vlan != NULL ? "/vlan" : "",
		  x != NULL ? "/ipv4/udp/vxlan/eth" : "", s->c->six ? "ipv6" : "ipv4",
		  s->c->udp ? "udp" : "tcp");
	if (vlan != NULL)
		dperf_set(s, DPERF_VLAN, "vlan.vid %s", vlan->v[0].text);
	if (p->n > 3)
		dperf_set(s, DPERF_PORT, "eth.dst %s", p->v[3].text);
	if (x != NULL)
		say_tunnel(s, x);
	if (tos != 0)
		dperf_set(s, DPERF_TOS, "%s.%s 0x%02llx", dperf_fields(s->c).ip,
			  s->c->six ? "tc" : "tos", (unsigned long long)tos);
}

void dperf_table(const struct dperf_say *s, struct dperf_span out[DPERF_DIGITS])
{
	const struct dperf_line *client = dperf_find(s->c, DPERF_CLIENT, s->i);
	const struct dperf_line *server = dperf_find(s->c, DPERF_SERVER, s->i);
	const struct dperf_line *listen = dperf_find(s->c, DPERF_LISTEN, 0);
	const struct dperf_line *range = dperf_find(s->c, DPERF_CLIENT_PORT_RANGE, 0);

	range = range != NULL ? range : dperf_find(s->c, DPERF_LPORT_RANGE, 0);
	uint64_t first = range != NULL ? range->v[0].n : 1;
	uint64_t last = range != NULL && range->n > 1 ? range->v[1].n : 65535;
	out[DPERF_DST] = (struct dperf_span){0, dperf_addresses(server), 1};
	out[DPERF_DPORT] = (struct dperf_span){listen != NULL ? listen->v[0].n : 80,
					       listen != NULL ? listen->v[1].n : 1, 1};
	out[DPERF_SPORT] = (struct dperf_span){first, last - first + 1, 1};
	out[DPERF_SRC] = (struct dperf_span){0, dperf_addresses(client), 1};
}

/* The values of one digit. */
static void say_digit(const struct dperf_say *s, unsigned i, const struct dperf_span *v)
{
	const struct dperf_fields f = dperf_fields(s->c);
	bool lport = dperf_has(s->c, DPERF_LPORT_RANGE), server = s->c->server;
	/* which field of a client, and which of a server */
	static const struct {
		bool ip;
		const char *end[2];
	} field[DPERF_DIGITS] = {[DPERF_DST] = {true, {"dst", "src"}},
				 [DPERF_DPORT] = {false, {"dst", "src"}},
				 [DPERF_SPORT] = {false, {"src", "dst"}},
				 [DPERF_SRC] = {true, {"src", "dst"}}};
	const enum dperf_id id[DPERF_DIGITS] = {[DPERF_DST] = DPERF_SERVER,
						[DPERF_DPORT] = DPERF_LISTEN,
						[DPERF_SPORT] = lport ? DPERF_LPORT_RANGE
								      : DPERF_CLIENT_PORT_RANGE,
						[DPERF_SRC] = DPERF_CLIENT};
	struct sbuf b = {0};

	if (field[i].ip)
		dperf_range(dperf_find(s->c, id[i], s->i), v->first, v->n, &b);
	else
		dperf_span_print(v, &b);
	dperf_set(s, id[i], "%s.%s %s", field[i].ip ? f.ip : f.l4, field[i].end[server],
		  sbuf_str(&b));
	sbuf_free(&b);
}

/* The order of dperf: from one connection to the next the server's address runs fastest, then its
 * port, then the client's port, then its address. Only what varies can be in a nest. A stream that
 * was made like another one has that one's nest. */
static void say_nest(const struct dperf_say *s, const struct dperf_span d[DPERF_DIGITS], bool dst)
{
	const struct dperf_fields f = dperf_fields(s->c);
	const struct {
		const char *header, *field;
	} order[DPERF_DIGITS] = {{f.ip, "dst"}, {f.l4, "dst"}, {f.l4, "src"}, {f.ip, "src"}};
	struct sbuf b = {0};
	unsigned n = 0;

	for (unsigned i = dst ? 0 : 1; i < DPERF_DIGITS; i++)
		if (d[i].n > 1)
			sbuf_addf(&b, "%s%s.%s", n++ > 0 ? "," : "", order[i].header,
				  order[i].field);
	if (n > 1)
		dperf_set(s, DPERF_CLIENT, "nest %s", b.s);
	else if (s->stream > 1)
		dperf_set(s, DPERF_CLIENT, "nest none");
	sbuf_free(&b);
}

void dperf_say_block(const struct dperf_say *s, const struct dperf_span d[DPERF_DIGITS])
{
	bool dst = !dperf_has(s->c, DPERF_CHANGE_DIP);

	say_digit(s, DPERF_SRC, &d[DPERF_SRC]);
	if (dst)
		say_digit(s, DPERF_DST, &d[DPERF_DST]);
	say_digit(s, DPERF_SPORT, &d[DPERF_SPORT]);
	say_digit(s, DPERF_DPORT, &d[DPERF_DPORT]);
	if (!dperf_has(s->c, DPERF_CLIENT_HOP) || dperf_has(s->c, DPERF_FLOOD))
		say_nest(s, d, dst);
}

void dperf_say_tuples(const struct dperf_say *s)
{
	struct dperf_span d[DPERF_DIGITS];

	dperf_table(s, d);
	if (s->c->server) {
		say_digit(s, DPERF_DST, &d[DPERF_DST]);
		say_digit(s, DPERF_DPORT, &d[DPERF_DPORT]);
	} else {
		dperf_say_block(s, d);
	}
}
