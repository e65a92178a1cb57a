/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the facts about network devices, and finds those that were named. */
#include "exam.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCI "/sys/bus/pci/devices"
#define NET "/sys/class/net"
#define CLASS_ETHERNET 0x0200
#define CLASS_INFINIBAND 0x0207
#define ENTRIES_MAX 4096
#define ABOVE_MOST 6 /* interfaces above each other: a VLAN on a bridge on a bond ... */

typedef char nic_entry[SYS_NAME];

/* Reads "3b:0.0" or "0000:3b:00.0" into its long form. */
static bool nic_address(const char *text, char out[NIC_NAME])
{
	unsigned domain, bus, slot, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4) {
		domain = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3)
			return false;
	}
	if (text[end] != '\0' || slot >= 32 || function >= 8)
		return false;
	snprintf(out, NIC_NAME, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, slot, function);
	return true;
}

bool doctor_is_address(const char *text)
{
	size_t n = strncmp(text, "pci:", 4) == 0 ? 4 : 0, len = strcspn(text + n, ",");
	char word[32], pci[NIC_NAME];

	snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 0, text + n);
	return nic_address(word, pci);
}

/* Finds the interfaces of a PCI device: below it, or below its virtio device. There are several for
 * two ports on one function, and for representors of its virtual functions. Returns how many. */
static unsigned nic_interfaces(const struct sysroot *sys, const char *pci,
			       nic_entry out[ENTRIES_MAX])
{
	unsigned found = sys_names(sys, out, ENTRIES_MAX, PCI "/%s/net", pci), n = 0;

	if (found == 0) {
		nic_entry *below = xcalloc(ENTRIES_MAX, sizeof(*below));
		unsigned count = sys_names(sys, below, ENTRIES_MAX, PCI "/%s", pci);
		for (unsigned i = 0; i < count && found == 0; i++)
			if (strncmp(below[i], "virtio", 6) == 0)
				found = sys_names(sys, out, ENTRIES_MAX, PCI "/%s/%s/net", pci,
						  below[i]);
		free(below);
	}
	for (unsigned i = 0; i < found; i++)
		if (strlen(out[i]) < NIC_NAME && n++ != i)
			memcpy(out[n - 1], out[i], sizeof(*out));
	return n;
}

static int64_t nic_number(struct exam *x, const struct nic *n, const char *file, int64_t least,
			  int64_t most, int64_t missing)
{
	int64_t v = missing;

	return sys_number(&x->sys, least, most, &v, PCI "/%s/%s", n->pci, file) == SYS_READ
		       ? v
		       : missing;
}

/* Is this line of /proc/net/route or /proc/net/ipv6_route the default route over the interface? The
 * first has the interface, destination, gateway, four numbers and the mask; the second destination
 * and source, each with the length of its prefix, gateway, four numbers and the interface. */
static bool nic_default_line(const char *line, bool v6, const char *ifname)
{
	char name[NIC_NAME], dst[33], mask[9];
	int n = v6 ? sscanf(line, "%32s %8s %*s %*s %*s %*s %*s %*s %*s %15s", dst, mask, name)
		   : sscanf(line, "%15s %8s %*s %*s %*s %*s %*s %8s", name, dst, mask);

	return n == 3 && strcmp(name, ifname) == 0 && strspn(dst, "0") == strlen(dst) &&
	       strspn(mask, "0") == strlen(mask);
}

static bool nic_has_route(const struct sysroot *sys, const char *ifname)
{
	static const char *const tables[] = {"/proc/net/route", "/proc/net/ipv6_route"};
	struct sbuf text = {0};
	bool has = false;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !has; i++) {
		sys_head(sys, &text, "%s", tables[i]);
		for (char *line = text.s; line != NULL && *line != '\0' && !has;) {
			char *next = strchr(line, '\n');
			if (next != NULL)
				*next++ = '\0';
			has = nic_default_line(line, i == 1, ifname);
			line = next;
		}
	}
	sbuf_free(&text);
	return has;
}

