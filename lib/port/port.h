/* SPDX-License-Identifier: BSD-3-Clause */
/* A port as a device: what its -p named, its settings in force, its queues and pools, its link and
 * its clock. lib/port opens, configures and closes it, and starts EAL before. It knows neither
 * streams nor plans nor workers. Uses DPDK, control thread only, but for what workers get by
 * pointers: the shares and queues (txq.h, dp.h) and the clocks of stamps.
 *
 * Whoever owns a struct port calls the functions below and writes none of its members. */
#pragma once
#include "cfg.h"
#include "clock_dev.h"
#include "dp.h"
#include "dp_clock.h"
#include "dpdk.h"
#include "rss.h"
#include "snap.h"

#define PORT_MAX_QUEUES 256
#define PORT_MAX_SHARES 12
#define PORT_MAX_GROUPS 40

/* What a port needs, as far as it must be known before EAL starts, since memory without hugepages
 * never grows afterwards. parse() fills it in; the caller has set it to defaults. */
struct port_need {
	unsigned nports; /* ports that this spec makes: 2 for wire, else 1 */
	/* The most queues of each side; PORT_MAX_QUEUES where only the device knows. */
	unsigned max_rxq, max_txq;
	/* EAL must scan the PCI bus. open() probes the device, not EAL. */
	bool pci;
	bool root;    /* needs CAP_NET_ADMIN or CAP_NET_RAW */
	bool rx_pool; /* receives into a pool of ours (not wire, not null) */
	/* The driver wants as many Rx as Tx queues: max(nrxq, ntxq) of both are configured and set
	 * up, and each Rx queue has a pool of its own. */
	bool paired;
	unsigned min_rxd, min_txd; /* least descriptors that the driver must be given */
	unsigned extra_mbufs;      /* buffers of an Rx queue that the driver keeps (AF_XDP: umem) */
	/* Bytes behind the headroom of an Rx buffer: what the driver asks for (0: nothing), and the
	 * most that it can use (0: no limit. AF_XDP: a buffer must fit into a page). */
	unsigned min_data_room;
	unsigned max_data_room;
	/* The driver copies or drops what it sends: none of our Tx buffers stays with it. */
	bool tx_frees_at_once;
	int node; /* NUMA node; -1: not known */
};

/* Which clock the time stamps of frames are by.
 * DEVICE: the device has one of its own.
 * SYSTEM: the system's clock, which the driver reads for us.
 * SYSTEM_US: the system's clock in us, which we read ourselves. */
enum stamp_clock { STAMPS_NONE, STAMPS_DEVICE, STAMPS_SYSTEM, STAMPS_SYSTEM_US };
#define STAMPS_MISSES 8
/* The time stamps of a port's frames, and the device's clock that they are by. */
struct port_stamps {
	uint64_t rx_capa, tx_capa; /* offloads that the device offers */
	enum stamp_clock clock;
	bool rx_offered;    /* the device can stamp the frames that it receives */
	bool rx_on, tx_on;  /* the device was set up with stamps */
	const char *why;    /* why stamps are not used, static; NULL: other members say it */
	int rc;             /* of the last reading of the clock, or of the set-up */
	bool lost;          /* the clock could not be read, and is not known again yet */
	uint64_t retry_tsc; /* rc < 0: when the clock is read again */
	struct clock_dev cal;
	/* The device's own counters of frames not sent at their times; base: at `clear`. */
	unsigned nmisses;
	struct {
		uint64_t id, base;
		char name[64];
	} miss[STAMPS_MISSES];
	struct dp_clock rx, tx; /* for workers */
};

/* The shares of a Tx queue, one of each task that sends there; see tx_share.c. The first one
 * belongs to the task that sends streams, and is always there. */
struct port_txq {
	unsigned n;
	struct dp_txq *share[PORT_MAX_SHARES];
};

/* Takes what is to be told to people: a line about a port. */
typedef void port_note_fn(void *arg, unsigned port, const char *text);

struct port_spec;

struct port {
	unsigned id;    /* the number of the port, 0, 1, ... */
	unsigned first; /* the number of the first port that the same -p made */
	char name[64];
	const char *spec_text; /* the -p text, whole */
	const struct port_spec *spec;
	void *priv; /* the spec's own state, freed by its close() or closed() */
	struct port_need need;
	/* The settings, which belong to the port's owner and may change at any time, and those that
	 * the device runs with: mtu, txd, rxd, mbufs, promiscuous, timestamps, pacing. */
	const struct port_cfg *cfg;
	struct port_cfg applied;
	/* used: a map gives it queues. opened: its device is there. started: its device runs. */
	bool used, opened, started;

