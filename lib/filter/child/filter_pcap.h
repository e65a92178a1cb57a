/* SPDX-License-Identifier: BSD-3-Clause */
/* An expression compiled by libpcap, in this process. */
#pragma once
#include "filter_wire.h"

struct pcap_out {
	enum filter_answer answer;
	struct filter_prog prog;     /* the caller frees it; for FILTER_PROGRAM */
	char text[FILTER_TEXT_MOST]; /* for all others */
};
void pcap_text_compile(const char *expr, unsigned snaplen, int linktype, struct pcap_out *out);