/* Does the default route go over this interface, or over one that is above it: the bond or bridge
 * that it is a member of, a VLAN on it? `route` gets the name of that one. At most *left interfaces
 * are looked at. */
static bool nic_is_way_out(const struct sysroot *sys, const char *ifname, unsigned depth,
			   unsigned *left, char route[NIC_NAME])
{
	char master[SYS_NAME];

	if (*left == 0)
		return false;
	--*left;
	if (nic_has_route(sys, ifname)) {
		snprintf(route, NIC_NAME, "%s", ifname);
		return true;
	}
	if (depth == ABOVE_MOST)
		return false;
	if (sys_link(sys, master, NIC_NAME, NET "/%s/master", ifname) == SYS_READ &&
	    nic_is_way_out(sys, master, depth + 1, left, route))
		return true;
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in));
	unsigned n = sys_names(sys, in, ENTRIES_MAX, NET "/%s", ifname);
	bool out = false;
	for (unsigned i = 0; i < n && !out; i++)
		if (strncmp(in[i], "upper_", 6) == 0 && strlen(in[i] + 6) < NIC_NAME &&
		    strcmp(in[i] + 6, master) != 0)
			out = nic_is_way_out(sys, in[i] + 6, depth + 1, left, route);
	free(in);
	return out;
}

bool nic_way_out(const struct sysroot *sys, const char *pci, struct doctor_way *out)
{
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in));
	unsigned n = nic_interfaces(sys, pci, in), left = ENTRIES_MAX;
	bool is_out = false;

	*out = (struct doctor_way){0};
	for (unsigned i = 0; i < n && !is_out; i++) {
		is_out = nic_is_way_out(sys, in[i], 0, &left, out->route);
		if (is_out)
			memcpy(out->ifname, in[i], sizeof(out->ifname));
	}
	free(in);
	return is_out;
}

bool doctor_way_out(const char *root, const char *pci, struct doctor_way *out)
{
	const struct sysroot sys = {.path = root};

	return nic_way_out(&sys, pci, out);
}

/* Reads what /sys says of the interface n->ifname. */
static void nic_read_interface(struct exam *x, struct nic *n)
{
	int64_t mbps = 0;

	/* -1 stands for a speed that the driver does not know */
	if (sys_number(&x->sys, -1, 10000000, &mbps, NET "/%s/speed", n->ifname) == SYS_READ &&
	    mbps > 0)
		n->link_mbps = (uint64_t)mbps;
}

/* Finds the group of the IOMMU. Without an IOMMU vfio makes groups that are none. */
static void nic_read_group(struct exam *x, struct nic *n)
{
	char group[SYS_NAME], *end;

	n->group = -1;
	if (sys_link(&x->sys, group, sizeof(group), PCI "/%s/iommu_group", n->pci) != SYS_READ)
		return;
	long v = strtol(group, &end, 10);
	if (end == group || *end != '\0' || v < 0 || v > 1000000)
		return;
	n->group = (int)v;
	n->noiommu = exam_group_is_none(x, group) ||
		     sys_exists(&x->sys, "/dev/vfio/noiommu-%d", n->group);
}

/* Reads what /sys says of the PCI device n->pci. Of several interfaces the one that was named is
 * meant, else the first. */