	uint16_t dev; /* DPDK port id */
	struct rte_ether_addr mac;
	int node;              /* NUMA node; -1: not known */
	char pci[24];          /* PCI address with domain; "": none */
	uint16_t dev_mtu;      /* kernel ports: the MTU that the interface has now; else 0 */
	unsigned rxd, txd;     /* descriptors in use */
	uint64_t memory_bytes; /* of its pools */
	uint64_t tx_offloads;  /* that the device was set up with */
	/* RTE_ETH_TX_OFFLOAD_*: what the spec's own Tx functions (port_io_tx()) complete where a
	 * work leaves it to them, as virtio_hdr.h says. Frames of streams never do. */
	uint64_t io_offloads;
	char rss[96], fc[64], offloads[256]; /* as `show ports` says them */

	uint16_t nrxq, ntxq; /* queues in use */
	unsigned nqueues;    /* max(nrxq, ntxq) */
	/* Queues that the device was configured with: a paired driver gets as many of both. */
	uint16_t dev_nrxq, dev_ntxq;
	struct rte_mempool **rx_pool; /* [dev_nrxq] */
	struct port_txq *tx;          /* [ntxq] */
	struct dp_rxq **rxq;          /* [nrxq] */

	enum snap_link link;
	uint64_t link_mbps;
	uint64_t link_seq; /* counts the changes of link and link_mbps that were seen */
	/* Kernel ports: how often the link has gone up or down, also between two looks at it. */
	uint64_t carrier_changes;
	bool link_down; /* the device under test of a wire keeps its link down */

	bool promiscuous; /* last asked of the device */
	/* Groups that the device is to receive. */
	unsigned ngroups;
	uint8_t group[PORT_MAX_GROUPS][6];
	bool all_groups; /* we made the device receive every group, because it cannot choose */
	/* Last asked of the device: PACING_*, the limit of each queue (0: none); its answer. */
	struct {
		int kind;
		uint64_t mbps;
		int rc;
	} pacing;
	struct port_stamps stamps;
	struct port_rss *rss_state; /* NULL: it was never started */

	port_note_fn *note; /* NULL: nobody listens */
	void *note_arg;
};

/* ---- EAL ---- */

/* What EAL is started with. */
struct eal_ask {
	const char *prog;
	const char *less, *log; /* see struct ctl_opts */
	char *const *arg;       /* the user's EAL options */
	unsigned nargs;
	bool small_pages; /* see struct ctl_opts */
	struct port *const *port;
	unsigned nports;
	/* Queues of each port, [0] Rx and [1] Tx, before devices are known. */
	const uint16_t (*nq)[2];
};
/* Checks that there are enough descriptors and threads for EAL and the ports. queues: of all ports
 * together. pages: hugepages that EAL will use. 0, or -ENODEV with *e. */
int eal_room(const struct eal_ask *ask, unsigned queues, uint64_t pages, struct err *e);
/* Starts EAL, once in a process. The specs are parsed already, since the ports' `need` decides how
 * much memory is asked for; *memory becomes the bytes that the ports need, as it was computed.
 * -EAGAIN: not on the hugepages that were free. */
int eal_start(const struct eal_ask *ask, uint64_t *memory, struct err *e);
/* Whether EAL was to use hugepages, and none is left before the ports have their buffers: somebody
 * else has taken them. */
bool eal_pages_lost(void);
/* The ports have their buffers: another instance of the program may count hugepages now. */
void eal_memory_taken(void);
void eal_stop(void);
/* Whether DPDK is inside the program, and not in shared libraries. */
bool linked_static(void);
/* Writes to the log what EAL and drivers have said since the last call. */
void eal_log_drain(void);
/* The memory that Linux says is available; UINT64_MAX: it does not say. */
uint64_t eal_available_bytes(void);
/* Bytes of a buffer for frames up to this mtu, headroom included. */
unsigned eal_data_room(uint64_t mtu);
/* Zeroed memory for a state or for a queue's object, on this NUMA node if there is room there, else
 * anywhere (node -1: anywhere). NULL: there is no memory. Free it with rte_free(). */
void *state_new(size_t size, int node);

/* ---- opening and closing ---- */

/* Finds the kind of port that a -p text names, checks the text, and fills in what its ports need.
 * take: --take. -EINVAL for a mistake in the text, -ENODEV where the environment lacks something;
 * then e says why. */
