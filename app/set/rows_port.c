/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port. Their values are in struct port_cfg. */
#include "rows.h"

#define MTU_MIN 68 /* RFC 791 3.2: what every module must be able to forward */
#define MTU_MAX (FRAME_MAX_LEN - 14)

static const char *const idle_words[] = {"auto", "busy", NULL};

static void idle_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)row;
	((struct port_cfg *)obj->cfg)->idle_busy = *(const int *)val == 1;
}

static bool idle_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	bool busy = ((const struct port_cfg *)obj->cfg)->idle_busy;

	(void)row;
	*(int *)val = busy;
	return busy;
}

static void idle_unset(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	((struct port_cfg *)obj->cfg)->idle_busy = false;
}

static const struct setting_store idle_store = {idle_put, idle_get, idle_unset};

static const char *const offload_words[] = {"auto", "off", NULL};

static void offload_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)row;
	((struct port_cfg *)obj->cfg)->no_offload = *(const int *)val == 1;
}

static bool offload_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	bool off = ((const struct port_cfg *)obj->cfg)->no_offload;

	(void)row;
	*(int *)val = off;
	return off;
}

static void offload_unset(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	((struct port_cfg *)obj->cfg)->no_offload = false;
}

static const struct setting_store offload_store = {offload_put, offload_get, offload_unset};

static const char *const timestamp_words[] = {"auto", "nic", "software", NULL};
static const char *const pacing_words[] = {"software", "queue", "timestamp", NULL};

#define AT(member) offsetof(struct port_cfg, member)

