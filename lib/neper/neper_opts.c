/* SPDX-License-Identifier: BSD-3-Clause */
/* neper's options: one table, from which parsing, the echo and the help follow. */
#include "neper.h"
#include "opts.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct neper_kind neper_kind[NEPER_KINDS] = {
	[NEPER_TCP_RR] = {"tcp_rr", "neper tcp_rr 201703241250", .tcp = true, .rr = true},
	[NEPER_TCP_CRR] = {"tcp_crr", "", .tcp = true, .rr = true},
	[NEPER_TCP_STREAM] = {"tcp_stream", "neper tcp_stream 201703241300", .tcp = true,
			      .stream = true},
	[NEPER_UDP_RR] = {"udp_rr", "neper udp_rr 201703241230", .rr = true},
	[NEPER_UDP_STREAM] = {"udp_stream", "neper udp_stream 201703241240", .stream = true},
};

const struct neper_kind *neper_kind_find(const char *name)
{
	for (unsigned i = 0; i < NEPER_KINDS; i++)
		if (strcmp(neper_kind[i].name, name) == 0)
			return &neper_kind[i];
	return NULL;
}

int neper_kind_unknown(const char *name, struct err *e)
{
	if (*name == '\0')
		return err_set(
			e, EINVAL,
			"a workload is missing: tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream");
	if (strncmp(name, "psp_", 4) == 0)
		return err_set(e, ENOTSUP,
			       "%s: not in this version; the workloads over PSP need a kernel and "
			       "a device that have it",
			       name);
	return err_set(
		e, EINVAL,
		"unknown workload '%s'; allowed: tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream",
		name);
}

/* Which workloads a row is for. */
#define T_RR (1u << NEPER_TCP_RR)
#define T_CRR (1u << NEPER_TCP_CRR)
#define T_ST (1u << NEPER_TCP_STREAM)
#define U_RR (1u << NEPER_UDP_RR)
#define U_ST (1u << NEPER_UDP_STREAM)
#define ALL (T_RR | T_CRR | T_ST | U_RR | U_ST)
#define ALL_RR (T_RR | T_CRR | U_RR)
#define ALL_ST (T_ST | U_ST)
#define ALL_TCP (T_RR | T_CRR | T_ST)

enum opt_type {
	OPT_FLAG,
	OPT_INT,
	OPT_TEXT,
	OPT_FILE, /* with a name of its own where none is given */
	OPT_TIME, /* ns, or with a unit */
	OPT_SECONDS,
	OPT_RATE,
	OPT_PERCENTILES,
	OPT_OURS,   /* a flag or a number that is not echoed */
	OPT_REFUSED /* known, and refused: help says why */
};
struct opt_row {
	struct opt_word w;
	uint8_t kinds, type;
	size_t at;
	int64_t dflt, min, max;
	const char *text, *help; /* text: of files */
};
#define AT(member) offsetof(struct neper_opts, member)
#define MANY INT32_MAX
#define PORT 65535