static void nic_read_pci(struct exam *x, struct nic *n)
{
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in));
	char pf[SYS_NAME];

	n->vendor = (uint32_t)nic_number(x, n, "vendor", 0, 0xffff, 0);
	n->device = (uint32_t)nic_number(x, n, "device", 0, 0xffff, 0);
	n->model = nic_model_find(n->vendor, n->device);
	n->node = (int)nic_number(x, n, "numa_node", -1, NODES_MAX - 1, -1);
	nic_read_group(x, n);
	n->vf = sys_link(&x->sys, pf, sizeof(pf), PCI "/%s/physfn", n->pci) == SYS_READ;
	sys_link(&x->sys, n->driver, sizeof(n->driver), PCI "/%s/driver", n->pci);
	if (x->self != NULL)
		n->kind = doctor_driver_kind(n->driver, n->vendor, n->device, x->self->dpdk);
	if (n->ifname[0] == '\0' && nic_interfaces(&x->sys, n->pci, in) > 0)
		memcpy(n->ifname, in[0], sizeof(n->ifname));
	if (n->ifname[0] != '\0')
		nic_read_interface(x, n);
	nic_way_out(&x->sys, n->pci, &n->out);
	free(in);
}

static struct nic *nic_new(struct exam *x)
{
	if (x->nnics == NICS_MAX)
		return NULL;
	struct nic *n = &x->nic[x->nnics++];
	*n = (struct nic){.node = -1, .group = -1, .kind = DOCTOR_DRIVER_KERNEL};
	return n;
}

bool nic_is_network(const struct sysroot *sys, const char *pci, uint32_t *class)
{
	int64_t v = 0;

	*class = 0;
	if (sys_number(sys, 0, 0xffffff, &v, PCI "/%s/class", pci) != SYS_READ)
		return false;
	*class = (uint32_t)v;
	return *class >> 8 == CLASS_ETHERNET || *class >> 8 == CLASS_INFINIBAND;
}

static void nic_all(struct exam *x)
{
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in));
	unsigned count = sys_names(&x->sys, in, ENTRIES_MAX, PCI);
	char pci[NIC_NAME];
	uint32_t class;

	for (unsigned i = 0; i < count; i++) {
		struct nic *n;
		if (!nic_address(in[i], pci) || !nic_is_network(&x->sys, pci, &class) ||
		    (n = nic_new(x)) == NULL)
			continue;
		memcpy(n->pci, pci, sizeof(pci));
		nic_read_pci(x, n);
	}
	free(in);
}

/* Finds the PCI device that an interface is one of. */
static void nic_pci_of(struct exam *x, struct nic *n)
{
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in)),
		  *ifs = xcalloc(ENTRIES_MAX, sizeof(*ifs));
	unsigned count = sys_names(&x->sys, in, ENTRIES_MAX, PCI);
	char pci[NIC_NAME];
	uint32_t class;

	for (unsigned i = 0; i < count && n->pci[0] == '\0'; i++) {
		if (!nic_address(in[i], pci) || !nic_is_network(&x->sys, pci, &class))
			continue;
		unsigned nifs = nic_interfaces(&x->sys, pci, ifs);
		for (unsigned k = 0; k < nifs; k++)
			if (strcmp(ifs[k], n->ifname) == 0)
				memcpy(n->pci, pci, sizeof(n->pci));
	}
	free(ifs);
	free(in);
}

/* Adds a device, unless it was named before for the same use. */
static void nic_add(struct exam *x, const struct nic *n)
{
	struct nic *to;

	for (unsigned i = 0; i < x->nnics; i++)
		if (strcmp(n->pci, x->nic[i].pci) == 0 &&
		    strcmp(n->ifname, x->nic[i].ifname) == 0 && n->for_dpdk == x->nic[i].for_dpdk)
			return;
	if ((to = nic_new(x)) != NULL)
		*to = *n;
}

static void nic_name_pci(struct exam *x, const char *pci)
{
	struct nic n = {.node = -1,
			.group = -1,
			.for_dpdk = true,
			.kind = DOCTOR_DRIVER_KERNEL,
			.missing = true};
	uint32_t class;

	memcpy(n.pci, pci, NIC_NAME);
	if (sys_exists(&x->sys, PCI "/%s", pci)) {
		nic_is_network(&x->sys, pci, &class);
		n.missing = class != 0 && class >> 16 != CLASS_ETHERNET >> 8;
		n.class = n.missing ? class : 0;
	}
	if (!n.missing)
		nic_read_pci(x, &n);
	nic_add(x, &n);
}

