/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of iperf3: one table, from which words are read and --help is made. */
#include "iperf.h"
#include "opts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct iperf_opts, member)

struct opt;
typedef int take_fn(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e);
static take_fn take_flag, take_text, take_whole, take_bytes, take_seconds, take_rate, take_client,
	take_family, take_tos, take_dscp, take_affinity, take_format, take_stack, take_fixed,
	take_later, take_nothing;

/* Which role an option is for. */
enum { BOTH, CLIENT, SERVER };

struct opt {
	struct opt_word w;
	take_fn *take;
	size_t at; /* the member */
	double least, most;
	int role;
	const char *help;
};

static const struct opt opts[] = {
	{OPT_WORD('c', "client", "HOST[%DEV]"), take_client, 0, 0, 0, BOTH,
	 "be a client of this server"},
	{OPT_WORD('s', "server", NULL), take_flag, AT(server), 0, 0, BOTH, "be a server"},
	{OPT_WORD('p', "port", "PORT"), take_whole, AT(port), 1, 65535, BOTH,
	 "of the server (5201)"},
	{OPT_WORD('i', "interval", "SECONDS"), take_seconds, AT(interval_s), 0.1, 60, BOTH,
	 "between two lines (1); 0: none"},
	{OPT_WORD('f', "format", "k|m|g|t|K|M|G|T"), take_format, 0, 0, 0, BOTH,
	 "unit of rates: bits (small letters) or bytes"},
	{OPT_WORD('B', "bind", "ADDR[%DEV]"), take_text, AT(bind), 0, 0, BOTH,
	 "use this address of ours"},
	{OPT_WORD(0, "bind-dev", "DEV"), take_text, AT(device), 0, 0, BOTH, "use this interface"},
	{OPT_WORD('4', "version4", NULL), take_family, 0, AF_INET, 0, BOTH, "IPv4 alone"},
	{OPT_WORD('6', "version6", NULL), take_family, 0, AF_INET6, 0, BOTH, "IPv6 alone"},
	{OPT_WORD('V', "verbose", NULL), take_flag, AT(verbose), 0, 0, BOTH, "say more"},
	{OPT_WORD('J', "json", NULL), take_flag, AT(json), 0, 0, BOTH,
	 "one JSON document at the end"},
	{OPT_WORD(0, "json-stream", NULL), take_flag, AT(json_stream), 0, 0, BOTH,
	 "a line of JSON for each event"},
	{OPT_WORD(0, "logfile", "FILE"), take_text, AT(logfile), 0, 0, BOTH,
	 "append the output to FILE"},
	{OPT_WORD(0, "forceflush", NULL), take_nothing, 0, 0, 0, BOTH,
	 "accepted: output never waits"},
	{OPT_WORD(0, "rcv-timeout", "MS"), take_whole, AT(rcv_ms), 100, 86400000, BOTH,
	 "give up when no data came for so long (120000)"},
	{OPT_WORD('A', "affinity", "N[,M]"), take_affinity, 0, 0, 0, BOTH,
	 "bytes move on CPU N; of a client: the server's on CPU M"},
	{OPT_WORD('I', "pidfile", "FILE"), take_text, AT(pid_file), 0, 0, BOTH,
	 "write the number of the process to FILE"},
	{OPT_WORD('D', "daemon", NULL), take_flag, AT(daemon), 0, 0, SERVER,
	 "serve in the background; results go to --logfile"},
	{OPT_WORD('1', "one-off", NULL), take_flag, AT(one_off), 0, 0, SERVER,
	 "end after one test"},
	{OPT_WORD(0, "idle-timeout", "SECONDS"), take_whole, AT(idle_s), 1, 86400, SERVER,
	 "a server that nobody asks for so long begins anew; with -1 it ends"},
	{OPT_WORD('u', "udp", NULL), take_flag, AT(p.udp), 0, 0, CLIENT, "UDP"},
	{OPT_WORD('b', "bitrate", "RATE[/N]"), take_rate, AT(p.rate), 0, 1e15, CLIENT,
	 "of each stream, bit/s, K M G T are 1000 ...; N datagrams at once; 0: without\n"
	 "limit (TCP: 0, UDP: 1M)"},
	{OPT_WORD(0, "bandwidth", "RATE[/N]"), take_rate, AT(p.rate), 0, 1e15, CLIENT, NULL},
	{OPT_WORD(0, "fq-rate", "RATE"), take_rate, AT(p.fq_rate), 0, 1e15, CLIENT,
	 "let the kernel pace, bit/s"},
	{OPT_WORD('t', "time", "SECONDS"), take_whole, AT(p.time_s), 0, IPERF_TIME_MOST, CLIENT,
	 "how long (10); 0: until it is interrupted"},
	{OPT_WORD('n', "bytes", "BYTES"), take_bytes, AT(p.bytes), 1, 0x1p62, CLIENT,
	 "send so many in place of -t; K M G T are 1024 ..."},
	{OPT_WORD('k', "blockcount", "N"), take_bytes, AT(p.blocks), 1, 0x1p52, CLIENT,
	 "send so many blocks in place of -t"},
	{OPT_WORD('l', "length", "BYTES"), take_bytes, AT(p.blksize), 1, IPERF_BLOCK_MOST, CLIENT,
	 "of a block or a datagram (TCP: 128K, UDP: what fits)"},
	{OPT_WORD(0, "cport", "PORT"), take_whole, AT(cport), 1, 65535, CLIENT,
	 "of the first stream here"},
	{OPT_WORD('P', "parallel", "N"), take_whole, AT(p.parallel), 1, IPERF_STREAMS_MOST, CLIENT,
	 "streams (1)"},
	{OPT_WORD('R', "reverse", NULL), take_flag, AT(p.reverse), 0, 0, CLIENT,
	 "the server sends"},
	{OPT_WORD(0, "bidir", NULL), take_flag, AT(p.bidir), 0, 0, CLIENT, "both send"},
	{OPT_WORD('w', "window", "BYTES"), take_bytes, AT(p.window), 1, IPERF_WINDOW_MOST, CLIENT,
	 "socket buffers of both ends"},
	{OPT_WORD('C', "congestion", "NAME"), take_fixed, AT(p.congestion),
	 sizeof(((struct iperf_params *)0)->congestion), 0, CLIENT,
	 "congestion control of both ends"},
	{OPT_WORD('M', "set-mss", "BYTES"), take_whole, AT(p.mss), 1, IPERF_MSS_MOST, CLIENT,
	 "MSS"},
	{OPT_WORD('N', "no-delay", NULL), take_flag, AT(p.nodelay), 0, 0, CLIENT,
	 "without Nagle's algorithm"},
	{OPT_WORD('S', "tos", "N"), take_tos, AT(p.tos), 0, 255, CLIENT,
	 "type of service; 0x and 0 as in C"},
	{OPT_WORD(0, "dscp", "N|NAME"), take_dscp, AT(p.tos), 0, 63, CLIENT,
	 "the same as a code point: 0 to 63, 0x and 0 as in C, or cs0 to cs7, af11 to af43, ef"},
	{OPT_WORD('L', "flowlabel", "N"), take_tos, AT(p.flowlabel), 0, 0xfffff, CLIENT, "of IPv6"},
	{OPT_WORD('Z', "zerocopy", NULL), take_flag, AT(p.zerocopy), 0, 0, CLIENT,
	 "accepted: blocks lie ready and are not read from anywhere"},
	{OPT_WORD('O', "omit", "SECONDS"), take_whole, AT(p.omit_s), 0, IPERF_OMIT_MOST, CLIENT,
	 "leave out the first so many"},
	{OPT_WORD('T', "title", "TEXT"), take_fixed, AT(p.title),
	 sizeof(((struct iperf_params *)0)->title), 0, CLIENT, "before each line"},
	{OPT_WORD(0, "extra-data", "TEXT"), take_fixed, AT(p.extra),
	 sizeof(((struct iperf_params *)0)->extra), 0, CLIENT, "into the JSON of both ends"},
	{OPT_WORD(0, "get-server-output", NULL), take_flag, AT(p.get_output), 0, 0, CLIENT,
	 "print what the server prints, too"},
	{OPT_WORD(0, "udp-counters-64bit", NULL), take_flag, AT(p.udp64), 0, 0, CLIENT,
	 "numbers of 64 bits in datagrams"},
	{OPT_WORD(0, "skip-rx-copy", NULL), take_flag, AT(p.skip_copy), 0, 0, CLIENT,
	 "who receives throws it away without a copy (TCP)"},
	{OPT_WORD(0, "pacing-timer", "US"), take_bytes, AT(p.pacing_us), 0, 1e9, CLIENT,
	 "accepted, and told to the server: -b paces without a timer of its own"},
	{OPT_WORD(0, "repeating-payload", NULL), take_flag, AT(p.repeating), 0, 0, CLIENT,
	 "accepted: what is sent repeats anyway"},
	{OPT_WORD(0, "dont-fragment", NULL), take_flag, AT(p.dont_fragment), 0, 0, CLIENT,
	 "IPv4: never in fragments"},
	{OPT_WORD(0, "connect-timeout", "MS"), take_whole, AT(connect_ms), 1, 86400000, CLIENT,
	 "for the control connection"},
	{OPT_WORD(0, "stack", "kernel|port"), take_stack, 0, 0, 0, BOTH,
	 "the kernel's TCP, or our own on a port; it is not iperf3's"},
	{OPT_WORD('h', "help", NULL), take_flag, AT(help), 0, 0, BOTH, "print this"},
	{OPT_WORD('v', "version", NULL), take_flag, AT(version), 0, 0, BOTH, "print the version"},
	{OPT_WORD('F', "file", "FILE"), take_later, 0, 0, 0, BOTH,
	 "what is sent lies ready. -n with the size of the file sends as many bytes"},
	{OPT_WORD('X', "xbind", "NAME"), take_later, 0, 0, 0, CLIENT,
	 "it is about SCTP, as --nstreams and --sctp are"},
	{OPT_WORD('m', "mptcp", NULL), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "sctp", NULL), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "nstreams", "N"), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "snd-timeout", "MS"), take_later, 0, 0, 0, BOTH, NULL},
	{OPT_WORD(0, "timestamps", "[FORMAT]"), take_later, 0, 0, 0, BOTH, NULL},
	{OPT_WORD(0, "server-bitrate-limit", "RATE"), take_later, 0, 0, 0, SERVER, NULL},
	{OPT_WORD(0, "server-max-duration", "S"), take_later, 0, 0, 0, SERVER, NULL},
	{OPT_WORD(0, "gsro", NULL), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "json-stream-full-output", NULL), take_later, 0, 0, 0, BOTH, NULL},
	{OPT_WORD(0, "username", "NAME"), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "rsa-public-key-path", "FILE"), take_later, 0, 0, 0, CLIENT, NULL},
	{OPT_WORD(0, "rsa-private-key-path", "FILE"), take_later, 0, 0, 0, SERVER, NULL},
	{OPT_WORD(0, "authorized-users-path", "FILE"), take_later, 0, 0, 0, SERVER, NULL},
};

