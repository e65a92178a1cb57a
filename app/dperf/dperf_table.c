/* SPDX-License-Identifier: BSD-3-Clause */
/* All directives of dperf: their arguments, their limits, and what becomes of them here. Parsing,
 * messages and the manual follow from these rows. */
#include "dperf.h"

static const char *const words_mode[] = {"client", "server", NULL};
static const char *const words_level[] = {"error", "warn", "info", "debug", NULL};
static const char *const words_protocol[] = {"tcp", "udp", "http", NULL};
static const char *const words_method[] = {"GET", "POST", NULL};

#define INT_MOST 2147483647u
#define GIB (1u << 30)
#define ARG(n, t, lo, hi) \
	{ \
		.name = n, .type = DPERF_T_##t, .min = lo, .max = hi \
	}
#define OPT(n, t, lo, hi) \
	{ \
		.name = n, .type = DPERF_T_##t, .min = lo, .max = hi, .optional = true \
	}
#define WORD(n, list) \
	{ \
		.name = n, .type = DPERF_T_WORD, .words = list \
	}

const struct dperf_directive dperf_directives[DPERF_IDS] = {
	[DPERF_MODE] = {"mode", .arg = {WORD("ROLE", words_mode)},
			.about = "`flow client` or `flow server`; client without it"},
	[DPERF_DAEMON] = {"daemon",
			  .about = "the option `--daemon`; the program ends behind the run"},
	[DPERF_QUIET] = {"quiet", .about = "no block each second, the totals alone"},
	[DPERF_CLEAR_SCREEN] =
		{"clear_screen",
		 .about = "each block takes the place of the one before, on a terminal"},
	[DPERF_LOG_LEVEL] = {"log_level", .arg = {WORD("LEVEL", words_level)},
			     .about = "DPDK's own option `--log-level`, before `--`"},
	[DPERF_CPU] = {"cpu",
		       .arg = {{.name = "CPU", .type = DPERF_T_CPUS, .max = 1023, .many = true}},
		       .about = "how many queues and workers each port has; `-m` says which CPUs"},
	[DPERF_SOCKET_MEM] = {"socket_mem", .arg = {ARG("MB,MB...", SIZES, 0, INT_MOST)},
			      .about = "DPDK's own option `--socket-mem`, before `--`"},
	[DPERF_SIMD512] = {"simd512",
			   .about = "DPDK's own option `--force-max-simd-bitwidth`, before `--`"},
	[DPERF_DURATION] = {"duration", .arg = {ARG("TIME", TIME, DPERF_NS, INT_MOST *DPERF_NS)},
			    .about = "`start ... for`, behind the slow start; 60 s without it"},
	[DPERF_WAIT] =
		{"wait", .mode = DPERF_OF_CLIENT, .arg = {ARG("SECONDS", NUMBER, 1, INT_MOST)},
		 .about = "`sleep` before the start; 3 s without it. The slow start runs meanwhile, as in dperf"},
	[DPERF_SLOW_START] =
		{"slow_start", .mode = DPERF_OF_CLIENT, .arg = {ARG("SECONDS", NUMBER, 0, 600)},
		 .about = "`cps A..B step A every 1s`; 30 s without it. Here it may be less than 10, and 0 is none"},
	[DPERF_PORT] =
		{"port", .repeats = true,
		 .arg = {ARG("DEVICE", DEVICE, 0, 0), ARG("ADDRESS", ADDR, 0, 0),
			 ARG("GATEWAY", ADDR, 0, 0), OPT("MAC", MAC, 0, 0)},
		 .about = "a port, with `ip`, `gateway`, `host.neighbours`; a bond needs `-p`. A gateway without MAC is asked for up to 60 s"},
	[DPERF_CLIENT] =
		{"client", .repeats = true,
		 .arg = {ARG("ADDRESS", ADDR, 0, 0),
			 ARG("NUMBER", NUMBER, 1, 254),
			 {.name = "ADDRESS", .type = DPERF_T_ADDR, .optional = true, .many = true}},
		 .about = "`flow.src` of a client; a server takes connections from whoever comes"},
	[DPERF_SERVER] = {"server", .repeats = true,
			  .arg = {ARG("ADDRESS", ADDR, 0, 0), ARG("NUMBER", NUMBER, 1, 254)},
			  .about = "`flow.dst` of a client, `flow.src` of a server"},
	[DPERF_LISTEN] =
		{"listen", .arg = {ARG("PORT", NUMBER, 1, 65533), ARG("NUMBER", NUMBER, 1, 65533)},
		 .about = "`flow.dport` of a client, `flow.sport` of a server; 80 without it"},
	[DPERF_CLIENT_PORT_RANGE] = {"client_port_range",
				     .arg = {ARG("FIRST", NUMBER, 1, 65535),
					     OPT("LAST", NUMBER, 1, 65535)},
				     .about = "`flow.sport` of a client; 1 to 65535 without it"},
	[DPERF_LPORT_RANGE] = {"lport_range",
			       .arg = {ARG("FIRST", NUMBER, 1, 65535),
				       OPT("LAST", NUMBER, 1, 65535)},
			       .about = "the older name of `client_port_range`"},
	[DPERF_CLIENT_HOP] =
		{"client_hop",
		 .about = "no `nest`: addresses and ports step from one connection to the next by themselves; of a flood each 65536th tuple"},
	[DPERF_CHANGE_DIP] =
		{"change_dip", .mode = DPERF_OF_CLIENT, .repeats = true,
		 .arg = {ARG("ADDRESS", ADDR, 0, 0), ARG("STEP", NUMBER, 1, 65536),
			 ARG("NUMBER", NUMBER, 1, 65536)},
		 .about = "the destinations of a flood, `ipv4.dst A..B step S`; of several lines a list, or streams that take turns"},
	[DPERF_VLAN] = {"vlan", .arg = {ARG("ID", NUMBER, 1, 4094)},
			.about = "`vlan.vid` and `host.vlan`"},
	[DPERF_VXLAN] = {"vxlan", .repeats = true,
			 .arg = {ARG("VNI", NUMBER, 0, 0xffffff), ARG("SMAC", MAC, 0, 0),
				 ARG("DMAC", MAC, 0, 0), ARG("LOCAL", ADDR, 0, 0),
				 ARG("NUMBER", NUMBER, 1, 254), ARG("REMOTE", ADDR, 0, 0),
				 ARG("NUMBER", NUMBER, 1, 254)},
			 .about = "headers `ipv4/udp/vxlan/eth` outside"},
	[DPERF_KNI] =
		{"kni", .arg = {OPT("NAME", TEXT, 1, 9)},
		 .about = "the port itself is a host and answers ARP and pings; there is no interface"},
	[DPERF_TOS] = {"tos", .arg = {ARG("TOS", HEX, 0, 255)}, .about = "`ipv4.tos`, `ipv6.tc`"},
	[DPERF_JUMBO] = {"jumbo", .arg = {OPT("MTU", NUMBER, 9000, 9710)},
			 .about = "`mtu`, and the option `--mtu`; 9710 without a number"},
	[DPERF_NEIGH_IGNORE] =
		{"neigh_ignore",
		 .about = "no `answer.for`: nobody is told who has the addresses of flows"},
	[DPERF_RSS] =
		{"rss",
		 .arg = {{.name = "WORD", .type = DPERF_T_ANY, .optional = true, .many = true}},
		 .about = "connections go to the queue to which the device sends their answers, always"},
	[DPERF_FLOW_ISOLATE] = {"flow_isolate",
				.about = "what belongs to no connection is counted apart"},
	[DPERF_CPS] = {"cps", .mode = DPERF_OF_CLIENT, .arg = {ARG("NUMBER", COUNT, 1, INT_MOST)},
		       .about = "`cps`, the share of each port; 1000 if there is `cc` alone"},
	[DPERF_CC] = {"cc", .mode = DPERF_OF_CLIENT, .arg = {ARG("NUMBER", COUNT, 1, INT_MOST)},
		      .about = "`connections`, the share of each port; of a flood so many tuples"},
	[DPERF_KEEPALIVE] = {"keepalive",
			     .arg = {ARG("INTERVAL", INTERVAL, 0, INT_MOST * 1000ull),
				     OPT("REQUESTS", COUNT, 0, 32767)},
			     .about = "`think` and `transactions`; of a flood it makes the rate"},
	[DPERF_PIPELINE] =
		{"pipeline", .mode = DPERF_OF_CLIENT, .arg = {ARG("NUMBER", NUMBER, 0, 100)},
		 .about = "`bytes.pipeline`, over UDP with `keepalive 0us`; of a flood so many times its rate"},
	[DPERF_FLOOD] = {"flood",
			 .about = "streams of frames, datagrams or SYNs, that wait for nothing"},
	[DPERF_LAUNCH_NUM] = {"launch_num", .arg = {ARG("NUMBER", NUMBER, 1, INT_MOST)},
			      .about = "connections open one by one, each when it is due"},
	[DPERF_TX_BURST] = {"tx_burst", .arg = {ARG("NUMBER", NUMBER, 1, 1024)},
			    .about = "frames leave when they are due, and at the end of each turn"},
	[DPERF_RETRANSMIT_TIMEOUT] = {"retransmit_timeout", .arg = {ARG("SECONDS", NUMBER, 2, 300)},
				      .about = "`flow.rto`, and 3 for `flow.retries`"},
	[DPERF_FAST_CLOSE] = {"fast_close", .mode = DPERF_OF_CLIENT, .about = "`close rst client`"},
	[DPERF_DISABLE_ACK] = {"disable_ack",
			       .about =
				       "acknowledgements ride on the next request if that is soon"},
	[DPERF_TCP_RST] =
		{"tcp_rst", .arg = {ARG("SWITCH", NUMBER, 0, 1)},
		 .about = "1 is `answer reset`, but for floods and inside VXLAN; 0 leaves it out"},
	[DPERF_PROTOCOL] = {"protocol", .arg = {WORD("PROTOCOL", words_protocol)},
			    .about = "the last header of `frame`, and `app`"},
	[DPERF_PAYLOAD_SIZE] =
		{"payload_size",
		 .arg = {{.name = "BYTES", .type = DPERF_T_COUNT, .max = GIB, .many = true}},
		 .about = "`app bytes` with `request` and `response` below 85, `app http` of that size from there on"},
	[DPERF_PAYLOAD_RANDOM] =
		{"payload_random",
		 .about = "what connections send looks random anyway; of a flood `pattern random`"},
	[DPERF_PAYLOAD_FILE] =
		{"payload_file", .arg = {ARG("PATH", TEXT, 1, 255)},
		 .about = "`request.file`, `response.file` of a server: `app http` if it begins so, else `app bytes`; of a flood `pattern.file`"},
	[DPERF_SEND_WINDOW] = {"send_window", .arg = {ARG("PACKETS", NUMBER, 2, 16)},
			       .about = "the peer's window and `flow.congestion` decide"},
	[DPERF_MSS] = {"mss", .arg = {ARG("BYTES", NUMBER, 1, 9670)}, .about = "`flow.mss`"},
	[DPERF_PACKET_SIZE] =
		{"packet_size",
		 .arg = {{.name = "BYTES", .type = DPERF_T_ANY, .optional = true, .many = true}},
		 .about = "of a flood of UDP without `payload_size` the `size` of its frames; else without effect, as in dperf"},
	[DPERF_HTTP_HOST] = {"http_host", .mode = DPERF_OF_CLIENT,
			     .arg = {ARG("HOST", TEXT, 1, 127)},
			     .about = "`http.host`; `dperf` without it"},
	[DPERF_HTTP_PATH] = {"http_path", .mode = DPERF_OF_CLIENT,
			     .arg = {ARG("PATH", PATH, 1, 255)}, .about = "`http.path`"},
	[DPERF_HTTP_METHOD] = {"http_method", .mode = DPERF_OF_CLIENT,
			       .arg = {WORD("METHOD", words_method)}, .about = "`http.method`"},
};

