/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks_words.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

const char *const stacks_arm_name[STACKS_ARMS] = {"kernel to kernel", "port to kernel",
						  "port to port"};
static const char *const arm_words[STACKS_ARMS] = {"kernel-kernel", "port-kernel", "port-port"};

const struct stacks_kind stacks_kinds[STACKS_KINDS] = {
	{.name = "tcp_rr", .flows = 50, .bytes = 1},
	{.name = "tcp_crr", .closes = true, .flows = 50, .bytes = 1},
	{.name = "tcp_stream", .stream = true, .flows = 1},
	/* the records number their datagrams in the first 8 bytes */
	{.name = "udp_rr", .udp = true, .flows = 50, .bytes = 8},
	{.name = "udp_stream", .udp = true, .stream = true, .flows = 1, .bytes = 1400, .gap_us = 1},
	{.name = "iperf3", .iperf = true, .stream = true, .flows = 1},
};
#define KIND_NAMES "tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream and iperf3"

bool stacks_udp(const struct stacks_opts *o, const struct stacks_kind *k)
{
	return k->iperf ? o->iperf.udp : k->udp;
}

const struct stacks_kind *stacks_kind_find(const char *name)
{
	for (unsigned i = 0; i < STACKS_KINDS; i++)
		if (strcmp(stacks_kinds[i].name, name) == 0)
			return &stacks_kinds[i];
	return NULL;
}

/* ---- values ---- */

static int words_number(const char *what, const char *text, unsigned least, unsigned most,
			unsigned *out, struct err *e)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n < least || n > most)
		return err_set(e, EINVAL, "%s %.64s: allowed are numbers from %u to %u", what, text,
			       least, most);
	*out = (unsigned)n;
	return 0;
}

static int words_time(const char *what, const char *text, bool none, uint64_t *out, struct err *e)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 60e9}, {"min", 60e9}};
	char *end;
	double n = strtod(text, &end);

	for (size_t i = 0; end != text && i < ARRAY_SIZE(units); i++)
		if (strcmp(end, units[i].name) == 0 && n * units[i].ns <= 3600e9 &&
		    (n * units[i].ns >= 1e8 || (none && n == 0))) {
			*out = (uint64_t)(n * units[i].ns);
			return 0;
		}
	return err_set(e, EINVAL, "%s %.64s: allowed are durations from 100ms to 60min, like 10s%s",
		       what, text, none ? ", and 0" : "");
}

static int words_cpus(const char *text, int cpu[2], struct err *e)
{
	char *end = NULL;
	long a = strtol(text, &end, 10), b = *end == ',' ? strtol(end + 1, &end, 10) : -1;

	if (a < 0 || a >= CPU_SETSIZE || b < 0 || b >= CPU_SETSIZE || *end != '\0')
		return err_set(e, EINVAL, "--cpus %.64s: allowed are two CPUs, PEER,OWN, like 0,1",
			       text);
	cpu[0] = (int)a;
	cpu[1] = (int)b;
	return 0;
}

static int words_arms(const char *text, bool arm[STACKS_ARMS], struct err *e)
{
	size_t n;

	memset(arm, 0, STACKS_ARMS * sizeof(*arm));
	for (; *text != '\0'; text += n + (text[n] == ',')) {
		unsigned i = 0;
		n = strcspn(text, ",");
		while (i < STACKS_ARMS &&
		       (strlen(arm_words[i]) != n || strncmp(arm_words[i], text, n) != 0))
			i++;
		if (i == STACKS_ARMS)
			return err_set(e, EINVAL,
				       "--arms %.*s: allowed are kernel-kernel, port-kernel and "
				       "port-port, separated by commas",
				       (int)(n < 64 ? n : 64), text);
		arm[i] = true;
	}
	return 0;
}

/* ---- options ---- */

/* What an option is: a flag at `flag`, or a value, which is a text at `text`, or read by `read`. */
struct words_option {
	const char *name, *value, *help;
	size_t flag, text;
	int (*read)(const char *value, struct stacks_opts *, struct err *);
};
#define AT(member) (offsetof(struct stacks_opts, member) + 1)

static int read_runs(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_number("--runs", v, 1, STACKS_RUNS_MOST, &o->runs, e);
}
static int read_duration(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_time("--duration", v, false, &o->duration_ns, e);
}
static int read_warm(const char *v, struct stacks_opts *o, struct err *e)
{
	o->warm_given = true;
	return words_time("--warm-up", v, true, &o->warm_ns, e);
}
static int read_flows(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_number("--flows", v, 1, 10000, &o->flows, e);
}
static int read_mss(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_number("--mss", v, 88, 9000, &o->mss, e);
}
static int read_mtu(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_number("--mtu", v, 576, 9000, &o->mtu, e);
}
static int read_arms(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_arms(v, o->arm, e);
}
static int read_cpus(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_cpus(v, o->cpu, e);
}
static int read_port(const char *v, struct stacks_opts *o, struct err *e)
{
	return words_number("--port", v, 1, 65000, &o->port, e);
}
static int read_device(const char *v, struct stacks_opts *o, struct err *e)
{
	static const char *const allowed[] = {"packet", "xdp", "if", "tap"};

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (strcmp(v, allowed[i]) == 0) {
			o->device = v;
			return 0;
		}
	return err_set(e, EINVAL, "--device %.64s: allowed are packet, xdp, if and tap", v);
}

