/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of iperf3 as a workload: its clients get them in all arms, but for what `stacks`
 * itself says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "iperf.h"
#include "stacks_words.h"

#define SECOND 1000000000ull
#define OMIT_USUAL 1
/* A server that no user names, and where. */
#define SERVER "-c stacks.invalid -p 1"

/* Reads them behind words of ours, which are separated by blanks. */
static int check_read(const struct stacks_iperf *i, const char *ours, struct iperf_opts *out,
		      struct err *e)
{
	char *word[STACKS_IPERF_WORDS + 16], text[128], *save = NULL;
	unsigned n = 0;

	snprintf(text, sizeof(text), "%s", ours);
	for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	for (unsigned k = 0; k < i->n; k++)
		word[n++] = (char *)(uintptr_t)i->word[k];
	return iperf_opts_read(out, word, n, e);
}

/* What is said in another way here. usual: without words. */
static int check_ours(const struct iperf_opts *p, const struct iperf_opts *usual, struct err *e)
{
	static const char one[] = "`stacks` reads its results, and prints them";
	const struct {
		bool given;
		const char *name, *why;
	} no[] = {
		{p->help || p->version, "-h and -v", "they measure nothing"},
		{strcmp(p->host, usual->host) != 0, "-c, --client",
		 "its servers are made here, or by --peer HOST"},
		{p->port != usual->port || p->cport != 0, "-p, --port and --cport",
		 "`stacks --port` says where it is"},
		{p->bind != NULL || p->device != NULL || p->family != AF_UNSPEC,
		 "-B, --bind-dev, -4 and -6", "namespaces, --peer and --ip say where it is"},
		{p->cpu != 0 || p->p.cpu != 0, "-A, --affinity", "--cpus says it, for all arms"},
		{p->stack != IPERF_STACK_ANY, "--stack", "--arms says it"},
		{p->p.bytes != 0 || p->p.blocks != 0, "-n, --bytes and -k, --blockcount",
		 "runs end after a time: --duration"},
		{p->json || p->json_stream || p->verbose || p->format != 0 || p->logfile != NULL,
		 "-J, --json-stream, -V, -f and --logfile", one},
		{p->pid_file != NULL || p->p.title[0] != '\0' || p->p.extra[0] != '\0' ||
			 p->p.get_output,
		 "-I, -T, --extra-data and --get-server-output", one},
		{p->connect_ms != 0 || p->rcv_ms != usual->rcv_ms,
		 "--connect-timeout and --rcv-timeout", "a run that does not begin is tried again"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (no[i].given)
			return err_set(e, EINVAL, "stacks iperf3 has no %s: %s", no[i].name,
				       no[i].why);
	return 0;
}

/* Our own options about what iperf3 has options for, too. */
static int check_others(const struct stacks_opts *o, struct err *e)
{
	const struct {
		bool given;
		const char *name, *of_iperf;
	} no[] = {
		{o->down, "--down", "-R behind iperf3 has its server send"},
		{o->flows != 0, "--flows", "-P N behind iperf3 says how many streams there are"},
		{o->mss != 0, "--mss", "-M N behind iperf3 says it"},
		{o->verify, "--verify", "it compares nothing; tcp_stream does"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (no[i].given)
			return err_set(e, EINVAL, "%s is not for iperf3: %s", no[i].name,
				       no[i].of_iperf);
	if (o->duration_ns % SECOND != 0 || (o->warm_given && o->warm_ns % SECOND != 0))
		return err_set(e, EINVAL, "%s: a test of iperf3 has whole seconds, like 2s",
			       o->duration_ns % SECOND != 0 ? "--duration" : "--warm-up");
	return 0;
}

static int check_words(const struct stacks_opts *o, struct err *e)
{
	for (unsigned i = 0; i < o->iperf.n; i++)
		if (o->iperf.word[i][0] == '\0' || strpbrk(o->iperf.word[i], " \t\n;#\"'{}\\"))
			return err_set(e, EINVAL,
				       "'%.64s' behind iperf3: no option that it has here takes "
				       "such a word",
				       o->iperf.word[i]);
	return 0;
}

/* Those that say the time: they may be there if they say the same. */
static int check_time(const struct stacks_opts *o, struct err *e)
{
	const uint64_t time_s = o->duration_ns / SECOND;
	char ours[128];
	struct iperf_opts p;

	snprintf(ours, sizeof(ours), SERVER " -t %llu -O %llu -i 0", (unsigned long long)time_s,
		 (unsigned long long)o->iperf.omit_s);
	int rc = check_read(&o->iperf, ours, &p, e);
	if (rc == 0 && p.p.time_s != time_s)
		rc = err_set(e, EINVAL, "-t behind iperf3: --duration says how long each run is");
	else if (rc == 0 && p.p.omit_s != o->iperf.omit_s)
		rc = err_set(e, EINVAL, "-O behind iperf3: --warm-up says what is left out");
	else if (rc == 0 && p.interval_s != 0)
		rc = err_set(e, EINVAL, "-i behind iperf3: a run is one interval");
	iperf_opts_free(&p);
	return rc;
}

static void check_fill(struct stacks_opts *o, const struct iperf_params *p)
{
	struct stacks_iperf *i = &o->iperf;

	i->udp = p->udp;
	i->reverse = p->reverse;
	i->bidir = p->bidir;
	o->skip |= p->skip_copy;
	i->algorithm = p->congestion[0] != '\0';
	snprintf(i->congestion, sizeof(i->congestion), "%s",
		 p->udp         ? "none"
		 : i->algorithm ? p->congestion
				: STACKS_CONGESTION);
}

int stacks_iperf_check(struct stacks_opts *o, struct err *e)
{
	struct iperf_opts p = {0}, usual = {0};
	int rc = check_others(o, e);

	o->iperf.omit_s = o->warm_given ? o->warm_ns / SECOND : OMIT_USUAL;
	rc = rc == 0 ? check_words(o, e) : rc;
	rc = rc == 0 ? check_read(&(struct stacks_iperf){0}, SERVER, &usual, e) : rc;
	if (rc == 0) {
		rc = check_read(&o->iperf, SERVER, &p, e);
		rc = rc == 0 ? check_ours(&p, &usual, e) : rc;
		rc = rc == 0 ? check_time(o, e) : rc;
		if (rc == 0 && (o->arm[STACKS_PK] || o->arm[STACKS_PP]))
			rc = iperf_opts_port(&p, e);
		check_fill(o, &p.p);
		iperf_opts_free(&p);
	}
	iperf_opts_free(&usual);
	return rc;
}

void stacks_iperf_options(const struct stacks_opts *o, struct sbuf *out)
{
	sbuf_addf(out, "-t %llu -O %llu", (unsigned long long)(o->duration_ns / SECOND),
		  (unsigned long long)o->iperf.omit_s);
	if (!o->iperf.udp && !o->iperf.algorithm)
		sbuf_addf(out, " -C %s", o->iperf.congestion);
	if (o->skip)
		sbuf_add(out, " --skip-rx-copy");
	for (unsigned i = 0; i < o->iperf.n; i++)
		sbuf_addf(out, " %s", o->iperf.word[i]);
}