static void add_limits(const struct dperf_arg *a, const char *what, const char *unit,
		       uint64_t divisor, struct sbuf *out)
{
	sbuf_addf(out, "%s from %llu to %llu%s", what, (unsigned long long)(a->min / divisor),
		  (unsigned long long)(a->max / divisor), unit);
}

void dperf_allowed(const struct dperf_arg *a, struct sbuf *out)
{
	switch (a->type) {
	case DPERF_T_NUMBER:
		add_limits(a, "a number", "", 1, out);
		break;
	case DPERF_T_HEX:
		add_limits(a, "a number", ", or hexadecimal digits behind 0x", 1, out);
		break;
	case DPERF_T_COUNT:
		add_limits(a, "a number such as 100, 2k or 1.5m", "", 1, out);
		break;
	case DPERF_T_TIME:
		sbuf_add(out, "a time such as 100, 100s, 3.5m, 2h or 1.5d, from 1 second on");
		break;
	case DPERF_T_INTERVAL:
		sbuf_add(out,
			 "0us, 1us, 2us, 4us, 6us, 8us, tens of us up to 990us, whole ms, whole s");
		break;
	case DPERF_T_WORD:
		for (unsigned i = 0; a->words[i] != NULL; i++)
			sbuf_addf(out, "%s%s", i > 0 ? ", " : "", a->words[i]);
		break;
	case DPERF_T_ADDR:
		sbuf_add(out, "an address of IPv4 or IPv6");
		break;
	case DPERF_T_MAC:
		sbuf_add(out, "a MAC address such as 02:00:00:00:00:01");
		break;
	case DPERF_T_DEVICE:
		sbuf_add(out, "a PCI address such as 0000:3b:00.0, a virtual device of 12 "
			      "characters such as net_memif000, or a bond of up to four, "
			      "bond4:2(0000:3b:00.0,0000:3b:00.1)");
		break;
	case DPERF_T_CPUS:
		add_limits(a, "numbers, or ranges such as 2-5,", "", 1, out);
		break;
	case DPERF_T_SIZES:
		sbuf_add(out, "numbers with commas between them, such as 0,4096");
		break;
	case DPERF_T_TEXT:
		add_limits(a, "a text of", " characters", 1, out);
		break;
	case DPERF_T_PATH:
		add_limits(a, "a text that begins with /, of", " characters", 1, out);
		break;
	case DPERF_T_ANY:
	case DPERF_T_NONE:
		sbuf_add(out, "anything");
		break;
	}
}

void dperf_manual(struct sbuf *out)
{
	static const char *const modes[] = {"", " (client)", " (server)"};

	sbuf_add(out, "| directive | arguments | here |\n|---|---|---|\n");
	for (unsigned i = 0; i < DPERF_IDS; i++) {
		const struct dperf_directive *d = &dperf_directives[i];

		sbuf_addf(out, "| `%s`%s |", d->name, modes[d->mode]);
		for (unsigned k = 0; k < DPERF_ARGS && d->arg[k].name != NULL; k++) {
			const struct dperf_arg *a = &d->arg[k];
			sbuf_addf(out, " %s%s%s%s", a->optional ? "[" : "", a->name,
				  a->many ? " ..." : "", a->optional ? "]" : "");
		}
		sbuf_addf(out, " | %s |\n", d->about);
	}
}