static void *opt_member(struct iperf_opts *o, const struct opt *row)
{
	return (char *)o + row->at;
}

/* "option -P, --parallel: '500' ..." */
static int opt_fail(const struct opt *row, int code, const char *value, const char *text,
		    struct err *e)
{
	struct sbuf name = {0};

	opt_print(&row->w, &name);
	int rc = err_set(e, code, "option %s: '%s' %s", sbuf_str(&name), value, text);
	sbuf_free(&name);
	return rc;
}

static void put_number(double v, struct sbuf *out)
{
	static const char units[] = "KMGT";
	int u = -1;

	for (; v >= 1024 && u < 3 && fmod(v, 1024) == 0; u++)
		v /= 1024;
	sbuf_addf(out, "%.15g", v);
	if (u >= 0)
		sbuf_addc(out, units[u]);
}

static int opt_range(const struct opt *row, const char *value, struct err *e)
{
	struct sbuf text = {0};

	sbuf_add(&text, "is out of range; allowed are ");
	put_number(row->least, &text);
	sbuf_add(&text, " to ");
	put_number(row->most, &text);
	int rc = opt_fail(row, ERANGE, value, sbuf_str(&text), e);
	sbuf_free(&text);
	return rc;
}

/* ---- values ---- */

/* A number with a unit of `base`: false: it is none. *rest is what stands behind. */
static bool number_read(const char *text, double base, double *v, const char **rest)
{
	static const char units[] = "KMGT";
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	for (const char *p = text; *p != '\0'; p++)
		if (*p == 'x' || *p == 'X') /* strtod() would read 0x10 */
			return false;
	*v = strtod(text, &end);
	const char *u = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (u != NULL) {
		*v *= pow(base, (double)(u - units) + 1);
		end++;
	}
	*rest = end;
	return end != text && isfinite(*v);
}

