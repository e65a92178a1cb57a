/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line, by the types that settings have, and opens control as it says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "pktperf.h"

const char perf_help[] =
	"usage: pktperf [EAL options --] -m MAP [options]\n"
	"Sends on all Tx queues and counts on all Rx queues; Ctrl-C ends it with totals.\n"
	"  -m MAP     cores and their port: 1.0, 1-4.0, 2-5:6-9.0, 1.0*4; may be given again\n"
	"  -p SPEC    a port: wire, null, tap:NAME ...; EAL's devices come behind; without any: wire\n"
	"  -b N       frames per Tx burst (32); an Rx burst is twice that, at most 512\n"
	"  -s N       bytes of a frame with FCS (64)\n"
	"  -r RATE    of a port over its Tx queues: percent (100), 1.5Mpps, 2Gbps, max; 0: nothing\n"
	"  -d RX/TX   descriptors of each queue (1024/1024)\n"
	"  -T SECONDS between two prints (1)\n"
	"  -M N       buffers of each pool (as descriptors and bursts need)\n"
	"  -P, -v, -h without promiscuous mode; print what libraries log; print this text\n"
	"Exit codes: 0 done, 2 wrong usage, 3 the environment lacks something.\n";

static int perf_take(struct perf *p, int letter, char *text, struct err *e)
{
	static const char letters[] = "bsMTrd/"; /* '/': the second number of -d */
	static const struct vspec spec[] = {{&vt_uint, 1, 512},
					    {&vt_uint, 64, 1518},
					    {&vt_uint, 512, 131072},
					    {&vt_seconds, 100000000, 3600000000000},
					    {&vt_rate_steady},
					    {&vt_uint, 512, 4096},
					    {&vt_uint, 512, 4096}};
	void *const to[] = {&p->burst, &p->size,     &p->opts.mbufs, &p->every_ns,
			    &p->rate,  &p->opts.rxd, &p->opts.txd};
	const char *one = letter == 'd' ? strsep(&text, "/") : text, *at = strchr(letters, letter);
	const struct vspec *v = at != NULL ? &spec[at - letters] : NULL;
	struct err why;

	if (letter == 'm')
		p->map[p->opts.nmaps++] = text;
	if (letter == 'p')
		p->port[p->opts.nports++] = text;
	p->opts.promiscuous &= letter != 'P';
	if (letter == 'v')
		log_stderr(LOG_LVL_DEBUG);
	p->help |= letter == 'h';
	if (letter == 'r' && strcmp(text, "0") == 0) {
		p->rate = (struct rate){.kind = RATE_PERCENT};
		return 0;
	}
	if (v != NULL && v->type->parse(v, one, to[at - letters], &why) < 0)
		return err_set(e, EINVAL, "option -%c: %s", letter == '/' ? 'd' : letter, why.text);
	if (letter == 'd' && text == NULL)
		return err_set(e, EINVAL, "option -d: no number for Tx, as in 1024/512");
	return letter == 'd' ? perf_take(p, '/', text, e) : 0;
}

int perf_args(struct perf *p, int argc, char **argv, struct err *e)
{
	int skip = 1, c, rc = 0;

	while (skip < argc && strcmp(argv[skip], "--") != 0)
		skip++;
	skip = skip < argc ? skip : 0; /* without "--" all options are ours */
	*p = (struct perf){.burst = 32, .size = 64, .every_ns = 1000000000};
	p->rate = (struct rate){RATE_PERCENT, 100};
	p->opts = (struct ctl_opts){.prog = "pktperf", .promiscuous = true};
	p->opts.rxd = p->opts.txd = 1024;
	p->opts.maps = p->map = xcalloc(2 * (size_t)argc, sizeof(*p->map));
	p->opts.ports = p->port = p->map + argc;
	p->opts.eal_args = argv + 1;
	p->opts.neal_args = skip > 0 ? (unsigned)skip - 1 : 0;
	opterr = optind = 0;
	while (rc == 0 && (c = getopt(argc - skip, argv + skip, ":m:p:b:s:r:d:T:M:Pvh")) != -1)
		rc = c == ':'   ? err_set(e, EINVAL, "option -%c needs a value", optopt)
		     : c == '?' ? err_set(e, EINVAL, "no option -%c; -h lists all", optopt)
				: perf_take(p, c, optarg, e);
	if (rc == 0 && optind < argc - skip)
		rc = err_set(e, EINVAL, "'%s': EAL's options go before --", argv[skip + optind]);
	if (rc == 0 && p->opts.nmaps == 0 && !p->help)
		rc = err_set(e, EINVAL, "no map says which cores serve which port, as -m 1.0");
	return rc;
}

int perf_frame(struct frame_spec *spec, unsigned queue, struct err *e)
{
	char dst[32];
	int rc = frame_stack_parse("eth/ipv4/udp", &spec->stack, e);

	snprintf(dst, sizeof(dst), "00:aa:bb:cc:dd:%02x", queue);
	if (rc == 0)
		rc = frame_vals_parse(&spec->vals, "eth.dst", dst, e);
	return rc == 0 ? frame_vals_parse(&spec->vals, "udp.src", "1024..65535", e) : rc;
}

/* Each core serves one port, as in Pktgen's pktperf: what a core can do is told of one port. */
static int perf_check(const struct placement *pl, struct err *e)
{
	for (const struct place_queue *a = pl->q; a < pl->q + pl->n; a++)
		for (const struct place_queue *b = a + 1; b < pl->q + pl->n; b++)
			if (a->lcore == b->lcore && a->port != b->port)
				return err_set(e, EINVAL,
					       "core %u may serve one port, not %u and %u",
					       a->lcore, a->port, b->port);
	return 0;
}

/* Streams of a port take turns, and so do its Tx queues: with as many, each queue has its own. */
int perf_open(struct perf *p, struct err *e)
{
	int rc = ctl_open(&p->ctl, &p->opts, e);

	if (rc < 0 || (rc = perf_check(ctl_placement(p->ctl), e)) < 0)
		return rc;
	for (unsigned i = 0; i < ctl_nports(p->ctl) && rc >= 0; i++) {
		unsigned ntxq = ctl_placement(p->ctl)->port[i].ntxq;
		struct port_cfg *cfg = ctl_port_cfg(p->ctl, i);
		cfg->burst = p->burst;
		cfg->rxburst = 2 * p->burst < 512 ? 2 * p->burst : 512;
		ctl_touch(p->ctl, i, WHY_ALL);
		if (ntxq == 0 || (p->rate.value <= 0 && p->rate.kind != RATE_MAX))
			continue;
		portset_add(&p->senders, i);
		cfg->rate = p->rate;
		cfg->catchup.kind = CATCHUP_SKIP; /* what is not taken in time is TxDrop */
		rc = ntxq > 1 ? ctl_stream_add(p->ctl, i, 1, ntxq - 1, -1, e) : 0;
		for (unsigned q = 0; q < ntxq && rc >= 0; q++) {
			struct stream_cfg *s = ctl_stream_cfg(p->ctl, i, q);
			s->sizes = (struct sizes){SIZES_FIXED, .n = 1,
						  .item = {{(uint16_t)p->size, 1}}};
			rc = perf_frame(&s->frame, q, e);
			ctl_touch_stream(p->ctl, i, (int)q, WHY_ALL);
		}
	}
	return rc < 0 ? rc : 0;
}
