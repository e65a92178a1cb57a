/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a filter, compiled by libpcap in this process. What compiles and passes our check
 * must say of a frame what libpcap's own interpreter says, and read no further than it should. */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "filter_pcap.h"
#include "input.h"

#define TEXT_MOST 400 /* a longer one may take libpcap a while */
#define FRAME 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *no_more(const struct filter_view *v, uint32_t offset, uint32_t n,
			      uint8_t *buf)
{
	(void)buf;
	CHECK((uint64_t)offset + n > v->data_bytes);
	return NULL;
}

/* libpcap makes programs that read memory which they have not written (`geneve or udp`). Ours is 0
 * there, and its own is what was on the stack. */
static bool has_memory(const struct filter_prog *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->insns[i].code == (BPF_LD | BPF_MEM) ||
		    p->insns[i].code == (BPF_LDX | BPF_MEM))
			return true;
	return false;
}

static void run(const struct filter_prog *p, const uint8_t *frame, uint32_t n)
{
	struct filter_view v = {.data = frame, .data_bytes = n, .frame_bytes = n, .more = no_more};

	uint32_t ours = filter_run(p->insns, &v);
	CHECK(has_memory(p) || ours == bpf_filter((const struct bpf_insn *)p->insns, frame, n, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MOST + 1];
	size_t n = size < TEXT_MOST ? size : TEXT_MOST;
	struct pcap_out out;

	memcpy(text, data, n);
	text[n] = '\0';
	pcap_text_compile(text, 65535, FILTER_ETHERNET, &out);
	CHECK(out.answer < FILTER_ANSWERS);
	if (out.answer != FILTER_PROGRAM) {
		CHECK(strnlen(out.text, sizeof(out.text)) < sizeof(out.text));
		return 0;
	}
	if (filter_check(&out.prog, NULL) == 0) {
		uint8_t *frame = malloc(FRAME);
		for (unsigned i = 0; i < FRAME; i++)
			frame[i] = i < size ? data[i] : (uint8_t)i;
		filter_reach(&out.prog, NULL);
		for (uint32_t len = 0; len <= FRAME; len += 32)
			run(&out.prog, frame, len);
		memcpy(frame + 12, "\x08\x00\x45", 3);
		run(&out.prog, frame, FRAME);
		free(frame);
	}
	filter_prog_free(&out.prog);
	return 0;
}