static void nic_name_interface(struct exam *x, const char *ifname)
{
	struct nic n = {.node = -1, .group = -1, .for_kernel = true, .kind = DOCTOR_DRIVER_KERNEL};

	memcpy(n.ifname, ifname, strlen(ifname) + 1);
	nic_pci_of(x, &n);
	if (n.pci[0] != '\0')
		nic_read_pci(x, &n);
	else if (sys_exists(&x->sys, NET "/%s", ifname))
		nic_read_interface(x, &n);
	else
		n.missing = true;
	nic_add(x, &n);
}

/* A name that an interface can have, and that leads to no other folder. */
static bool nic_can_be_name(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n < NIC_NAME && strcspn(s, "/: \t\n") == n && strcmp(s, ".") != 0 &&
	       strcmp(s, "..") != 0;
}

/* How long the prefix is of a spec that uses an interface through the kernel. 0: it is another. */
static size_t nic_kernel_prefix(const char *spec)
{
	static const char *const kinds[] = {"if:", "xdp:", "packet:"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(spec, kinds[i], strlen(kinds[i])) == 0)
			return strlen(kinds[i]);
	return 0;
}

bool doctor_names_interface(const char *spec)
{
	return nic_kernel_prefix(spec) > 0;
}

/* Takes one device that was named, or one port spec. */
static int nic_take(struct exam *x, const char *text, struct err *e)
{
	static const char *const none[] = {"wire", "null", "tap", "pcap", "memif", "vdev"};
	size_t prefix = nic_kernel_prefix(text);
	bool is_pci = strncmp(text, "pci:", 4) == 0, is_kernel = prefix > 0;
	char word[64], pci[NIC_NAME];
	const char *name = is_pci ? text + 4 : text + prefix;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		size_t n = strlen(none[i]);
		if (strncmp(text, none[i], n) == 0 && (text[n] == ':' || text[n] == '\0'))
			return 0;
	}
	size_t n = strcspn(name, ","); /* arguments of the driver may follow */
	snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, name);
	x->named = true;
	if (!is_kernel && nic_address(word, pci)) {
		nic_name_pci(x, pci);
		return 0;
	}
	if (!is_pci && nic_can_be_name(word)) {
		nic_name_interface(x, word);
		return 0;
	}
	return err_set(
		e, EINVAL,
		"'%.100s' is neither a PCI address nor an interface; write 0000:3b:00.0, 3b:00.0 or a name that `ip link` lists",
		text);
}

int exam_nics(struct exam *x, const struct doctor_ask *ask, struct err *e)
{
	for (unsigned i = 0; i < ask->ndevices; i++) {
		int rc = nic_take(x, ask->device[i], e);
		if (rc < 0)
			return rc;
	}
	if (!x->named)
		nic_all(x);
	return 0;
}

void doctor_devices(const char *root, void (*offer)(void *arg, const char *name, const char *about),
		    void *arg)
{
	struct exam *x = xcalloc(1, sizeof(*x));
	nic_entry *in = xcalloc(ENTRIES_MAX, sizeof(*in));
	struct sbuf about = {0};

	x->sys.path = root;
	nic_all(x);
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		sbuf_reset(&about);
		sbuf_addf(&about, "%s%s%s", n->driver[0] != '\0' ? n->driver : "no driver",
			  n->ifname[0] != '\0' ? ", interface " : "", n->ifname);
		offer(arg, n->pci, about.s);
	}
	unsigned count = sys_names(&x->sys, in, ENTRIES_MAX, NET);
	for (unsigned i = 0; i < count; i++)
		if (nic_can_be_name(in[i]))
			offer(arg, in[i], "an interface");
	sbuf_free(&about);
	free(in);
	free(x);
}
