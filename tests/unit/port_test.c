/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests port specs without rights and without a NIC: what is refused before EAL starts and with
 * which words, how a wire connects its queues, and that a capture file comes back as it was
 * written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor.h"
#include "port_int.h"

static const struct port_spec *spec_of(const char *text, const char **arg)
{
	struct err e;
	const struct port_spec *s = port_spec_find(text, arg, &e);

	assert_non_null(s);
	return s;
}

static int parse(const char *text, struct port_need *need, struct err *e)
{
	const char *arg;
	const struct port_spec *s = spec_of(text, &arg);

	*need = (struct port_need){.node = -1};
	*e = (struct err){0};
	return s->parse(arg, false, need, e);
}

static void refused(const char *text, int code, const char *word)
{
	struct port_need need;
	struct err e;
	int rc = parse(text, &need, &e);

	if (rc != -code || strstr(e.text, word) == NULL || strstr(e.text, text) == NULL)
		fail_msg("'%s': %d, '%s'; wanted %d and '%s' and the spec itself", text, rc, e.text,
			 -code, word);
}

/* The doctor is asked with port specs, and knows which kinds name a device. */
static void test_doctor_knows_kinds(void **state)
{
	static const char *const args[] = {"x", "00:00.0"};
	const struct doctor_self self = {
		.kernel = "", .arch = "", .program = "", .dpdk = "", .path = "", .writer = ""};
	char text[64];

	(void)state;
	for (size_t i = 0; port_specs[i] != NULL; i++) {
		bool known = false;
		for (size_t k = 0; k < ARRAY_SIZE(args); k++) {
			const char *device = text;
			const struct doctor_ask ask = {.root = "/nosuch",
						       .device = &device,
						       .ndevices = 1,
						       .self = &self};
			struct doctor_report report;
			struct err e;
			snprintf(text, sizeof(text), "%s:%s", port_specs[i]->prefix, args[k]);
			known |= doctor_examine(&ask, &report, &e) == 0;
			doctor_free(&report);
		}
		if (!known)
			fail_msg("the doctor does not know ports %s:", port_specs[i]->prefix);
	}
}

static void test_registry(void **state)
{
	const char *arg;
	struct err e;

	(void)state;
	for (size_t i = 0; port_specs[i] != NULL; i++) {
		assert_ptr_equal(spec_of(port_specs[i]->prefix, &arg), port_specs[i]);
		assert_string_equal(arg, "");
		assert_non_null(port_specs[i]->help);
		assert_non_null(port_specs[i]->syntax);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(port_specs[i]->prefix, port_specs[j]->prefix);
	}
	assert_string_equal(spec_of("pcap:rx=a:b", &arg)->prefix, "pcap");
	assert_string_equal(arg, "rx=a:b");
	assert_null(port_spec_find("wires", &arg, &e));
	assert_non_null(strstr(e.text, "did you mean 'wire'"));
	assert_null(port_spec_find("", &arg, &e));
	assert_null(port_spec_find("eth0", &arg, &e));
	assert_non_null(strstr(e.text, "if:NAME"));
}

static void test_refused(void **state)
{
	(void)state;
	refused("wire:2", EINVAL, "takes no argument");
	refused("null:x", EINVAL, "vdev:net_null0");
	refused("vdev:", EINVAL, "vdev:net_NAME0");
	refused("vdev:,a=b", EINVAL, "vdev:net_NAME0");
	refused("pcap:", EINVAL, "no file given");
	refused("pcap:file", EINVAL, "pcap:rx=FILE");
	refused("pcap:rx=", EINVAL, "pcap:rx=FILE");
	refused("pcap:rx=/no-such-folder/a.pcap", ENODEV, "No such file");
	refused("pcap:rx=/dev/null", ENODEV, "it is a device");
	refused("pcap:tx=/no-such-folder/a.pcap", ENODEV, "'/no-such-folder'");
	refused("pcap:tx=/", ENODEV, "folder");
	refused("pcap:tx=/dev/null,tx=/dev/null", EINVAL, "twice");
	refused("pci:", EINVAL, "PCI address");
	refused("pci:1:2", EINVAL, "PCI address");
	refused("pci:00:00.0x", EINVAL, "PCI address");
	refused("pci:00:40.0", EINVAL, "PCI address");
	refused("pci:fe:1f.7", ENODEV, "0000:fe:1f.7");
	refused("memif:", EINVAL, "role");
	refused("memif:id=1", EINVAL, "role");
	refused("memif:role=boss", EINVAL, "server or client");
	refused("memif:server", EINVAL, "role=server");
	refused("packet:", EINVAL, "ip -br link");
	refused("packet:a,b", EINVAL, "comma");
	refused("xdp:sixteen_letters_", EINVAL, "at most 15");
	refused("if:nosuchif0", ENODEV, "there is no interface 'nosuchif0'");
	refused("xdp:l0", ENODEV, "did you mean 'lo'");
	refused("tap:", EINVAL, "tap:wr0");
	refused("tap:a/b", EINVAL, "slash");
}