static const struct opt_row rows[] = {
	{OPT_WORD(0, "noburst", "TIME"), T_RR, OPT_TIME, AT(noburst), 0, 0, MANY, "",
	 "one transaction each so often over all flows: ns, or with us, ms, s"},
	{OPT_WORD(0, "mark", "N"), T_ST, OPT_INT, AT(mark), 0, 0, MANY, "", "SO_MARK"},
	{OPT_WORD(0, "no_cork", NULL), T_ST, OPT_FLAG, AT(no_cork), 0, 0, 1, "",
	 "send without MSG_MORE"},
	{OPT_WORD(0, "reuseaddr", NULL), T_RR, OPT_FLAG, AT(reuseaddr), 0, 0, 1, "",
	 "SO_REUSEADDR"},
	{OPT_WORD(0, "async_connect", NULL), T_RR | T_ST, OPT_FLAG, AT(async_connect), 0, 0, 1, "",
	 "accepted: connections always open side by side"},
	{OPT_WORD(0, "async_connect", NULL), T_CRR, OPT_FLAG, AT(async_connect), 1, 0, 1, "",
	 "accepted: connections always open side by side"},
	{OPT_WORD('M', "enable_tcp_maerts", NULL), T_ST, OPT_FLAG, AT(enable_tcp_maerts), 0, 0, 1,
	 "", "the server writes and the client reads; at both ends"},
	{OPT_WORD(0, "split_bidir", NULL), T_ST, OPT_FLAG, AT(split_bidir), 0, 0, 1, "",
	 "both ways, by two connections for each flow; at both ends"},
	{OPT_WORD('w', "enable_write", NULL), T_ST, OPT_FLAG, AT(enable_write), 0, 0, 1, "",
	 "this end writes"},
	{OPT_WORD('r', "enable_read", NULL), T_ST, OPT_FLAG, AT(enable_read), 0, 0, 1, "",
	 "this end reads"},
	{OPT_WORD('z', "rx_zerocopy", NULL), T_ST, OPT_FLAG, AT(rx_zerocopy), 0, 0, 1, "",
	 "map what is received (TCP_ZEROCOPY_RECEIVE)"},
	{OPT_WORD(0, "skip_rx_copy", NULL), T_ST, OPT_FLAG, AT(skip_rx_copy), 0, 0, 1, "",
	 "receive with MSG_TRUNC"},
	{OPT_WORD('D', "delay", "TIME"), T_RR | U_RR, OPT_TIME, AT(delay), 0, 0, INT64_MAX, "",
	 "from one transaction of a flow to the next: ns, or with us, ms, s"},
	{OPT_WORD('M', "mark", "N"), ALL_RR | U_ST, OPT_INT, AT(mark), 0, 0, MANY, "", "SO_MARK"},
	{OPT_WORD(0, "logrtt_entries_per_flow", "N"), ALL_RR, OPT_INT, AT(logrtt_entries_per_flow),
	 10000, 1, 100000000, "", "most lines of --log-rtt per flow"},
	{OPT_WORD(0, "log_rtt", "[=FILE]"), ALL_RR, OPT_FILE, AT(log_rtt), 0, 0, 0,
	 "rtt_samples.txt", "write the time of each transaction to a file"},
	{OPT_WORD('B', "buffer_size", "N"), ALL_RR, OPT_INT, AT(buffer_size), 65536, 1, MANY, "",
	 "most bytes of one send or receive"},
	{OPT_WORD('B', "buffer_size", "N"), T_ST, OPT_INT, AT(buffer_size), 16384, 1, MANY, "",
	 "most bytes of one send or receive"},
	{OPT_WORD('B', "buffer_size", "N"), U_ST, OPT_INT, AT(buffer_size), 1400, 1, 65507, "",
	 "bytes of a datagram"},
	{OPT_WORD('D', "delay", "TIME"), ALL_ST, OPT_TIME, AT(delay), 0, 0, INT64_MAX, "",
	 "from one send of a flow to the next: ns, or with us, ms, s"},
	{OPT_WORD(0, "throughput_opt", "TEXT"), ALL_ST, OPT_TEXT, AT(throughput_opt), 0, 0, 0, "Mb",
	 "unit of the throughput"},
	{OPT_WORD('Z', "zerocopy", NULL), ALL_ST, OPT_FLAG, AT(zerocopy), 0, 0, 1, "",
	 "send with MSG_ZEROCOPY"},
	{OPT_WORD('R', "reuseaddr", NULL), ALL_ST, OPT_FLAG, AT(reuseaddr), 0, 0, 1, "",
	 "SO_REUSEADDR"},
	{OPT_WORD('E', "edge_trigger", NULL), ALL_ST, OPT_FLAG, AT(edge_trigger), 0, 0, 1, "",
	 "accepted: sockets are always watched so"},
	{OPT_WORD('l', "test_length", "N"), ALL_RR, OPT_INT, AT(test_length), 10, -MANY, MANY, "",
	 "seconds; below 0: so many transactions"},
	{OPT_WORD('l', "test_length", "N"), ALL_ST, OPT_INT, AT(test_length), 10, 1, MANY, "",
	 "seconds"},
	{OPT_WORD('p', "percentiles", "LIST"), ALL_RR, OPT_PERCENTILES, 0, 0, 0, 0, "",
	 "of latencies, 0 to 100, with commas; 999 is 99.9"},
	{OPT_WORD('R', "response_size", "N"), T_RR | T_CRR, OPT_INT, AT(response_size), 1, 1, MANY,
	 "", "bytes from the server"},
	{OPT_WORD('R', "response_size", "N"), U_RR, OPT_INT, AT(response_size), 1, 1, MANY, "",
	 "bytes from the server"},
	{OPT_WORD('Q', "request_size", "N"), ALL_RR, OPT_INT, AT(request_size), 1, 1, MANY, "",
	 "bytes from the client"},
	{OPT_WORD(0, "congestion_control", "TEXT"), ALL_TCP, OPT_TEXT, AT(congestion_control), 0, 0,
	 0, "", "TCP_CONGESTION"},
	{OPT_WORD(0, "no_delay", NULL), ALL_TCP, OPT_FLAG, AT(no_delay), 0, 0, 1, "",
	 "TCP_NODELAY"},
	{OPT_WORD('t', "tcp_tx_delay", "N"), ALL_TCP, OPT_INT, AT(tcp_tx_delay), 0, 0, MANY, "",
	 "TCP_TX_DELAY, us"},
	{OPT_WORD('X', "tcp_fastopen", NULL), ALL_TCP, OPT_FLAG, AT(tcp_fastopen), 0, 0, 1, "",
	 "TCP_FASTOPEN_CONNECT"},
	{OPT_WORD(0, "num_ports", "N"), ALL_TCP, OPT_INT, AT(num_ports), 1, 1, PORT, "",
	 "the flows' ports: --port and those behind it"},
	{OPT_WORD(0, "wait_start", "N"), ALL, OPT_INT, AT(wait_start), 0, 0, MANY, "",
	 "seconds before the client begins"},
	{OPT_WORD(0, "iostat_ms", "N"), ALL, OPT_INT, AT(iostat_ms), 0, 0, MANY, "",
	 "the client prints its rates each so many ms"},
	{OPT_WORD(0, "time_wait", NULL), ALL, OPT_FLAG, AT(time_wait), 0, 0, 1, "",
	 "the client closes in the ordinary way, not by a reset"},
	{OPT_WORD('A', "all_samples", "[=FILE]"), ALL, OPT_FILE, AT(all_samples), 0, 0, 0,
	 "samples.csv", "write the samples of each flow to a file"},
	{OPT_WORD('P', "port", "N"), ALL, OPT_INT, AT(port), 12867, 1, PORT, "",
	 "first port of data"},
	{OPT_WORD('C', "control_port", "N"), ALL, OPT_INT, AT(control_port), 12866, 1, PORT, "",
	 "port of the control connection"},
	{OPT_WORD('H', "host", "TEXT"), ALL, OPT_TEXT, AT(host), 0, 0, 0, "",
	 "the server; of a server: the address to bind to"},
	{OPT_WORD('L', "local_hosts", "TEXT"), ALL, OPT_TEXT, AT(local_hosts), 0, 0, 0, "",
	 "the client's addresses, with commas, in turn"},
	{OPT_WORD('m', "max_pacing_rate", "RATE"), ALL, OPT_RATE, AT(max_pacing_rate), 0, 0, 0, "",
	 "SO_MAX_PACING_RATE: bytes/s, or with a unit such as Mb or MiB"},
	{OPT_WORD('I', "interval", "SECONDS"), ALL, OPT_SECONDS, AT(interval), 1, 0, 0, "",
	 "seconds between samples"},
	{OPT_WORD(0, "freebind", NULL), ALL, OPT_FLAG, AT(freebind), 0, 0, 1, "", "IP_FREEBIND"},
	{OPT_WORD(0, "nonblocking", NULL), ALL, OPT_FLAG, AT(nonblocking), 0, 0, 1, "",
	 "accepted: the control connection never blocks"},
	{OPT_WORD(0, "nolog", NULL), ALL, OPT_FLAG, AT(nolog), 0, 0, 1, "",
	 "accepted: there is no log file"},
	{OPT_WORD(0, "logtostderr", NULL), ALL, OPT_FLAG, AT(logtostderr), 0, 0, 1, "",
	 "accepted: messages go there anyway"},
	{OPT_WORD('U', "pin_cpu", NULL), ALL, OPT_FLAG, AT(pin_cpu), 0, 0, 1, "",
	 "thread i runs on CPU i"},
	{OPT_WORD('n', "dry_run", NULL), ALL, OPT_FLAG, AT(dry_run), 0, 0, 1, "",
	 "print the options and end"},
	{OPT_WORD('d', "debug", NULL), ALL, OPT_FLAG, AT(debug), 0, 0, 1, "", "SO_DEBUG"},
	{OPT_WORD('c', "client", NULL), ALL, OPT_FLAG, AT(client), 0, 0, 1, "", "be the client"},
	{OPT_WORD('6', "ipv6", NULL), ALL, OPT_FLAG, AT(ipv6), 0, 0, 1, "", "IPv6 alone"},
	{OPT_WORD('4', "ipv4", NULL), ALL, OPT_FLAG, AT(ipv4), 0, 0, 1, "", "IPv4 alone"},
	{OPT_WORD('S', "stime_use_proc", NULL), ALL, OPT_FLAG, AT(stime_use_proc), 0, 0, 1, "",
	 "system time is that of the machine (/proc/stat)"},
	{OPT_WORD(0, "source_port", "N"), ALL, OPT_INT, AT(source_port), -1, -1, PORT, "",
	 "flow i sends from this port + i"},
	{OPT_WORD('s', "suicide_length", "N"), ALL, OPT_INT, AT(suicide_length), 0, 0, MANY, "",
	 "give up after so many seconds"},
	{OPT_WORD(0, "listen_backlog", "N"), ALL, OPT_INT, AT(listen_backlog), 128, 1, MANY, "",
	 "of listeners"},
	{OPT_WORD(0, "num_clients", "N"), ALL, OPT_INT, AT(num_clients), 1, 1, 1000, "",
	 "how many clients the server waits for"},
	{OPT_WORD('T', "num_threads", "N"), ALL, OPT_INT, AT(num_threads), 1, 1, NEPER_MOST_THREADS,
	 "", "threads"},
	{OPT_WORD('F', "num_flows", "N"), ALL, OPT_INT, AT(num_flows), 1, 1, NEPER_MOST_FLOWS, "",
	 "flows"},
	{OPT_WORD(0, "maxevents", "N"), ALL, OPT_INT, AT(maxevents), 1000, 1, 1000000, "",
	 "most events of one epoll_wait()"},
	{OPT_WORD(0, "magic", "N"), ALL, OPT_INT, AT(magic), 42, 0, UINT32_MAX, "",
	 "a number that both ends share"},
	{OPT_WORD('N', "pin_numa", NULL), ALL_TCP, OPT_REFUSED, 0, 0, 0, 0, NULL,
	 "not in this version, as in a neper without libnuma; -U and numactl(8) place threads"},
	{OPT_WORD(0, "as_neper", NULL), ALL, OPT_OURS, AT(as_neper), 0, 0, 1, NULL,
	 "print what neper would have said, too, where it is another number"},
	{OPT_WORD(0, "connect_retries", "N"), ALL, OPT_OURS, AT(connect_retries), 30, 0, MANY, "",
	 "how often the client tries again to reach the server, each second"},
	{OPT_WORD(0, "stack", "STACK"), ALL, OPT_OURS, AT(stack), 0, 0, 0, "",
	 "kernel: the kernel's sockets; port: our own TCP and UDP on a port"},
	{OPT_WORD('h', "help", NULL), ALL, OPT_OURS, AT(help), 0, 0, 1, NULL, "print this"},
	{OPT_WORD('v', "version", NULL), ALL, OPT_OURS, AT(version), 0, 0, 1, NULL,
	 "print the version"},
};