static int take_flag(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	(void)value, (void)e;
	*(bool *)opt_member(o, row) = true;
	return 0;
}

static int take_nothing(struct iperf_opts *o, const struct opt *row, const char *value,
			struct err *e)
{
	(void)o, (void)row, (void)value, (void)e;
	return 0;
}

static int take_text(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	char **to = opt_member(o, row);

	if (value[0] == '\0')
		return opt_fail(row, EINVAL, value, "is empty", e);
	free(*to);
	*to = xstrdup(value);
	return 0;
}

static int take_fixed(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	json_t *utf8 = json_string(value);

	if (utf8 == NULL)
		return opt_fail(row, EINVAL, value, "is no UTF-8", e);
	json_decref(utf8);
	if (strlen(value) >= (size_t)row->least) {
		struct sbuf text = {0};
		sbuf_addf(&text, "is too long; allowed are %.0f bytes", row->least - 1);
		int rc = opt_fail(row, ERANGE, value, sbuf_str(&text), e);
		sbuf_free(&text);
		return rc;
	}
	memcpy(opt_member(o, row), value, strlen(value) + 1);
	return 0;
}

/* HOST%DEV */
static int take_client(struct iperf_opts *o, const struct opt *row, const char *value,
		       struct err *e)
{
	if (value[0] == '\0')
		return opt_fail(row, EINVAL, value, "is empty; give a name or an address", e);
	o->client = true;
	free(o->host);
	o->host = xstrdup(value);
	return 0;
}