int port_parse(const char *text, bool take, const struct port_spec **spec, struct port_need *need,
	       struct err *e);
/* Has the text of a -p named the NIC with this PCI address? The value of an EAL option -a may be
 * given as it is; other names than PCI addresses are nobody's. */
bool port_pci_named(const char *name);
/* The same for one of the devices that the user has named with EAL's own options: the one with this
 * number, without those that a -p has named. *text becomes what stands in the place of a -p, "eal:N". */
void port_parse_eal(unsigned number, char *text, size_t size, const struct port_spec **spec,
		    struct port_need *need);
/* Gives a zeroed port the settings of its owner, which must live as long as the port. */
void port_init(struct port *p, const struct port_cfg *cfg);
/* Fills in what a -p says of a port before it is opened. text is copied. */
void port_from_spec(struct port *p, unsigned id, unsigned first, const char *text,
		    const struct port_spec *spec, const struct port_need *need);
/* From now on, what is to be told to people goes there. */
void port_listen(struct port *p, port_note_fn *note, void *arg);
/* Says how many queues the port is to have, before it is opened. 0 and 0: it is not used. */
void port_use(struct port *p, uint16_t nrxq, uint16_t ntxq);
/* Opens the devices of all n ports of one -p, if any of them is used. */
int port_open(struct port *const *p, unsigned n, struct err *e);
/* The object of an Rx queue, and the first share of a Tx queue, made when the port is opened on the
 * NUMA node of the worker. -ENODEV: there is no memory. */
int port_rxq_new(struct port *p, unsigned queue, int node, struct err *e);
int port_txq_new(struct port *p, unsigned queue, int node, struct err *e);
/* A further share of a Tx queue for one task; it stays as long as the port. foreign: the task sends
 * buffers of other pools, too. NULL: there is no memory. */
struct dp_txq *tx_share(struct port *p, unsigned queue, int node, bool foreign);
/* The share of a Tx queue that sends streams. */
static inline struct dp_txq *port_txq(const struct port *p, unsigned queue)
{
	return p->tx[queue].share[0];
}
/* DPDK wants a pool for each Rx queue. This makes the one that is named for devices which receive
 * into no pool of ours. Returns 0 or -ENODEV with *e. */
int port_dummy_pool(struct err *e);
/* Makes the pools, configures the device with its queues, and starts it. */
int port_setup(struct port *p, struct err *e);
/* Sets the device up anew with the settings of now; no worker may use it meanwhile. After a failure
 * it runs with its former values, if it still starts with them. */
int port_restart(struct port *p, struct err *e);
/* Whether the device runs with other values than the settings ask for. */
bool port_restart_pending(const struct port *p);
void port_close(struct port *p);
/* Instead of closing, where a worker may still use the device: removes what we attached to the
 * kernel, which would outlive the process. */
void port_detach(struct port *p);
void port_free(struct port *p);

/* ---- what the device does and says ---- */

/* Reads the link from the device, and counts a change in link_seq. true: link or link_mbps have
 * changed. */
bool port_link(struct port *p);
/* A descriptor that turns readable when the interface of a kernel port has changed (link,
 * deletion); then port_link() of all ports is to be called. -1: there is none. */
int port_event_fd(void);
/* A device under test lets the link of a wire's port fall, or come back. */
void port_set_link_down(struct port *p, bool down);
/* Bits/s that percent is of: the setting, else what the device says, else 10 Gbit/s. */
uint64_t port_speed(const struct port *p);
uint64_t port_speed_mbps(const struct port *p); /* as it is shown: rounded */
/* Whether that is the speed of a link that the device has; else it is only what percent is of. */
bool port_speed_told(const struct port *p);
/* The mtu in force. */
uint64_t port_mtu(const struct port *p);
/* Turns the device's promiscuous mode on or off if the setting has changed, also while it sends. */
void port_promiscuous(struct port *p);
/* The device is to receive what is sent to these groups (n MAC addresses, at most PORT_MAX_GROUPS),
 * and no longer what was asked for before. A device that cannot choose receives all groups. */
void port_groups(struct port *p, const uint8_t (*mac)[6], unsigned n);
/* Adds the device's own numbers since open to *out, whose sums of cells are filled in already. */
void port_stats(struct port *p, struct snap_port *out);
/* Whether addresses in its frames do not matter, or nobody knows whose they are. */
bool port_unaddressed(const struct port *p);
/* Whether nobody is at its other end who could be answered. */
bool port_deaf(const struct port *p);
/* Whether the kernel uses the port's interface beside us and has this address there (IPv4 is
 * written as ::ffff:a.b.c.d), or forwards what comes there and is for others. */