static unsigned kind_bit(const struct neper_kind *k)
{
	return 1u << (k - neper_kind);
}

static void *row_at(const struct opt_row *r, struct neper_opts *o)
{
	return (char *)o + r->at;
}

/* ---- values ---- */

/* "--num-flows: 'many'; allowed: ..." */
static int row_fail(const struct opt_row *r, const char *v, const char *allowed, struct err *e)
{
	struct sbuf name = {0};

	opt_print_long(&r->w, &name);
	err_set(e, EINVAL, "%s: '%s'; allowed: %s", sbuf_str(&name), v, allowed);
	sbuf_free(&name);
	return -EINVAL;
}

static int take_int(const struct opt_row *r, const char *v, int64_t *out, struct err *e)
{
	char *end, allowed[80];
	long long n;

	errno = 0;
	n = strtoll(v, &end, 10);
	if (end != v && *end == '\0' && errno == 0 && n >= r->min && n <= r->max) {
		*out = n;
		return 0;
	}
	snprintf(allowed, sizeof(allowed), "a whole number from %lld to %lld", (long long)r->min,
		 (long long)r->max);
	return row_fail(r, v, allowed, e);
}

static int take_time(const struct opt_row *r, const char *v, int64_t *out, struct err *e)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double n = strtod(v, &end);

	for (unsigned i = 0; end != v && i < ARRAY_SIZE(units); i++)
		if (strcmp(end, units[i].unit) == 0 && n >= 0 && n * units[i].ns < 9e18) {
			*out = (int64_t)llround(n * units[i].ns);
			return 0;
		}
	return row_fail(r, v, "a number, of ns, or with ns, us, ms or s", e);
}