static void put_whole(struct iperf_opts *o, const struct opt *row, double v)
{
	bool wide = row->at == AT(p.time_s) || row->at == AT(p.bytes) || row->at == AT(p.blocks) ||
		    row->at == AT(p.rate) || row->at == AT(p.pacing_us) ||
		    row->at == AT(p.fq_rate) || row->at == AT(p.omit_s);

	if (wide)
		*(uint64_t *)opt_member(o, row) = (uint64_t)v;
	else
		*(uint32_t *)opt_member(o, row) = (uint32_t)v;
}

static int take_whole(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end != '\0')
		return opt_fail(row, EINVAL, value, "is not a whole number", e);
	if (errno != 0 || (double)v < row->least || (double)v > row->most)
		return opt_range(row, value, e);
	put_whole(o, row, (double)v);
	return 0;
}

static int take_bytes(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	const char *rest;
	double v;

	if (!number_read(value, 1024, &v, &rest) || *rest != '\0')
		return opt_fail(row, EINVAL, value,
				"is not a number with a unit of K, M, G or T, like 128K", e);
	v = floor(v);
	if (v < row->least || v > row->most)
		return opt_range(row, value, e);
	put_whole(o, row, v);
	o->blksize_given |= row->at == AT(p.blksize);
	return 0;
}

static int take_seconds(struct iperf_opts *o, const struct opt *row, const char *value,
			struct err *e)
{
	const char *rest;
	double v;

	if (!number_read(value, 1, &v, &rest) || *rest != '\0')
		return opt_fail(row, EINVAL, value, "is not a number of seconds, like 0.5", e);
	if (v != 0 && (v < row->least || v > row->most))
		return opt_fail(row, ERANGE, value, "is out of range; allowed are 0.1 to 60, and 0",
				e);
	*(double *)opt_member(o, row) = v;
	return 0;
}