bool port_kernel_has(const struct port *p, const uint8_t ip[16]);
bool port_kernel_forwards(const struct port *p, bool six);
bool port_no_restart(const struct port *p); /* its device cannot be set up twice */
/* Whoever receives from the port needs no complete checksums of TCP and UDP (sums), and takes
 * several segments as one frame (super): a port of a kernel that spares work by that does so from
 * now on, and tells it in ol_flags: RTE_MBUF_F_RX_L4_CKSUM_NONE, RTE_MBUF_F_RX_LRO. */
void port_undone(struct port *p, bool sums, bool super);
void port_notes(struct port *p, json_t *array); /* adds sentences for `show ports` */
/* The name of what drives an open port; NULL: nobody says. */
const char *port_driver(const struct port *p);
/* Adds what else the device counts, by its own names, since it was opened. A number that is known
 * to be wrong is null. */
void port_xstats(struct port *p, json_t *o);
/* Of two ports of this process that are connected, the other one. NULL: the port is none of them,
 * or the other one is closed. */
struct port *port_peer(const struct port *p);
bool port_may_peer(const struct port *p); /* it is a port of the kind that port_peer() is for */
/* The rings that such a port receives from, one for each Rx queue, and their number. The caller may
 * be their only reader while no worker polls the port's device. */
unsigned port_rings(const struct port *p, struct rte_ring **ring);

/* ---- stamps.c: the time stamps of frames, and the clocks of devices ---- */

/* Whether settings ask for other stamps than the device was set up with. */
bool stamps_pending(const struct port *p);
/* Reads the clock if its next reading is due, and tells the workers. */
void stamps_turn(struct port *p);
/* The time in ns until the next reading is due; UINT64_MAX: never. */
uint64_t stamps_next_ns(const struct port *p);
/* Before a start: waits until all clocks that are to be used are known, but only for some ms. */
void stamps_ready(struct port *const *ports, unsigned n);
void stamps_clear(struct port *p);
/* The clock by which arrivals are timed; NULL: the device's stamps are not used. */
const struct dp_clock *stamps_rx(const struct port *p);
/* The clock by which the device sends; NULL: it was not set up to send at time stamps. */
const struct dp_clock *stamps_tx(const struct port *p);
/* 0: arrivals are timed as the setting says. -ENOTSUP: the setting says nic, and e says why our
 * clock times them all the same. */
int stamps_rx_state(const struct port *p, struct err *e);
double stamps_error_ns(const struct port *p); /* of a stamp's time; INFINITY: not known */
/* Adds a text: who times arrivals, and why the device does not. */
void stamps_text(const struct port *p, struct sbuf *out);
/* An entry of "devices" of ctl_clock_json(). NULL: the clock is not in use. */
json_t *stamps_clock_json(const struct port *p);

/* ---- rss_port.c: which queue a received frame comes to ---- */

/* Asks the device to work by these settings at once. If it cannot, it goes on as before, and e says
 * why. Settings that are not written down until rss_follow() is called are taken back by it. */
int rss_try(struct port *p, const struct rss_cfg *want, struct err *e);
/* Asks the device for what is set, if that differs from what was asked last. */
void rss_follow(struct port *p);
/* What the device works by, as it says now. -ENOTSUP or -ENODEV: it does not tell, and e says why
 * without the name of the port. */
int rss_now(const struct port *p, struct rss_setup *out, struct err *e);
/* Of the frames that the Rx queue has counted since it was opened, how many came at most before the
 * device was told to work by what it works by now. */
uint64_t rss_before(const struct port *p, unsigned queue);
/* How often the port's RSS settings have been set, to what they were included. */
unsigned rss_times_set(const struct port *p);
/* Appends "ip tcp udp", the headers that are hashed, or `none`. */
void rss_words_text(uint64_t hf, const char *none, struct sbuf *out);

/* ---- pacing.c: pacing by the device ---- */

/* Asks the device for what the settings want, if that differs from what was asked last. mbps: the
 * limit of each queue in Mbit/s where the setting is `queue`; 0: there is to be no limit. */
void pacing_ask(struct port *p, uint64_t mbps);
/* The same, with a note if the device begins to refuse. */
void pacing_follow(struct port *p, uint64_t mbps);
/* Adds a text: who paces the port, and why nobody else does. */
void pacing_text(const struct port *p, struct sbuf *out);