/* Bytes per second of a number with its unit: bits decimal, bytes of K, M, G alone and with i
 * binary. */
static const struct rate_unit {
	const char *unit;
	double bytes;
} rate_units[] = {
	{"b", 1 / 8.0},  {"k", 1e3 / 8},   {"m", 1e6 / 8},
	{"g", 1e9 / 8},  {"", 1},          {"B", 1},
	{"K", 1024},     {"M", 1048576},   {"G", 1073741824},
	{"Kb", 1e3 / 8}, {"Mb", 1e6 / 8},  {"Gb", 1e9 / 8},
	{"KB", 1e3},     {"MB", 1e6},      {"GB", 1e9},
	{"Kib", 128},    {"Mib", 131072},  {"Gib", 134217728},
	{"KiB", 1024},   {"MiB", 1048576}, {"GiB", 1073741824},
};

static int take_rate(const char *v, struct neper_opts *o, struct err *e)
{
	char *end;
	double n = strtod(v, &end);
	const struct rate_unit *unit = NULL;

	for (unsigned i = 0; end != v && i < ARRAY_SIZE(rate_units); i++)
		if (strcmp(end, rate_units[i].unit) == 0)
			unit = &rate_units[i];
	if (unit == NULL || !(n >= 0) || n * unit->bytes >= 1e18)
		return err_set(
			e, EINVAL,
			"--max-pacing-rate: '%s'; allowed: a number of bytes/s, or with one of "
			"b k m g Kb Mb Gb Kib Mib Gib (bits) B K M G KB MB GB KiB MiB GiB (bytes)",
			v);
	o->max_pacing_rate = (uint64_t)(n * unit->bytes);
	/* neper takes K, M and G for binary bytes whatever stands behind them */
	double as = strchr("KMG", *end) == NULL || *end == '\0' ? unit->bytes
		    : *end == 'K'                               ? 1024
		    : *end == 'M'                               ? 1048576
								: 1073741824;
	o->as_neper_pacing_rate = (uint64_t)(n * as);
	return 0;
}