static int take_rate(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	const char *rest;
	double v;
	bool burst = row->at == AT(p.rate);

	if (!number_read(value, 1000, &v, &rest))
		return opt_fail(row, EINVAL, value,
				"is not a rate in bit/s with a unit of K, M, G or T, like 100M", e);
	if (v > row->most)
		return opt_range(row, value, e);
	if (*rest == '/' && burst) {
		char *end;
		unsigned long n = strtoul(rest + 1, &end, 10);
		if (!isdigit((unsigned char)rest[1]) || *end != '\0' || n < 1 ||
		    n > IPERF_BURST_MOST)
			return opt_fail(row, EINVAL, value,
					"has no number of 1 to 1000 behind the slash", e);
		o->p.burst = (uint32_t)n;
	} else if (*rest != '\0') {
		return opt_fail(row, EINVAL, value,
				"is not a rate in bit/s with a unit of K, M, G or T, like 100M", e);
	}
	put_whole(o, row, v);
	return 0;
}

static int take_family(struct iperf_opts *o, const struct opt *row, const char *value,
		       struct err *e)
{
	(void)value;
	if (o->family != AF_UNSPEC && o->family != (int)row->least)
		return err_set(e, EINVAL, "-4 and -6 exclude each other; give one of them");
	o->family = (int)row->least;
	return 0;
}

static int take_tos(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(value, &end, 0);
	if (!isdigit((unsigned char)value[0]) || *end != '\0')
		return opt_fail(row, EINVAL, value, "is not a number, like 16, 0x10 or 020", e);
	if (errno != 0 || (double)v > row->most)
		return opt_range(row, value, e);
	put_whole(o, row, (double)v);
	return 0;
}

/* The names of code points: RFC 2474, 2597, 3246. */
static bool dscp_named(const char *name, uint32_t *out)
{
	unsigned a = (unsigned)(name[0] != '\0' && name[1] != '\0' ? name[2] - '0' : 10);

	if (strcasecmp(name, "ef") == 0)
		*out = 46;
	else if (strncasecmp(name, "cs", 2) == 0 && a <= 7 && name[3] == '\0')
		*out = a * 8;
	else if (strncasecmp(name, "af", 2) == 0 && a >= 1 && a <= 4 && name[3] >= '1' &&
		 name[3] <= '3' && name[4] == '\0')
		*out = a * 8 + (unsigned)(name[3] - '0') * 2;
	else
		return false;
	return true;
}

static int take_dscp(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	if (!dscp_named(value, &o->p.tos) && take_tos(o, row, value, e) != 0)
		return -EINVAL;
	o->p.tos <<= 2;
	return 0;
}

/* A number of a CPU, + 1; 0: it is none. */
static uint32_t cpu_read(const char *text, const char **rest)
{
	char *end;
	unsigned long v;

	*rest = text;
	if (!isdigit((unsigned char)text[0]))
		return 0;
	errno = 0;
	v = strtoul(text, &end, 10);
	*rest = end;
	return errno != 0 || v > IPERF_CPU_MOST ? 0 : (uint32_t)v + 1;
}

/* N, or N,M, or ,M */
static int take_affinity(struct iperf_opts *o, const struct opt *row, const char *value,
			 struct err *e)
{
	const char *at = value;

	if (*at != ',')
		o->cpu = cpu_read(at, &at);
	if (*at == ',')
		o->p.cpu = cpu_read(at + 1, &at);
	if (*at != '\0' || (o->cpu == 0 && value[0] != ',') ||
	    (o->p.cpu == 0 && strchr(value, ',') != NULL))
		return opt_fail(row, EINVAL, value,
				"is no CPU, or two with a comma; allowed are 0 to 1023", e);
	return 0;
}

static int take_format(struct iperf_opts *o, const struct opt *row, const char *value,
		       struct err *e)
{
	if (strlen(value) != 1 || strchr("kmgtKMGT", value[0]) == NULL)
		return opt_fail(row, EINVAL, value, "is no unit; allowed are k m g t K M G T", e);
	o->format = value[0];
	return 0;
}

static int take_stack(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	if (strcmp(value, "kernel") != 0 && strcmp(value, "port") != 0)
		return opt_fail(row, EINVAL, value, "is no stack; allowed are kernel and port", e);
	o->stack = value[0] == 'p' ? IPERF_STACK_PORT : IPERF_STACK_KERNEL;
	return 0;
}