static const struct words_option options[] = {
	{"--runs", "N", "runs of each arm, 1 to 25, by default 5", .read = read_runs},
	{"--duration", "T", "of each run, by default 10s", .read = read_duration},
	{"--warm-up", "T", "what goes before it and is not counted, by default 500ms, of iperf3 1s",
	 .read = read_warm},
	{"--flows", "N", "connections at once; by default 50, and 1 of streams",
	 .read = read_flows},
	{"--arms", "LIST", "of kernel-kernel, port-kernel, port-port; by default all that can be",
	 .read = read_arms},
	{"--down", NULL, "streams: the server sends, and who asked receives", .flag = AT(down)},
	{"--verify", NULL, "payload that comes is compared, byte by byte, in all arms",
	 .flag = AT(verify)},
	{"--skip-rx-copy", NULL,
	 "sockets count what comes by TCP and throw it away, in all arms: no copy, no --verify",
	 .flag = AT(skip)},
	{"--mss", "N", "most payload of a segment", .read = read_mss},
	{"--mtu", "N", "of the interfaces and ports that are made here, by default 1500",
	 .read = read_mtu},
	{"--device", "KIND",
	 "how the port reaches the kernel: packet, xdp, if, tap; by default tap, of tcp_rr and tcp_crr xdp",
	 .read = read_device},
	{"--loopback", NULL, "kernel to kernel over the loopback interface, not over a veth pair",
	 .flag = AT(loopback)},
	{"--cpus", "PEER,OWN", "CPUs of the two ends, by default the first two", .read = read_cpus},
	{"--peer", "HOST", "the other end is a machine that runs `stacks serve`", .text = AT(peer)},
	{"--port-spec", "SPEC", "with --peer: the port of this machine, such as if:eth1",
	 .text = AT(spec)},
	{"--ip", "A/LEN[,GATEWAY]", "with --port-spec: the address of the port", .text = AT(ip)},
	{"--port-peer", "ADDRESS",
	 "with --port-spec: a flow's server on a port of the other machine", .text = AT(port_peer)},
	{"--port", "N",
	 "where `stacks serve` listens, by default 5300; workloads have the one above",
	 .read = read_port},
	{"--html", "FILE", "a page with tables and drawings; a file that is there is refused",
	 .text = AT(html)},
	{"--svg", "FILE", "the drawings alone", .text = AT(svg)},
	{"--stdin", NULL, "`serve`: what is to be done comes on standard input",
	 .flag = AT(listens)},
	{"--help", NULL, "these words", .flag = AT(help)},
};

void stacks_usage(struct sbuf *out)
{
	sbuf_add(out,
		 "usage: stacks [options] WORKLOAD ...\n"
		 "       stacks [options] [WORKLOAD ...] iperf3 [options of iperf3's clients]\n"
		 "       stacks serve [--port N]\n"
		 "workloads: tcp_rr tcp_crr tcp_stream udp_rr udp_stream iperf3\n");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct sbuf name = {0};
		sbuf_addf(&name, "%s%s%s", options[i].name, options[i].value != NULL ? " " : "",
			  options[i].value != NULL ? options[i].value : "");
		sbuf_addf(out, "  %-22s  %s\n", sbuf_str(&name), options[i].help);
		sbuf_free(&name);
	}
}

static const struct words_option *words_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

static const struct words_option *words_find(const char *name, struct err *e)
{
	const char *names[ARRAY_SIZE(options)], *near;
	const struct words_option *known = words_known(name);

	if (known != NULL)
		return known;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		names[i] = options[i].name;
	near = str_nearest(name, names, ARRAY_SIZE(options));
	err_set(e, EINVAL, "stacks has no option %.64s%s%s; stacks --help lists them", name,
		near != NULL ? "; did you mean " : "", near != NULL ? near : "");
	return NULL;
}

static int words_workload(const char *word, struct stacks_opts *o, struct err *e)
{
	const struct stacks_kind *k = stacks_kind_find(word);

	if (k == NULL)
		return err_set(e, EINVAL, "\"%.64s\" is no workload; allowed are " KIND_NAMES,
			       word);
	for (unsigned i = 0; i < o->kinds; i++)
		if (o->kind[i] == k)
			return err_set(e, EINVAL, "%s is there twice", word);
	o->kind[o->kinds++] = k;
	return 0;
}