static int percentile_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int take_percentiles(const char *v, struct neper_opts *o, struct err *e)
{
	unsigned n = 0, kept = 0;

	for (const char *at = v; *at != '\0'; at += *at == ',') {
		char *end;
		double p = strtod(at, &end);
		if (p == 999 || p == 9999)
			p = p == 999 ? 99.9 : 99.99;
		if (end == at || (*end != ',' && *end != '\0') || !(p >= 0 && p <= 100) ||
		    n == NEPER_PERCENTILES)
			return err_set(
				e, EINVAL,
				"--percentiles: '%s'; allowed: at most %d numbers from 0 to 100 "
				"with commas, 999 for 99.9 and 9999 for 99.99",
				v, NEPER_PERCENTILES);
		o->percentile[n++] = p;
		at = end;
	}
	qsort(o->percentile, n, sizeof(double), percentile_order);
	for (unsigned i = 0; i < n; i++)
		if (i == 0 || o->percentile[i] != o->percentile[kept - 1])
			o->percentile[kept++] = o->percentile[i];
	o->npercentiles = kept;
	return 0;
}

static int row_refused(const struct opt_row *r, struct err *e)
{
	struct sbuf name = {0};

	opt_print_long(&r->w, &name);
	err_set(e, ENOTSUP, "%s: %s", sbuf_str(&name), r->help);
	sbuf_free(&name);
	return -ENOTSUP;
}