const struct setting set_port_rows[] = {
	{.name = "rate",
	 .scope = &scope_port,
	 .v = {&vt_rate},
	 .dflt = PORT_DFLT_RATE,
	 .offset = AT(rate),
	 .echo = set_echo_load,
	 .check = set_check_arrival,
	 .why = WHY_RATE,
	 .help = "offered load of the port, over all its Tx queues: percent of the link speed, frames or bits per second, or max"},
	{.name = "count",
	 .scope = &scope_port,
	 .v = {&vt_uint},
	 .dflt = "0",
	 .unit = "frames",
	 .offset = AT(count),
	 .check = set_check_per_start,
	 .why = WHY_PORT,
	 .help = "frames to send per start, over all Tx queues; 0 sends until stop"},
	{.name = "burst",
	 .alias = "txburst",
	 .scope = &scope_port,
	 .v = {&vt_uint, 1, 512},
	 .dflt = PORT_DFLT_BURST,
	 .unit = "frames",
	 .offset = AT(burst),
	 .why = WHY_RATE,
	 .help = "most frames that are handed to the device at once"},
	{.name = "rxburst",
	 .scope = &scope_port,
	 .v = {&vt_uint, 1, 512},
	 .dflt = PORT_DFLT_RXBURST,
	 .unit = "frames",
	 .offset = AT(rxburst),
	 .why = WHY_PORT,
	 .help = "most frames that are taken from the device at once"},
	{.name = "speed",
	 .scope = &scope_port,
	 .v = {&vt_speed},
	 .dflt = "auto",
	 .unit = "bit/s",
	 .offset = AT(speed_bps),
	 .echo = set_echo_load,
	 .why = WHY_RATE | WHY_WORK,
	 .help = "link speed that percent rates refer to; auto is what the device says, 10G on wire, null and pcap"},
	{.name = "arrival",
	 .scope = &scope_port,
	 .v = {&vt_arrival},
	 .dflt = "constant",
	 .offset = AT(arrival),
	 .check = set_check_arrival,
	 .echo = set_echo_pacing,
	 .why = WHY_RATE,
	 .help = "when frames leave at that rate: evenly, at random, in bursts at wire speed, with jitter, or on and off"},
	{.name = "catchup",
	 .scope = &scope_port,
	 .v = {&vt_catchup},
	 .dflt = PORT_DFLT_CATCHUP,
	 .offset = AT(catchup),
	 .echo = set_echo_pacing,
	 .why = WHY_RATE,
	 .help = "what becomes of frames that are later than `lag`: they are sent at most so much faster than asked until none is late, all are\n"
		 "sent at full speed, or they are given up and counted as unsent. A run `for` a time ends at its end: what is not sent by then\n"
		 "and 100 ms later is unsent, whatever stands here"},
	{.name = "lag",
	 .scope = &scope_port,
	 .v = {&vt_duration, 0, 3600000000000},
	 .dflt = PORT_DFLT_LAG,
	 .offset = AT(lag_ns),
	 .echo = set_echo_pacing,
	 .why = WHY_RATE,
	 .help = "how late frames may be before `catchup` skip or overspeed does something about them"},
	{.name = "pacing",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = pacing_words},
	 .dflt = "software",
	 .offset = AT(pacing),
	 .check = set_check_pacing,
	 .echo = set_echo_pacing,
	 .why = WHY_RATE,
	 .help = "who holds frames back until they are due: our workers, below them rate limits of the device's queues, or the device by time\n"
		 "stamps in frames that it gets `lead` before, from its next start on;\n"
		 "`show ports` says what the device does of it"},
	{.name = "lead",
	 .scope = &scope_port,
	 .v = {&vt_duration, 1000, 10000000},
	 .dflt = PORT_DFLT_LEAD,
	 .offset = AT(lead_ns),
	 .why = WHY_RATE,
	 .help = "with `pacing timestamp`, how long before they are due frames are handed to the device"},
	{.name = "timestamps",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = timestamp_words},
	 .dflt = "auto",
	 .offset = AT(timestamps),
	 .check = set_check_timestamps,
	 .help = "who says when frames with probes arrived: auto and nic take the device's receive time stamps where it gives them and its clock\n"
		 "can be read (nic warns where not), software reads our clock for each burst and does not ask for stamps, with which some drivers\n"
		 "receive slower; `show ports` and `show latency` say what is used and how exact it is"},
	{.name = "mtu",
	 .scope = &scope_port,
	 .v = {&vt_uint, MTU_MIN, MTU_MAX},
	 .dflt = PORT_DFLT_MTU,
	 .unit = "bytes",
	 .offset = AT(mtu),
	 .flags = SET_RESTART,
	 .check = set_check_port,
	 .help = "largest frame without Ethernet header and FCS"},
	{.name = "txd",
	 .alias = "tx descriptors",
	 .scope = &scope_port,
	 .v = {&vt_uint, 32, 32768},
	 .dflt = PORT_DFLT_TXD,
	 .unit = "descriptors",
	 .offset = AT(txd),
	 .flags = SET_RESTART,
	 .help = "size of each Tx ring"},
	{.name = "rxd",
	 .alias = "rx descriptors",
	 .scope = &scope_port,
	 .v = {&vt_uint, 32, 32768},
	 .dflt = PORT_DFLT_RXD,
	 .unit = "descriptors",
	 .offset = AT(rxd),
	 .flags = SET_RESTART,
	 .help = "size of each Rx ring"},
	{.name = "mbufs",
	 .scope = &scope_port,
	 .v = {&vt_uint, 0, 1 << 24},
	 .dflt = "0",
	 .unit = "buffers",
	 .offset = AT(mbufs),
	 .flags = SET_RESTART,
	 .help = "buffers in each pool; 0 follows descriptors and bursts"},
	{.name = "promiscuous",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = AT(promiscuous),
	 .why = WHY_PORT,
	 .help = "receive frames for any destination address"},
	{.name = "idle",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = idle_words},
	 .dflt = "auto",
	 .store = &idle_store,
	 .why = WHY_PORT,
	 .help = "what workers do without traffic: auto sleeps after 50 ms, busy never sleeps"},
	{.name = "offload",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = offload_words},
	 .dflt = "auto",
	 .store = &offload_store,
	 .why = WHY_FRAMES,
	 .help = "checksums of plain IP, TCP and UDP: auto leaves them to the device where it offers that, off makes them in software"},
	{.name = "dperf.held",
	 .scope = &scope_port,
	 .v = {&vt_uint},
	 .dflt = "0",
	 .unit = "connections",
	 .offset = AT(dperf_held),
	 .why = WHY_PORT,
	 .help = "how many connections the streams' frames are of for page dperf, which stay open; 0: each frame opens and closes one"},
	{0},
};
