/* SPDX-License-Identifier: BSD-3-Clause */
/* What all port specs share: the list of the specs, the names of devices, and functions that add a
 * device and say what helps if that fails. */
#include "port_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kern.h"
#include "log.h"
#include "port_list.h"

#define X(name) extern const struct port_spec port_spec_##name;
PORT_LIST
#undef X

const struct port_spec *const port_specs[] = {
#define X(name) &port_spec_##name,
	PORT_LIST
#undef X
		NULL};

const struct port_spec *port_spec_find(const char *text, const char **arg, struct err *e)
{
	size_t n = strcspn(text, ":");
	const char *known[ARRAY_SIZE(port_specs)];
	struct sbuf list = {0};
	size_t nknown = 0;

	for (size_t i = 0; port_specs[i] != NULL; i++) {
		const char *prefix = port_specs[i]->prefix;
		if (strlen(prefix) == n && strncmp(prefix, text, n) == 0) {
			*arg = text[n] == ':' ? text + n + 1 : text + n;
			sbuf_free(&list);
			return port_specs[i];
		}
		known[nknown++] = prefix;
		sbuf_addf(&list, "%s%s", i ? ", " : "", port_specs[i]->syntax);
	}
	char word[64];
	snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1), text);
	const char *near = str_nearest(word, known, nknown);
	err_set(e, EINVAL, "port '%s': unknown kind '%s'%s%s%s; known: %s", text, word,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
		sbuf_str(&list));
	sbuf_free(&list);
	return NULL;
}

void port_own_mac(struct port *p)
{
	p->mac = (struct rte_ether_addr){{0x02, 0x77, 0x72, 0x00, 0x00, (uint8_t)p->id}};
}

/* Names that port_dev_name() must not give again. series: for each driver, the numbers below
 * `next`. given: all names under which a device was added. */
static struct series {
	char driver[RTE_ETH_NAME_MAX_LEN];
	unsigned next;
} * series;
static char (*given)[RTE_ETH_NAME_MAX_LEN];
static size_t nseries, ngiven;

static struct series *series_of(const char *driver)
{
	for (size_t i = 0; i < nseries; i++)
		if (strcmp(series[i].driver, driver) == 0)
			return &series[i];
	series = xrealloc(series, (nseries + 1) * sizeof(*series));
	series[nseries].next = 0;
	snprintf(series[nseries].driver, sizeof(series[nseries].driver), "%s", driver);
	return &series[nseries++];
}

static bool was_given(const char *name)
{
	for (size_t i = 0; i < ngiven; i++)
		if (strcmp(given[i], name) == 0)
			return true;
	return false;
}

static void take_given(const char *name)
{
	if (was_given(name))
		return;
	given = xrealloc(given, (ngiven + 1) * sizeof(*given));
	snprintf(given[ngiven++], sizeof(*given), "%s", name);
}

void port_dev_name(char *out, size_t size, const char *driver)
{
	struct series *s = series_of(driver);
	uint16_t dev;

	do {
		snprintf(out, size, "%s%u", driver, s->next++);
	} while (was_given(out) || rte_eth_dev_get_port_by_name(out, &dev) == 0);
}

/* Adds a device on this bus. A virtual device is not added by hotplug: that sends a message to
 * other processes, and newer versions of DPDK refuse arguments for which the message has no room.
 * It takes 127 characters, and a path may be longer. */
static int add_dev(const char *bus, const char *devname, const char *args)
{
	if (strcmp(bus, "vdev") != 0)
		return rte_eal_hotplug_add(bus, devname, args);
	int rc = rte_vdev_init(devname, args);
	return rc > 0 ? -ENOTSUP : rc; /* > 0: no driver wants it */
}

static void remove_dev(const char *bus, const char *devname)
{
	int rc = rte_eal_hotplug_remove(bus, devname);

	if (rc != 0)
		log_msg(LOG_LVL_WARN, "device %s cannot be removed: %s", devname,
			rte_strerror(-rc));
}

void port_vdev_remove(const char *devname)
{
	remove_dev("vdev", devname);
}

int port_dev_add(const char *bus, const char *devname, const char *args, uint16_t *dev,
		 const char *spec, struct err *e)
{
	if (rte_eth_dev_get_port_by_name(devname, dev) == 0)
		return err_set(
			e, EINVAL,
			"port '%s': a device named %s is open already; give this one another name",
			spec, devname);
	take_given(devname);
	int rc = add_dev(bus, devname, args);
	if (rc == 0) {
		rc = rte_eth_dev_get_port_by_name(devname, dev);
		if (rc == 0)
			return 0;
		remove_dev(bus, devname);
		return err_set(e, ENODEV, "port '%s': %s is there but is no network device", spec,
			       devname);
	}
	if (strcmp(bus, "vdev") == 0 && linked_driver(devname, spec, e) < 0)
		return -ENODEV;
	/* A driver may return -1 for any reason, so it must not be read as -EPERM. */
	return err_set(e, ENODEV, "port '%s': DPDK could not open %s with '%s': %s%s", spec,
		       devname, args, rc == -1 ? "the driver refused" : rte_strerror(-rc),
		       eal_log_hint());
}

int port_vdev_add(const char *devname, const char *args, uint16_t *dev, const char *spec,
		  struct err *e)
{
	return port_dev_add("vdev", devname, args, dev, spec, e);
}

int port_event_fd(void)
{
	return kern_event_fd();
}