static int take_value(const struct opt_row *r, const char *v, struct neper_opts *o, struct err *e)
{
	char *end;

	switch (r->type) {
	case OPT_REFUSED:
		return row_refused(r, e);
	case OPT_FLAG:
		*(int64_t *)row_at(r, o) = 1;
		return 0;
	case OPT_INT:
		return take_int(r, v, row_at(r, o), e);
	case OPT_TIME:
		return take_time(r, v, row_at(r, o), e);
	case OPT_RATE:
		return take_rate(v, o, e);
	case OPT_PERCENTILES:
		return take_percentiles(v, o, e);
	case OPT_SECONDS:
		o->interval = strtod(v, &end);
		if (end != v && *end == '\0' && o->interval >= 0.001 && o->interval <= 86400)
			return 0;
		return err_set(e, EINVAL, "--interval: '%s'; allowed: seconds from 0.001 to 86400",
			       v);
	case OPT_OURS:
		if (r->text == NULL)
			*(int64_t *)row_at(r, o) = 1;
		else if (r->max > 0)
			return take_int(r, v, row_at(r, o), e);
		else
			o->stack = v;
		return 0;
	default:
		*(const char **)row_at(r, o) = v != NULL ? v : r->text;
		return 0;
	}
}

static void set_defaults(const struct neper_kind *k, struct neper_opts *o)
{
	*o = (struct neper_opts){.kind = k, .interval = 1};
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct opt_row *r = &rows[i];
		if ((r->kinds & kind_bit(k)) == 0)
			continue;
		if (r->type == OPT_TEXT)
			*(const char **)row_at(r, o) = r->text;
		else if (r->type == OPT_FILE || (r->type == OPT_OURS && r->at == AT(stack)))
			*(const char **)row_at(r, o) = "";
		else if (r->type == OPT_INT || r->type == OPT_FLAG || r->type == OPT_TIME ||
			 r->type == OPT_OURS)
			*(int64_t *)row_at(r, o) = r->dflt;
	}
}

/* ---- rules between options ---- */

static int check_stream(struct neper_opts *o, struct err *e)
{
	if (!neper_unit_known(o->throughput_opt))
		return err_set(
			e, EINVAL,
			"--throughput-opt: '%s'; allowed: b k m g B K M G Kb Mb Gb KB MB GB Kib "
			"Mib Gib KiB MiB GiB auto-b auto-ib auto-B auto-iB",
			o->throughput_opt);
	if (o->rx_zerocopy && o->skip_rx_copy)
		return err_set(e, EINVAL, "--rx-zerocopy and --skip-rx-copy exclude each other");
	if (!o->kind->tcp)
		return 0;
	if (o->enable_tcp_maerts) {
		o->enable_read = o->client;
		o->enable_write = !o->client;
	} else if (o->client) {
		o->enable_write = 1;
	} else {
		o->enable_read = 1;
	}
	if (o->split_bidir) {
		if (2 * o->num_flows > NEPER_MOST_FLOWS)
			return err_set(e, EINVAL,
				       "--split-bidir makes two connections of each flow: at most "
				       "-F %d",
				       NEPER_MOST_FLOWS / 2);
		o->enable_read = o->enable_write = 1;
		o->num_flows *= 2;
	}
	return 0;
}

