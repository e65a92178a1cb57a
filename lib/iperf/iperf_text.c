/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports as text, in iperf3's columns. */
#include "iperf_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define RULE "- - - - - - - - - - - - - - - - - - - - - - - - -"

/* Three digits and a unit: "6.23 G", " 676 M". fixed: a letter of -f, 0: by size. */
static void put_scaled(double v, double base, char fixed, struct sbuf *out)
{
	static const char units[] = " KMGT";
	unsigned u = 0;

	if (fixed != 0)
		while (u < 4 && units[u] != toupper((unsigned char)fixed)) {
			v /= base;
			u++;
		}
	else
		for (; u < 4 && v >= base; u++)
			v /= base;
	sbuf_addf(out, "%4.*f ", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
	if (u > 0)
		sbuf_addc(out, units[u]);
}

static void put_bytes(double v, struct sbuf *out)
{
	put_scaled(v, 1024, 0, out);
	sbuf_add(out, "Bytes");
}

static void put_rate(const struct iperf *t, double bytes_s, struct sbuf *out)
{
	if (t->o.format != 0 && isupper((unsigned char)t->o.format)) {
		put_scaled(bytes_s, 1024, t->o.format, out);
		sbuf_add(out, "Bytes/sec");
	} else {
		put_scaled(bytes_s * 8, 1000, t->o.format, out);
		sbuf_add(out, "bits/sec");
	}
}

/* What stands before each line: the title. */
static void put_title(const struct iperf *t, struct sbuf *b)
{
	if (t->o.p.title[0] != '\0')
		sbuf_addf(b, "%s:  ", t->o.p.title);
}

static const char *role_of(const struct iperf *t, bool sends)
{
	if (t->o.server)
		return sends ? "TX-S" : "RX-S";
	return sends ? "TX-C" : "RX-C";
}

static void put_id(const struct iperf *t, const struct iperf_part *p, struct sbuf *b)
{
	put_title(t, b);
	if (p->s != NULL)
		sbuf_addf(b, "[%3d]", p->s->socket);
	else
		sbuf_add(b, "[SUM]");
	if (t->p.bidir)
		sbuf_addf(b, "[%s]", role_of(t, p->sends));
}

static void put_line(struct iperf *t, const char *text)
{
	struct sbuf b = {0};

	put_title(t, &b);
	sbuf_addf(&b, "%s\n", text);
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

/* Interval, transfer, rate. */
static void put_common(const struct iperf *t, const struct iperf_part *p, struct sbuf *b)
{
	double s = p->end_s - p->start_s;

	put_id(t, p, b);
	sbuf_addf(b, " %6.2f-%-6.2f sec  ", p->start_s, p->end_s);
	put_bytes((double)p->bytes, b);
	sbuf_add(b, "  ");
	put_rate(t, s > 0 ? (double)p->bytes / s : 0, b);
}

static double lost_percent(const struct iperf_part *p)
{
	return p->packets > 0 ? 100.0 * (double)p->lost / (double)p->packets : 0;
}

static void put_datagrams(const struct iperf_part *p, struct sbuf *b)
{
	sbuf_addf(b, "  %5.3f ms  %lld/%llu (%.2g%%)  ", p->jitter_s * 1000, (long long)p->lost,
		  (unsigned long long)p->packets, lost_percent(p));
}

static void put_part(const struct iperf *t, const struct iperf_part *p, struct sbuf *b)
{
	put_common(t, p, b);
	if (t->p.udp && p->sends) {
		sbuf_addf(b, "%s  %llu  ", t->p.bidir ? "          " : "",
			  (unsigned long long)p->packets);
	} else if (t->p.udp) {
		put_datagrams(p, b);
	} else if (p->sends && p->retransmits >= 0) {
		sbuf_addf(b, "%5lld", (long long)p->retransmits);
		if (p->s != NULL) {
			sbuf_add(b, "   ");
			put_bytes(p->s->now.cwnd, b);
			sbuf_add(b, "       ");
		} else {
			sbuf_add(b, "             ");
		}
	} else {
		sbuf_add(b, "                  ");
	}
	sbuf_addf(b, "%s\n", p->omitted ? "(omitted)" : "");
}

static void put_head(struct iperf *t, bool interval)
{
	struct sbuf b = {0};
	bool sends = t->o.server ? t->p.reverse : !t->p.reverse;

	sends |= t->p.bidir;
	sbuf_addf(&b, "[ ID]%s Interval           Transfer     Bitrate",
		  t->p.bidir ? "[Role]" : "");
	if (t->p.udp)
		sbuf_add(&b, interval && sends && !t->p.bidir
				     ? "         Total Datagrams"
				     : "         Jitter    Lost/Total Datagrams");
	else if (interval && sends)
		sbuf_add(&b, "         Retr  Cwnd");
	else if (!interval && (sends || !t->o.server))
		sbuf_add(&b, "         Retr");
	put_line(t, sbuf_str(&b));
	sbuf_free(&b);
}

struct iperf_part iperf_sum(const struct iperf_part *p, unsigned n, bool sends)
{
	struct iperf_part sum = {.sends = sends, .retransmits = -1};
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		if (p[i].sends != sends)
			continue;
		if (k == 0 || p[i].start_s < sum.start_s)
			sum.start_s = p[i].start_s;
		if (k == 0 || p[i].end_s > sum.end_s)
			sum.end_s = p[i].end_s;
		sum.omitted = p[i].omitted;
		sum.bytes += p[i].bytes;
		sum.packets += p[i].packets;
		sum.lost += p[i].lost;
		sum.unordered += p[i].unordered;
		sum.jitter_s += p[i].jitter_s;
		if (p[i].retransmits >= 0)
			sum.retransmits =
				(sum.retransmits < 0 ? 0 : sum.retransmits) + p[i].retransmits;
		k++;
	}
	if (k > 0)
		sum.jitter_s /= k;
	return sum;
}

void iperf_text_parts(struct iperf *t, const struct iperf_part *p, unsigned n)
{
	struct sbuf b = {0};

	if (!t->header)
		put_head(t, true);
	else if (t->p.parallel > 1)
		put_line(t, RULE);
	t->header = true;
	for (unsigned i = 0; i < n; i++)
		put_part(t, &p[i], &b);
	for (int sends = 1; t->p.parallel > 1 && sends >= 0; sends--) {
		struct iperf_part sum = iperf_sum(p, n, sends != 0);
		if (sum.end_s > sum.start_s)
			put_part(t, &sum, &b);
	}
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

void iperf_text_connected(struct iperf *t)
{
	struct sbuf b = {0};

	for (unsigned i = 0; i < t->n; i++) {
		const struct iperf_stream *s = &t->stream[i];
		char own[64], peer[64];
		iperf_host(&s->own, own, sizeof(own));
		iperf_host(&s->peer, peer, sizeof(peer));
		put_title(t, &b);
		sbuf_addf(&b, "[%3d] local %s port %u connected to %s port %u\n", s->socket, own,
			  sock_addr_port(&s->own), peer, sock_addr_port(&s->peer));
	}
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

/* ---- the end ---- */

static void put_total(const struct iperf *t, const struct iperf_part *p, bool sender,
		      struct sbuf *b)
{
	put_common(t, p, b);
	if (t->p.udp)
		put_datagrams(p, b);
	else if (sender && p->retransmits >= 0)
		sbuf_addf(b, "%5lld            ", (long long)p->retransmits);
	else
		sbuf_add(b, "                  ");
	sbuf_add(b, sender ? "sender\n" : "receiver\n");
}

/* A server tells what it has seen itself, a client both, if the server has said it. */
static bool text_tells(const struct iperf *t, const struct iperf_part *p, bool sender)
{
	return p->sends == sender || (!t->o.server && t->has_there);
}

static void put_totals(struct iperf *t, struct sbuf *b)
{
	struct iperf_part half[2][IPERF_ALL];

	for (unsigned i = 0; i < t->n; i++)
		for (int sender = 1; sender >= 0; sender--) {
			struct iperf_part *p = &half[sender][i];
			*p = iperf_total(t, &t->stream[i], sender != 0);
			if (text_tells(t, p, sender != 0))
				put_total(t, p, sender != 0, b);
		}
	for (int sends = 1; t->p.parallel > 1 && sends >= 0; sends--)
		for (int sender = 1; sender >= 0; sender--) {
			struct iperf_part sum = iperf_sum(half[sender], t->n, sends != 0);
			if (sum.end_s > 0 && text_tells(t, &sum, sender != 0))
				put_total(t, &sum, sender != 0, b);
		}
}

static void put_cpu(struct iperf *t, struct sbuf *b)
{
	double here[3];
	const double *there = t->there.cpu;

	iperf_cpu(t, here);
	put_title(t, b);
	sbuf_addf(
		b,
		"CPU Utilization: local %.1f%% (%.1f%%u/%.1f%%s), remote %.1f%% (%.1f%%u/%.1f%%s)\n",
		here[0], here[1], here[2], there[0], there[1], there[2]);
}

void iperf_text_end(struct iperf *t)
{
	struct sbuf b = {0};

	put_line(t, RULE);
	put_head(t, false);
	put_totals(t, &b);
	if (t->o.verbose)
		put_cpu(t, &b);
	if (!t->o.server && t->has_there && t->there.output_text != NULL)
		sbuf_addf(&b, "\nServer output:\n%s\n", t->there.output_text);
	else if (!t->o.server && t->has_there && t->there.output_json != NULL) {
		char *text = json_dumps(t->there.output_json, JSON_INDENT(2));
		sbuf_addf(&b, "\nServer JSON output:\n%s\n", text != NULL ? text : "");
		free(text);
	}
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}