static bool words_iperf(const struct stacks_opts *o)
{
	return o->kinds > 0 && o->kind[o->kinds - 1]->iperf;
}

/* Behind iperf3 all words are its own, but for options of ours. */
static int words_of_iperf(const char *word, struct stacks_opts *o, struct err *e)
{
	if (stacks_kind_find(word) != NULL)
		return err_set(e, EINVAL,
			       "%s stands behind iperf3, where its options are; other workloads "
			       "stand before it",
			       word);
	if (o->iperf.n == STACKS_IPERF_WORDS)
		return err_set(e, E2BIG, "more than %d words behind iperf3", STACKS_IPERF_WORDS);
	o->iperf.word[o->iperf.n++] = word;
	return 0;
}

/* ---- what goes together ---- */

static int words_check(const struct stacks_opts *o, struct err *e)
{
	bool ports = o->peer == NULL || o->spec != NULL;

	if (o->help || o->serve)
		return 0;
	if (o->kinds == 0)
		return err_set(e, EINVAL, "a workload is missing; allowed are " KIND_NAMES);
	for (unsigned i = 0; o->down && i < o->kinds; i++)
		if (!o->kind[i]->stream && !o->kind[i]->iperf)
			return err_set(
				e, EINVAL,
				"--down is of tcp_stream and udp_stream, and %s has requests "
				"and responses; run it without --down",
				o->kind[i]->name);
	if (o->skip && o->verify)
		return err_set(e, EINVAL,
			       "--skip-rx-copy leaves nothing to compare; leave it or "
			       "--verify out");
	if (o->peer == NULL && (o->spec != NULL || o->port_peer != NULL))
		return err_set(e, EINVAL, "%s is for two machines: give --peer HOST with it",
			       o->spec != NULL ? "--port-spec" : "--port-peer");
	if ((o->spec != NULL) != (o->ip != NULL))
		return err_set(e, EINVAL, "--port-spec and --ip go together");
	if (o->port_peer != NULL && o->spec == NULL)
		return err_set(e, EINVAL, "--port-peer needs a port here: --port-spec and --ip");
	if (o->peer != NULL && (o->loopback || o->device != NULL))
		return err_set(e, EINVAL, "%s is for namespaces; leave it out with --peer",
			       o->loopback ? "--loopback" : "--device");
	if ((o->arm[STACKS_PK] && !ports) ||
	    (o->arm[STACKS_PP] && o->peer != NULL && o->port_peer == NULL))
		return err_set(e, EINVAL, "--arms: %s",
			       ports ? "port-port needs --port-peer ADDRESS"
				     : "port-kernel needs a port: --port-spec SPEC --ip A/LEN");
	return 0;
}

static void words_arms_that_can(struct stacks_opts *o)
{
	if (o->arm[STACKS_KK] || o->arm[STACKS_PK] || o->arm[STACKS_PP])
		return;
	o->arm[STACKS_KK] = true;
	o->arm[STACKS_PK] = o->peer == NULL || o->spec != NULL;
	o->arm[STACKS_PP] = o->peer == NULL || o->port_peer != NULL;
}

static void words_cpus_usual(int cpu[2])
{
	cpu_set_t set;
	int n = 0;

	cpu[0] = cpu[1] = 0;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set)) {
			cpu[n++] = i;
			cpu[1] = i;
		}
}

int stacks_words(int argc, char *const *argv, struct stacks_opts *o, struct err *e)
{
	int rc = 0;

	*o = (struct stacks_opts){.runs = 5,
				  .duration_ns = 10000000000ull,
				  .warm_ns = 500000000,
				  .mtu = 1500,
				  .port = STACKS_PORT};
	words_cpus_usual(o->cpu);
	for (int i = 0; rc == 0 && i < argc; i++) {
		const struct words_option *w;
		if (words_iperf(o) && words_known(argv[i]) == NULL) {
			rc = words_of_iperf(argv[i], o, e);
			continue;
		}
		if (argv[i][0] != '-') {
			if (i == 0 && strcmp(argv[i], "serve") == 0)
				o->serve = true;
			else
				rc = words_workload(argv[i], o, e);
			continue;
		}
		w = words_find(argv[i], e);
		if (w == NULL)
			return -EINVAL;
		if (w->flag != 0) {
			*((bool *)o + w->flag - 1) = true;
			continue;
		}
		if (i + 1 == argc)
			return err_set(e, EINVAL, "option %s needs a value: %s", w->name, w->value);
		i++;
		if (w->text != 0)
			*(const char **)(void *)((char *)o + w->text - 1) = argv[i];
		else
			rc = w->read(argv[i], o, e);
	}
	rc = rc == 0 ? words_check(o, e) : rc;
	words_arms_that_can(o);
	if (rc == 0 && words_iperf(o) && !o->help)
		rc = stacks_iperf_check(o, e);
	return rc;
}