static int check_client(const struct neper_opts *o, struct err *e)
{
	if (*o->host == '\0')
		return err_set(e, EINVAL, "the client needs a server; give it with -H HOST");
	if (o->num_flows < o->num_threads)
		return err_set(e, EINVAL, "%lld flows are fewer than %lld threads; give -F %lld",
			       (long long)o->num_flows, (long long)o->num_threads,
			       (long long)o->num_threads);
	if (o->source_port >= 0 && *o->local_hosts != '\0')
		return err_set(e, EINVAL, "--source-port and --local-hosts exclude each other");
	if (o->source_port >= 0 && o->source_port + o->num_flows - 1 > PORT)
		return err_set(e, EINVAL, "--source-port %lld and %lld flows pass port 65535",
			       (long long)o->source_port, (long long)o->num_flows);
	return 0;
}

static int check_server(const struct neper_opts *o, struct err *e)
{
	if (o->wait_start == 0 && *o->local_hosts == '\0')
		return 0;
	return err_set(e, EINVAL, "%s is the client's; leave it out, or give -c -H HOST",
		       o->wait_start != 0 ? "--wait-start" : "--local-hosts");
}

static int check_rules(struct neper_opts *o, struct err *e)
{
	int rc = 0;

	if (o->noburst && o->delay)
		return err_set(e, EINVAL, "--noburst and --delay exclude each other");
	if (o->nolog && o->logtostderr)
		return err_set(e, EINVAL, "--nolog and --logtostderr exclude each other");
	if (o->port + o->num_ports - 1 > PORT)
		return err_set(e, EINVAL, "--port %lld and %lld ports pass port 65535",
			       (long long)o->port, (long long)o->num_ports);
	if (o->kind->tcp && o->control_port >= o->port && o->control_port < o->port + o->num_ports)
		return err_set(e, EINVAL,
			       "--control-port %lld is one of the ports of data, %lld to %lld",
			       (long long)o->control_port, (long long)o->port,
			       (long long)(o->port + o->num_ports - 1));
	if (o->test_length == 0)
		return err_set(e, EINVAL,
			       "--test-length: '0'; allowed: seconds from 1 on, or below 0 "
			       "a number of transactions");
	if (*o->stack != '\0' && strcmp(o->stack, "kernel") != 0 && strcmp(o->stack, "port") != 0)
		return err_set(e, EINVAL, "--stack: '%s'; allowed: kernel, port", o->stack);
	if (o->kind->stream)
		rc = check_stream(o, e);
	if (rc == 0)
		rc = o->client ? check_client(o, e) : check_server(o, e);
	return rc;
}

/* What cannot be on a port: what only sockets have, and what is not built there. */
static const struct port_refusal {
	size_t at;
	int64_t usual;
	const char *name, *why;
} port_refusals[] = {
	{AT(pin_cpu), 0, "--pin-cpu", "-m says on which core the worker runs"},
	{AT(mark), 0, "--mark", "only sockets have marks"},
	{AT(tcp_tx_delay), 0, "--tcp-tx-delay", "only the kernel delays what sockets send"},
	{AT(tcp_fastopen), 0, "--tcp-fastopen", "only sockets have it"},
	{AT(freebind), 0, "--freebind", "only sockets have it; `set <port> ip` gives addresses"},
	{AT(debug), 0, "--debug", "only sockets have it"},
	{AT(zerocopy), 0, "--zerocopy", "only sockets copy what is sent"},
	{AT(rx_zerocopy), 0, "--rx-zerocopy", "only sockets copy what is received"},
	{AT(skip_rx_copy), 0, "--skip-rx-copy", "only sockets copy what is received"},
};

/* Of --log-rtt on a port: 2.4 GB, of which the memory is what is written. */
#define MOST_LOGGED 100000000