static int take_later(struct iperf_opts *o, const struct opt *row, const char *value, struct err *e)
{
	struct sbuf name = {0};

	(void)o, (void)value;
	opt_print(&row->w, &name);
	int rc =
		err_set(e, ENOTSUP, "option %s of iperf3: not in this version%s%s", sbuf_str(&name),
			row->help != NULL ? "; " : "", row->help != NULL ? row->help : "");
	sbuf_free(&name);
	return rc;
}

/* ---- words ---- */

/* %DEV behind an address names an interface; of a link-local address it stays, too. */
static void split_device(struct iperf_opts *o, char *host)
{
	char *percent = host != NULL ? strchr(host, '%') : NULL;

	if (percent == NULL)
		return;
	free(o->device);
	o->device = xstrdup(percent + 1);
	if (strncasecmp(host, "fe80:", 5) != 0)
		*percent = '\0';
}

static int check_role(const struct iperf_opts *o, const struct opt *first[3], struct err *e)
{
	const struct opt *wrong = first[o->server ? CLIENT : SERVER];
	struct sbuf name = {0};

	if (o->server && o->p.cpu != 0)
		return err_set(e, EINVAL,
			       "option -A, --affinity: a server has one CPU; N,M is for clients");
	if (o->server && o->client)
		return err_set(e, EINVAL,
			       "-s and -c exclude each other: a server, or a client of one");
	if (!o->server && !o->client)
		return err_set(e, EINVAL,
			       "iperf3 is a client (-c HOST) or a server (-s); give one of them");
	if (wrong == NULL)
		return 0;
	opt_print(&wrong->w, &name);
	int rc = err_set(e, EINVAL, "option %s is one of %s", sbuf_str(&name),
			 o->server ? "clients (-c): the client says what the test is"
				   : "servers (-s)");
	sbuf_free(&name);
	return rc;
}

static int check_client(struct iperf_opts *o, bool time, struct err *e)
{
	struct iperf_params *p = &o->p;

	if ((time && (p->bytes != 0 || p->blocks != 0)) || (p->bytes != 0 && p->blocks != 0))
		return err_set(e, EINVAL,
			       "only one of -t, -n and -k can say when the test ends; give one");
	if (p->reverse && p->bidir)
		return err_set(e, EINVAL, "-R and --bidir exclude each other; give one of them");
	if (p->udp && o->blksize_given &&
	    (p->blksize < IPERF_UDP_LEAST || p->blksize > IPERF_UDP_MOST))
		return err_set(e, ERANGE,
			       "option -l, --length: datagrams of %u bytes; allowed are %d to %d",
			       p->blksize, IPERF_UDP_LEAST, IPERF_UDP_MOST);
	if (o->cport != 0 && o->cport + p->parallel * (p->bidir ? 2 : 1) - 1 > 65535)
		return err_set(e, ERANGE,
			       "option --cport: %u streams from port %u on end beyond 65535",
			       p->parallel * (p->bidir ? 2 : 1), o->cport);
	if (p->udp && (p->nodelay || p->mss != 0 || p->congestion[0] != '\0'))
		return err_set(e, EINVAL, "-N, -M and -C are about TCP; leave them out with -u");
	return 0;
}

/* The defaults that depend on other options. */
static void fill_in(struct iperf_opts *o, bool rate)
{
	struct iperf_params *p = &o->p;

	if (!o->blksize_given)
		p->blksize = p->udp ? 0 : 128 << 10;
	if (p->udp && !rate)
		p->rate = 1 << 20;
	if (p->bytes != 0 || p->blocks != 0)
		p->time_s = 0;
	if (p->pacing_us == 0)
		p->pacing_us = 1000;
	split_device(o, o->host);
	split_device(o, o->bind);
}