static void test_needs(void **state)
{
	struct port_need need;
	struct err e;

	(void)state;
	assert_int_equal(parse("wire", &need, &e), 0);
	assert_int_equal(need.nports, 2);
	assert_int_equal(need.max_rxq, 16);
	assert_false(need.root || need.rx_pool || need.pci);
	assert_int_equal(parse("null", &need, &e), 0);
	assert_int_equal(need.nports, 1);
	assert_int_equal(parse("pcap:tx=/tmp/wr-port-test.pcap", &need, &e), 0);
	assert_int_equal(need.max_rxq, 0);
	assert_int_equal(need.max_txq, 1);
	/* To look for the file must not make it. */
	assert_int_not_equal(access("/tmp/wr-port-test.pcap", F_OK), 0);
	assert_int_equal(parse("vdev:net_null0,size=64", &need, &e), 0);
	assert_true(need.rx_pool);
}

static struct rte_mempool *pool;

static void setup(struct port *p)
{
	struct rte_eth_conf conf = {0};

	assert_int_equal(rte_eth_dev_configure(p->dev, p->nrxq, p->ntxq, &conf), 0);
	for (uint16_t q = 0; q < p->nrxq; q++)
		assert_int_equal(rte_eth_rx_queue_setup(p->dev, q, 64, 0, NULL, pool), 0);
	for (uint16_t q = 0; q < p->ntxq; q++)
		assert_int_equal(rte_eth_tx_queue_setup(p->dev, q, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(p->dev), 0);
	if (p->spec->started != NULL)
		p->spec->started(p);
}

static void open_ports(const char *text, struct port *p, unsigned n, const unsigned (*queues)[2])
{
	struct port *list[2] = {&p[0], n > 1 ? &p[1] : NULL};
	struct err e = {0};
	const char *arg;

	memset(p, 0, n * sizeof(*p));
	for (unsigned i = 0; i < n; i++) {
		p[i].id = 4 + i;
		p[i].spec = spec_of(text, &arg);
		p[i].nrxq = (uint16_t)queues[i][0];
		p[i].ntxq = (uint16_t)queues[i][1];
		p[i].node = -1;
		p[i].rxd = p[i].txd = 64;
		p[i].spec_text = text;
	}
	if (p[0].spec->open(arg, list, n, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	for (unsigned i = 0; i < n; i++)
		setup(&p[i]);
}

static void close_ports(struct port *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		if (p[i].spec->close != NULL)
			p[i].spec->close(&p[i]);
		assert_int_equal(rte_eth_dev_get_name_by_port(p[i].dev, name), 0);
		assert_int_equal(rte_eth_dev_stop(p[i].dev), 0);
		assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
		if (p[i].spec->closed != NULL)
			p[i].spec->closed(&p[i]);
	}
}

static struct rte_mbuf *frame(uint32_t mark)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	uint8_t *d = (uint8_t *)rte_pktmbuf_append(m, 60);
	memset(d, 0xab, 60);
	memcpy(d + 20, &mark, sizeof(mark));
	return m;
}

static uint32_t mark_of(const struct rte_mbuf *m)
{
	uint32_t mark;

	memcpy(&mark, rte_pktmbuf_mtod_offset(m, const uint8_t *, 20), sizeof(mark));
	return mark;
}

static unsigned wire_number(const struct port *p)
{
	unsigned n;

	assert_int_equal(sscanf(p->name, "wire%u", &n), 1);
	return n;
}

/* Checks that what Tx queue i of one end sends arrives in Rx queue i mod n of the other end, in
 * order. */
static void wire_case(unsigned rx0, unsigned tx0, unsigned rx1, unsigned tx1)
{
	const unsigned queues[2][2] = {{rx0, tx0}, {rx1, tx1}};
	struct port p[2];
	struct rte_mbuf *m[64];
	unsigned before = rte_mempool_avail_count(pool);

	open_ports("wire", p, 2, queues);
	assert_int_equal(wire_number(&p[1]), wire_number(&p[0]) + 1);
	assert_memory_equal(p[1].mac.addr_bytes, "\x02\x77\x72\x00\x00\x05", 6);
	for (unsigned from = 0; from < 2; from++) {
		struct port *a = &p[from], *b = &p[!from];
		for (uint16_t q = 0; q < a->ntxq && b->nrxq > 0; q++) {
			for (uint32_t k = 0; k < 3; k++) {
				m[0] = frame(q * 100u + k);
				assert_int_equal(rte_eth_tx_burst(a->dev, q, m, 1), 1);
			}
		}
		unsigned total = 0;
		for (uint16_t q = 0; q < b->nrxq; q++) {
			uint16_t n = rte_eth_rx_burst(b->dev, q, m, 64);
			for (uint16_t i = 0; i < n; i++) {
				assert_int_equal(mark_of(m[i]) / 100 % b->nrxq, q);
				assert_int_equal(mark_of(m[i]) % 100, i % 3);
			}
			rte_pktmbuf_free_bulk(m, n);
			total += n;
		}
		assert_int_equal(total, b->nrxq > 0 ? 3 * a->ntxq : 0);
		for (unsigned r = 0; r < b->nrxq; r++) {
			char name[32];
			snprintf(name, sizeof(name), "wire%u_rx%u", wire_number(b), r);
			const struct rte_ring *ring = rte_ring_lookup(name);
			assert_non_null(ring);
			/* With RSS every Tx queue may write into every ring. */
			assert_int_equal(!(ring->flags & RING_F_SP_ENQ), a->ntxq > 1);
			assert_int_equal(rte_ring_get_capacity(ring), 64);
		}
	}
	/* What waits in the wire goes back to its pool. */
	for (unsigned k = 0; k < 8 && tx0 > 0; k++) {
		m[0] = frame(k);
		assert_int_equal(rte_eth_tx_burst(p[0].dev, 0, m, 1), 1);
	}
	p[1].spec->drain(&p[1]);
	assert_int_equal(rte_mempool_avail_count(pool), before);
	if (tx0 > 0) {
		m[0] = frame(9);
		assert_int_equal(rte_eth_tx_burst(p[0].dev, 0, m, 1), 1);
	}
	close_ports(p, 2);
	assert_int_equal(rte_mempool_avail_count(pool), before);
	for (unsigned i = 0; i < 2; i++) {
		char name[32];
		snprintf(name, sizeof(name), "wire%u_rx0", wire_number(&p[i]));
		assert_null(rte_ring_lookup(name));
	}
}

static void test_wire(void **state)
{
	(void)state;
	wire_case(1, 1, 1, 1);
	wire_case(2, 3, 1, 4);
	wire_case(16, 16, 16, 16);
	wire_case(3, 1, 2, 16);
	wire_case(0, 1, 1, 0);
}

/* An end without receivers takes frames of one ring, and no more. */
static void test_wire_dead_end(void **state)
{
	const unsigned queues[2][2] = {{0, 2}, {0, 1}};
	struct port p[2];
	struct rte_mbuf *m[64];
	unsigned sent = 0;

	(void)state;
	open_ports("wire", p, 2, queues);
	for (unsigned turn = 0; turn < 4; turn++) {
		for (unsigned i = 0; i < 32; i++)
			m[i] = frame(i);
		uint16_t n = rte_eth_tx_burst(p[0].dev, turn & 1, m, 32);
		rte_pktmbuf_free_bulk(m + n, 32u - n);
		sent += n;
	}
	assert_int_equal(sent, 64);
	json_t *notes = json_array();
	p[0].spec->notes(&p[0], notes);
	assert_int_equal(json_array_size(notes), 1);
	json_decref(notes);
	close_ports(p, 2);
}

static void test_wire_too_many(void **state)
{
	struct port p[2] = {{.nrxq = 17, .ntxq = 1, .node = -1},
			    {.nrxq = 1, .ntxq = 1, .node = -1}};
	struct port *list[2] = {&p[0], &p[1]};
	const char *arg;
	struct err e = {0};

	(void)state;
	assert_int_equal(spec_of("wire", &arg)->open(arg, list, 2, &e), -EINVAL);
	assert_non_null(strstr(e.text, "at most 16"));
}

static void test_two_wires(void **state)
{
	const unsigned queues[2][2] = {{1, 1}, {1, 1}};
	struct port a[2], b[2];

	(void)state;
	open_ports("wire", a, 2, queues);
	open_ports("wire", b, 2, queues);
	assert_int_equal(wire_number(&b[0]), wire_number(&a[0]) + 2);
	assert_int_equal(wire_number(&b[1]), wire_number(&a[0]) + 3);
	struct rte_mbuf *m = frame(7);
	assert_int_equal(rte_eth_tx_burst(b[0].dev, 0, &m, 1), 1);
	assert_int_equal(rte_eth_rx_burst(a[1].dev, 0, &m, 1), 0);
	assert_int_equal(rte_eth_rx_burst(b[1].dev, 0, &m, 1), 1);
	rte_pktmbuf_free(m);
	close_ports(a, 2);
	close_ports(b, 2);
}

static void test_null(void **state)
{
	const unsigned queues[1][2] = {{1, 2}};
	struct port p[1];
	struct rte_mbuf *m[32];

	(void)state;
	open_ports("null", p, 1, queues);
	assert_string_equal(p[0].name, "null0");
	for (unsigned i = 0; i < 32; i++)
		m[i] = frame(i);
	assert_int_equal(rte_eth_tx_burst(p[0].dev, 1, m, 32), 32);
	assert_int_equal(rte_eth_rx_burst(p[0].dev, 0, m, 32), 0);
	close_ports(p, 1);
}

static void test_pcap(void **state)
{
	const unsigned tx[1][2] = {{0, 1}}, rx[1][2] = {{1, 0}};
	char file[] = "/tmp/wr-port-XXXXXX", text[64];
	struct port_need need;
	struct port p[1];
	struct rte_mbuf *m[32];
	struct err e;

	(void)state;
	int fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	snprintf(text, sizeof(text), "pcap:tx=%s", file);
	assert_int_equal(parse(text, &need, &e), 0);
	open_ports(text, p, 1, tx);
	for (unsigned i = 0; i < 32; i++)
		m[i] = frame(i);
	assert_int_equal(rte_eth_tx_burst(p[0].dev, 0, m, 32), 32);
	close_ports(p, 1);

	snprintf(text, sizeof(text), "pcap:rx=%s", file);
	assert_int_equal(parse(text, &need, &e), 0);
	assert_int_equal(need.max_rxq, 1);
	open_ports(text, p, 1, rx);
	assert_int_equal(rte_eth_rx_burst(p[0].dev, 0, m, 32), 32);
	for (unsigned i = 0; i < 32; i++) {
		assert_int_equal(m[i]->pkt_len, 60);
		assert_int_equal(mark_of(m[i]), i);
	}
	rte_pktmbuf_free_bulk(m, 32);
	close_ports(p, 1);
	snprintf(text, sizeof(text), "pcap:rx=%s,tx=%s", file, file);
	refused(text, EINVAL, "same file");
	unlink(file);
}

static void test_open_refused(void **state)
{
	struct port p = {.node = -1, .nrxq = 1, .ntxq = 1}, *list[1] = {&p};
	const char *arg;
	struct err e = {0};

	(void)state;
	assert_int_equal(spec_of("vdev:net_nosuch0", &arg)->open(arg, list, 1, &e), -ENODEV);
	assert_non_null(strstr(e.text, "net_nosuch"));
	assert_int_equal(spec_of("vdev:net_null7,bad=1", &arg)->open(arg, list, 1, &e), -ENODEV);
	assert_non_null(strstr(e.text, "net_null7"));
}

/* DPDK may keep the name of a device that was removed. So no name that was given out comes again,
 * and none that a user has given. */
static void test_names_never_repeat(void **state)
{
	struct port p = {.node = -1, .nrxq = 1, .ntxq = 1}, *list[1] = {&p};
	char name[8][RTE_ETH_NAME_MAX_LEN];
	const char *arg;
	struct err e = {0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(name); i++) {
		uint16_t dev;
		if (i == 3) { /* a user takes the number that would come next */
			char next[RTE_ETH_NAME_MAX_LEN + 8];
			unsigned n;
			assert_int_equal(sscanf(name[2], "net_null%u", &n), 1);
			snprintf(next, sizeof(next), "vdev:net_null%u,no-rx=1", n + 1);
			assert_int_equal(spec_of(next, &arg)->open(arg, list, 1, &e), 0);
			snprintf(next, sizeof(next), "net_null%u", n + 1);
			port_vdev_remove(next);
		}
		port_dev_name(name[i], sizeof(name[i]), "net_null");
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(name[i], name[j]);
		if (i == 3)
			assert_string_not_equal(name[3], p.name);
		assert_int_equal(port_vdev_add(name[i], "no-rx=1", &dev, "null", &e), 0);
		port_vdev_remove(name[i]);
	}
}

static int eal(void **state)
{
	char *argv[] = {
		"port_test",      "--no-huge", "-m",  "64",          "--no-pci", "--no-shconf",
		"--no-telemetry", "--lcores",  "0@0", "--log-level", "1",        NULL};

	(void)state;
	if (rte_eal_init(ARRAY_SIZE(argv) - 1, argv) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create("test", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool != NULL ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest before[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_doctor_knows_kinds),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_needs),
	};
	const struct CMUnitTest after[] = {
		cmocka_unit_test(test_wire),          cmocka_unit_test(test_wire_dead_end),
		cmocka_unit_test(test_wire_too_many), cmocka_unit_test(test_two_wires),
		cmocka_unit_test(test_null),          cmocka_unit_test(test_pcap),
		cmocka_unit_test(test_open_refused),  cmocka_unit_test(test_names_never_repeat),
	};

	return cmocka_run_group_tests_name("port specs before EAL", before, NULL, NULL) +
	       cmocka_run_group_tests_name("port specs", after, eal, NULL);
}
