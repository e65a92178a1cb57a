/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_pcap.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_names.h"

_Static_assert(sizeof(struct filter_insn) == sizeof(struct bpf_insn), "one layout");

static void pcap_text_fail(struct pcap_out *out, enum filter_answer answer, const char *text)
{
	out->answer = answer;
	snprintf(out->text, sizeof(out->text), "%s", text);
}

static void pcap_text_take(const struct bpf_program *b, struct pcap_out *out)
{
	char number[16];

	if (b->bf_len > FILTER_INSNS_MOST) {
		snprintf(number, sizeof(number), "%u", b->bf_len);
		pcap_text_fail(out, FILTER_TOO_LARGE, number);
		return;
	}
	out->answer = FILTER_PROGRAM;
	out->prog.n = b->bf_len;
	out->prog.insns = xcalloc(b->bf_len, sizeof(*out->prog.insns));
	memcpy(out->prog.insns, b->bf_insns, b->bf_len * sizeof(*out->prog.insns));
}

void pcap_text_compile(const char *expr, unsigned snaplen, int linktype, struct pcap_out *out)
{
	pcap_t *p = pcap_open_dead(linktype, (int)snaplen);
	struct bpf_program b = {0};
	const char *name;

	*out = (struct pcap_out){0};
	if (p == NULL) {
		pcap_text_fail(out, FILTER_SYNTAX, "no memory");
		return;
	}
	names_forget();
	int rc = pcap_compile(p, &b, expr, 1, PCAP_NETMASK_UNKNOWN);
	enum filter_answer refused = names_refused(&name);
	/* A name counts even if libpcap went on without it. */
	if (refused != FILTER_SYNTAX)
		pcap_text_fail(out, refused, name);
	else if (rc != 0)
		pcap_text_fail(out, FILTER_SYNTAX, pcap_geterr(p));
	else
		pcap_text_take(&b, out);
	if (rc == 0)
		pcap_freecode(&b);
	pcap_close(p);
}