static int read_words(struct iperf_opts *o, int argc, char **argv, struct err *e)
{
	static const struct opt_table table = {.row = opts,
					       .row_bytes = sizeof(*opts),
					       .n = ARRAY_SIZE(opts),
					       .whose = " of iperf3",
					       .hint = "",
					       .list = "iperf3 --help lists them"};
	struct opts *reading = opts_begin(&table);
	const struct opt *first[3] = {NULL, NULL, NULL};
	bool time = false, rate = false;
	const void *at;
	const char *value;
	int rc;

	while ((rc = opts_next(reading, argc, argv, &at, &value, e)) == 1) {
		const struct opt *row = at;
		rc = row->take(o, row, value, e);
		if (rc != 0)
			break;
		first[row->role] = first[row->role] == NULL ? row : first[row->role];
		time |= row->at == AT(p.time_s) && row->w.letter == 't';
		rate |= row->at == AT(p.rate) && row->take == take_rate;
	}
	opts_end(reading);
	if (rc != 0 || o->help || o->version)
		return rc;
	if (optind < argc)
		return err_set(e, EINVAL, "'%s' is no option of iperf3; iperf3 --help lists them",
			       argv[optind]);
	if ((rc = check_role(o, first, e)) != 0 || (rc = check_client(o, time, e)) != 0)
		return rc;
	fill_in(o, rate);
	return 0;
}

/* ---- on a port ---- */

/* Each stream is a flow of the port. */
static int port_streams(const struct iperf_params *p, struct err *e)
{
	unsigned n = p->parallel * (p->bidir ? 2 : 1);

	if (n <= ARM_EACH_MOST)
		return 0;
	return err_set(e, ENOTSUP,
		       "%u streams: on a port there are at most %d; --stack kernel has more", n,
		       ARM_EACH_MOST);
}

static int port_congestion(const char *name, struct err *e)
{
	if (name[0] == '\0' || strcmp(name, "cubic") == 0 || strcmp(name, "reno") == 0 ||
	    strcmp(name, "newreno") == 0)
		return 0;
	return err_set(e, ENOTSUP, "option -C, --congestion: '%s'; on a port it is cubic, or reno",
		       name);
}

int iperf_opts_port(const struct iperf_opts *o, struct err *e)
{
	const struct iperf_params *p = &o->p;
	const struct {
		bool given;
		const char *name, *why;
	} no[] = {
		{o->bind != NULL && !o->server, "-B, --bind",
		 "`set <port> ip` or --ip gives its address"},
		{o->device != NULL, "--bind-dev", "the port is the device"},
		{o->cpu != 0, "-A, --affinity N", "-m says on which core the port's worker runs"},
		{p->fq_rate != 0, "--fq-rate", "only the kernel paces sockets; -b is for both"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (no[i].given)
			return err_set(e, ENOTSUP, "option %s on a port: %s; --stack kernel has it",
				       no[i].name, no[i].why);
	if (port_streams(p, e) != 0)
		return -ENOTSUP;
	return port_congestion(p->congestion, e);
}

int iperf_opts_read(struct iperf_opts *o, char *const *word, unsigned n, struct err *e)
{
	/* getopt sorts its arguments, and begins behind the first of them */
	char **argv = xcalloc(n + 2, sizeof(*argv));

	*o = (struct iperf_opts){.port = IPERF_PORT,
				 .interval_s = 1,
				 .rcv_ms = 120000,
				 .p = {.time_s = 10, .parallel = 1}};
	argv[0] = xstrdup("iperf3");
	for (unsigned i = 0; i < n; i++)
		argv[i + 1] = word[i];
	char *name = argv[0];
	int rc = read_words(o, (int)n + 1, argv, e);
	free(name);
	free(argv);
	return rc;
}

void iperf_opts_free(struct iperf_opts *o)
{
	free(o->host);
	free(o->bind);
	free(o->device);
	free(o->logfile);
	free(o->pid_file);
	o->host = o->bind = o->device = o->logfile = o->pid_file = NULL;
}

void iperf_opts_help(struct sbuf *out)
{
	static const char *const heads[] = {"both ends", "clients", "servers"};
	struct sbuf name = {0};

	sbuf_add(out, "usage: iperf3 -s [options]\n       iperf3 -c HOST [options]\n");
	for (int role = BOTH; role <= SERVER; role++) {
		sbuf_addf(out, "\n%s:\n", heads[role]);
		for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
			if (opts[i].role != role || opts[i].help == NULL ||
			    opts[i].take == take_later)
				continue;
			sbuf_reset(&name);
			sbuf_add(&name, "  ");
			opt_print_head(&opts[i].w, &name);
			opt_print_help(sbuf_str(&name), opts[i].help, 33, out);
		}
	}
	sbuf_free(&name);
}