int neper_opts_port(const struct neper_opts *o, struct err *e)
{
	const char *name = NULL, *why = NULL, *cc = o->congestion_control;

	for (size_t i = 0; i < ARRAY_SIZE(port_refusals) && name == NULL; i++) {
		const struct port_refusal *r = &port_refusals[i];
		int64_t v;
		memcpy(&v, (const char *)o + r->at, sizeof(v));
		if (v == r->usual)
			continue;
		name = r->name;
		why = r->why;
	}
	if (name == NULL && o->client && o->kind->rr && *o->log_rtt != '\0' &&
	    o->logrtt_entries_per_flow * o->num_flows > MOST_LOGGED)
		return err_set(
			e, ENOTSUP,
			"--log-rtt on a port: %lld lines of each of %lld flows are more than "
			"%d; give fewer with --logrtt-entries-per-flow",
			(long long)o->logrtt_entries_per_flow, (long long)o->num_flows,
			MOST_LOGGED);
	if (name == NULL && o->kind->tcp && *cc != '\0' && strcmp(cc, "cubic") != 0 &&
	    strcmp(cc, "reno") != 0 && strcmp(cc, "newreno") != 0)
		return err_set(e, ENOTSUP,
			       "--congestion-control: '%s'; on a port it is cubic, or reno", cc);
	if (name == NULL)
		return 0;
	return err_set(e, ENOTSUP, "%s on a port: %s; --stack kernel has it", name, why);
}

/* ---- the command line ---- */

static bool row_is_of(const void *row, const void *kind)
{
	return (((const struct opt_row *)row)->kinds & kind_bit(kind)) != 0;
}

int neper_opts_parse(const struct neper_kind *k, int argc, char **argv, struct neper_opts *o,
		     struct err *e)
{
	const struct opt_table table = {.row = rows,
					.row_bytes = sizeof(*rows),
					.n = ARRAY_SIZE(rows),
					.whose = "",
					.hint = "",
					.list = "--help lists the options",
					.has = row_is_of,
					.arg = k};
	struct opts *reading = opts_begin(&table);
	const void *row;
	const char *value;
	int rc;

	set_defaults(k, o);
	while ((rc = opts_next(reading, argc, argv, &row, &value, e)) == 1) {
		rc = take_value(row, value, o, e);
		if (rc != 0)
			break;
	}
	opts_end(reading);
	if (rc == 0 && optind < argc)
		rc = err_set(e, EINVAL, "'%s' is no option; --help lists the options",
			     argv[optind]);
	return rc != 0 || o->help || o->version ? rc : check_rules(o, e);
}

void neper_opts_help(const struct neper_kind *k, struct sbuf *out)
{
	struct sbuf head = {0};

	sbuf_addf(out, "usage: %s [options]; without -c: the server\n", k->name);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!row_is_of(&rows[i], k) || rows[i].type == OPT_REFUSED)
			continue;
		sbuf_reset(&head);
		sbuf_add(&head, "  ");
		opt_print_head(&rows[i].w, &head);
		opt_print_help(sbuf_str(&head), rows[i].help, 37, out);
	}
	sbuf_free(&head);
}

void neper_opts_echo(const struct neper_opts *o, neper_emit_fn *emit, void *arg)
{
	struct neper_opts *plain = (struct neper_opts *)(uintptr_t)o;
	char text[32 * NEPER_PERCENTILES];
	int at = 0;

	emit(arg, "VERSION", "1.1.0", false);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct opt_row *r = &rows[i];
		if ((r->kinds & kind_bit(o->kind)) == 0 || r->type == OPT_OURS ||
		    r->type == OPT_REFUSED)
			continue;
		text[0] = '\0';
		if (r->type == OPT_PERCENTILES)
			for (unsigned p = 0; p < o->npercentiles; p++)
				at += snprintf(text + at, sizeof(text) - (size_t)at, "%g,",
					       o->percentile[p]);
		else if (r->type == OPT_SECONDS)
			snprintf(text, sizeof(text), "%f", o->interval);
		else if (r->type == OPT_RATE)
			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)o->max_pacing_rate);
		else if (r->type != OPT_TEXT && r->type != OPT_FILE)
			snprintf(text, sizeof(text), "%lld",
				 (long long)*(int64_t *)row_at(r, plain));
		bool textual = r->type == OPT_TEXT || r->type == OPT_FILE;
		emit(arg, r->w.name, textual ? *(const char **)row_at(r, plain) : text,
		     !textual && r->type != OPT_PERCENTILES);
	}
	snprintf(text, sizeof(text), "%lld", llabs((long long)o->test_length));
	emit(arg, o->test_length < 0 ? "total_transactions" : "total_run_time", text, true);
}
