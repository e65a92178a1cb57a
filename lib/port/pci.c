/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p pci:ADDR` opens a NIC by its PCI address. DPDK drives it. */
#include "port_spec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define SYS_PCI "/sys/bus/pci/devices"

/* Reads "3:0.0" or "0000:03:00.0", writes the long form into addr, and lets *args point to what
 * follows a comma: the arguments of the driver. */
static int pci_split(const char *arg, char addr[16], const char **args, struct err *e)
{
	unsigned d = 0, b, s, f;
	int end = 0;

	if ((sscanf(arg, "%4x:%2x:%2x.%1x%n", &d, &b, &s, &f, &end) == 4 ||
	     (d = 0, sscanf(arg, "%2x:%2x.%1x%n", &b, &s, &f, &end) == 3)) &&
	    (arg[end] == '\0' || arg[end] == ',') && s < 32 && f < 8) {
		snprintf(addr, 16, "%04x:%02x:%02x.%x", d & 0xffff, b & 0xff, s, f);
		*args = arg[end] == ',' ? arg + end + 1 : "";
		return 0;
	}
	return err_set(
		e, EINVAL,
		"port 'pci:%s': not a PCI address; write pci:0000:03:00.0 or pci:03:00.0; `lspci | grep -i ethernet` "
		"lists them",
		arg);
}

/* Returns the number in a file of the device in sysfs; -1: there is none. */
static long sys_number(const char *addr, const char *file, int base)
{
	char path[PATH_MAX];
	long v = -1;

	snprintf(path, sizeof(path), SYS_PCI "/%s/%s", addr, file);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return -1;
	char text[32];
	if (fgets(text, sizeof(text), f) != NULL)
		v = strtol(text, NULL, base);
	fclose(f);
	return v;
}

/* Writes the name of the kernel driver that holds the device; "": none does. */
static void kernel_driver(const char *addr, char *out, size_t size)
{
	char path[PATH_MAX], link[PATH_MAX];

	out[0] = '\0';
	snprintf(path, sizeof(path), SYS_PCI "/%s/driver", addr);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	const char *slash = strrchr(link, '/');
	snprintf(out, size, "%.63s", slash != NULL ? slash + 1 : link);
}

/* Can DPDK reach the device with this driver? If not, e says what helps, and never that the way out
 * of the machine is to be unbound. */
static int pci_reached(const char *arg, const char *addr, const char *driver, struct err *e)
{
	long vendor = sys_number(addr, "vendor", 16), device = sys_number(addr, "device", 16);
	uint32_t v = vendor > 0 ? (uint32_t)vendor : 0, d = device > 0 ? (uint32_t)device : 0;
	enum doctor_driver kind = doctor_driver_kind(driver, v, d, rte_version());
	const char *wanted = doctor_driver_wanted(v, d),
		   *bound = driver[0] ? "bound to the driver " : "bound to no driver";
	struct doctor_way out;

	if (kind == DOCTOR_DRIVER_BOUND || kind == DOCTOR_DRIVER_SHARED)
		return 0;
	if (kind == DOCTOR_DRIVER_NONE)
		return err_set(
			e, ENODEV,
			"port 'pci:%s': %s has no driver for %s (%04x:%04x); the kernel's interface of it can be used, by if:NAME",
			arg, rte_version(), addr, v, d);
	if (doctor_way_out("", addr, &out))
		return err_set(
			e, ENODEV,
			"port 'pci:%s': %s is %s%s, where DPDK cannot reach it, and the default route over %s would go with it; "
			"take another NIC, or if:%s",
			arg, addr, bound, driver, out.route, out.ifname);
	return err_set(
		e, ENODEV,
		"port 'pci:%s': %s is %s%s, where DPDK cannot reach it; modprobe %s && dpdk-devbind.py --bind=%s %s%s",
		arg, addr, bound, driver, wanted, wanted, addr,
		kind == DOCTOR_DRIVER_KERNEL ? " (the kernel's interface goes away)" : "");
}

/* Addresses that specs have named. */
static char (*named)[16];
static unsigned nnamed;

bool port_pci_named(const char *name)
{
	char addr[16];
	const char *args;

	if (pci_split(name, addr, &args, NULL) != 0)
		return false;
	for (unsigned i = 0; i < nnamed; i++)
		if (strcmp(named[i], addr) == 0)
			return true;
	return false;
}

static int pci_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	char addr[16], path[PATH_MAX], driver[64];
	const char *args = NULL;
	int rc = pci_split(arg, addr, &args, e);

	(void)take;
	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), SYS_PCI "/%s", addr);
	if (access(path, F_OK) != 0)
		return err_set(
			e, ENODEV,
			"port 'pci:%s': there is no PCI device %s; `lspci | grep -i ethernet` lists the NICs",
			arg, addr);
	long class = sys_number(addr, "class", 16);
	if (class >= 0 && class >> 16 != 0x02)
		return err_set(e, ENODEV,
			       "port 'pci:%s': %s is no network device (PCI class %06lx)", arg,
			       addr, class);
	kernel_driver(addr, driver, sizeof(driver));
	if ((rc = pci_reached(arg, addr, driver, e)) < 0)
		return rc;
	named = xrealloc(named, (nnamed + 1) * sizeof(*named));
	memcpy(named[nnamed++], addr, sizeof(addr));
	need->nports = 1;
	need->max_rxq = need->max_txq = PORT_MAX_QUEUES;
	need->pci = true;
	need->rx_pool = true;
	need->min_data_room = 2048;
	need->node = (int)sys_number(addr, "numa_node", 10);
	return 0;
}

static int pci_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char addr[16], spec[160];
	const char *args = NULL;
	int rc = pci_split(arg, addr, &args, e);

	(void)n;
	if (rc != 0)
		return rc;
	snprintf(spec, sizeof(spec), "pci:%s", arg);
	/* EAL has probed the device already if an option -a names it. */
	if (rte_eth_dev_get_port_by_name(addr, &p[0]->dev) != 0)
		rc = port_dev_add("pci", addr, args, &p[0]->dev, spec, e);
	if (rc != 0)
		return rc;
	snprintf(p[0]->name, sizeof(p[0]->name), "pci:%s", addr);
	p[0]->node = rte_eth_dev_socket_id(p[0]->dev);
	return 0;
}

const struct port_spec port_spec_pci = {
	.prefix = "pci",
	.syntax = "pci:ADDR[,ARGS]",
	.help = "a NIC by its PCI address, bound to vfio-pci (or mlx5)",
	.parse = pci_parse,
	.open = pci_open,
};
