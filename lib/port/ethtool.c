/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks what rtnetlink does not tell of an interface. Speed, channels and offloads come from
 * ethtool's ioctl, which answers for our network namespace; the sysfs that a process sees may be
 * that of another namespace. The NUMA node and the PCI address are only in sysfs. */
#include "kern.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int ethtool_it(const char *name, void *cmd)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = cmd;
	int rc = ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

uint64_t kern_speed_mbps(const char *name)
{
	/* Three bit masks follow the struct. The kernel's first answer only says how long each of
	 * them is in words, as a negative number; the second one has the speed. */
	uint32_t buf[(sizeof(struct ethtool_link_settings) + 3 * 4 * 127) / 4] = {0};
	struct ethtool_link_settings *s = (struct ethtool_link_settings *)buf;

	s->cmd = ETHTOOL_GLINKSETTINGS;
	if (ethtool_it(name, s) != 0 || s->link_mode_masks_nwords >= 0)
		return 0;
	int8_t words = (int8_t)-s->link_mode_masks_nwords;
	memset(buf, 0, sizeof(buf));
	s->cmd = ETHTOOL_GLINKSETTINGS;
	s->link_mode_masks_nwords = words;
	if (ethtool_it(name, s) != 0 || s->speed == 0 || s->speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return s->speed;
}

int kern_channels(const char *name)
{
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};

	if (ethtool_it(name, &ch) != 0)
		return 1;
	unsigned n = ch.combined_count > 0       ? ch.combined_count
		     : ch.rx_count < ch.tx_count ? ch.rx_count
						 : ch.tx_count;
	return n > 0 ? (int)n : 1;
}

bool kern_merges_frames(const char *name)
{
	struct ethtool_value gro = {.cmd = ETHTOOL_GGRO}, flags = {.cmd = ETHTOOL_GFLAGS};

	return (ethtool_it(name, &gro) == 0 && gro.data != 0) ||
	       (ethtool_it(name, &flags) == 0 && (flags.data & ETH_FLAG_LRO));
}

int kern_node(const char *name)
{
	char path[64 + IF_NAMESIZE];
	int node = -1;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device/numa_node", name);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return -1;
	if (fscanf(f, "%d", &node) != 1)
		node = -1;
	fclose(f);
	return node;
}

/* The device may be a child of the one on the PCI bus, as in .../0000:00:03.0/virtio0, so the last
 * part that is an address counts. */
void kern_pci(const char *name, char *out, size_t size)
{
	char path[64 + IF_NAMESIZE];
	unsigned domain, bus, slot, fn;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	char *real = realpath(path, NULL);
	for (char *part = real != NULL ? strtok(real, "/") : NULL; part != NULL;
	     part = strtok(NULL, "/")) {
		int end = -1;
		if (sscanf(part, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &fn, &end) == 4 &&
		    part[end] == '\0')
			snprintf(out, size, "%s", part);
	}
	free(real);
}
