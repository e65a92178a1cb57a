/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p pcap:rx=FILE,tx=FILE` makes a port that receives the frames of one file and writes those that
 * it sends into another (DPDK's net_pcap). A side without a file has no queue. */
#include "port_spec.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pcap_files {
	char rx[PATH_MAX], tx[PATH_MAX];
};

/* Splits "rx=FILE,tx=FILE" into the names of the files, "" for one that is not given. */
static int pcap_split(const char *arg, struct pcap_files *f, struct err *e)
{
	const char *s = arg;

	*f = (struct pcap_files){0};
	while (*s != '\0') {
		size_t n = strcspn(s, ",");
		char *side = strncmp(s, "rx=", 3) == 0   ? f->rx
			     : strncmp(s, "tx=", 3) == 0 ? f->tx
							 : NULL;
		if (side == NULL || n == 3)
			return err_set(
				e, EINVAL,
				"port 'pcap:%s': '%.*s' is not understood; write pcap:rx=FILE, pcap:tx=FILE or "
				"pcap:rx=FILE,tx=FILE (file names without commas)",
				arg, (int)n, s);
		if (side[0] != '\0')
			return err_set(e, EINVAL,
				       "port 'pcap:%s': %.2s= is given twice; one file per side",
				       arg, s);
		if (n - 3 >= PATH_MAX)
			return err_set(e, EINVAL, "port 'pcap:%s': the file name is too long", arg);
		memcpy(side, s + 3, n - 3);
		s += n + (s[n] == ',');
	}
	if (f->rx[0] == '\0' && f->tx[0] == '\0')
		return err_set(
			e, EINVAL,
			"port 'pcap:%s': no file given; write pcap:rx=FILE,tx=FILE (one of the two is enough)",
			arg);
	return 0;
}

/* Can frames be received from this file? Its first bytes show whether it is a capture file and, in
 * the pcap format, whether its frames are Ethernet; pcapng does not say that there. The driver
 * opens the file later. */
static int check_rx(const char *arg, const char *file, struct err *e)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1,
					  0x0a0d0d0a};
	uint32_t head[6] = {0};
	const char *why;
	int fd = userfile_open(file, O_RDONLY, 0, &why);

	if (fd < 0)
		return err_set(e, ENODEV, "port 'pcap:%s': cannot read '%s': %s", arg, file, why);
	ssize_t got = read(fd, head, sizeof(head));
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		if (got < 24 || head[0] != magics[i])
			continue;
		uint32_t link = i % 2 ? __builtin_bswap32(head[5]) : head[5];
		if (i < 4 && (link & 0xffff) != 1)
			return err_set(
				e, ENODEV,
				"port 'pcap:%s': '%s' has link type %u; only Ethernet (1) can be received",
				arg, file, link & 0xffff);
		return 0;
	}
	return err_set(e, ENODEV, "port 'pcap:%s': '%s' is no capture file (pcap or pcapng)", arg,
		       file);
}

/* Can frames be written to this file? The driver opens it later, with the C library. This check
 * finds files that it could not open, or on which it would wait for ever (a pipe). */
static int check_tx(const char *arg, const struct pcap_files *f, struct err *e)
{
	struct stat tx, rx;
	char dir[PATH_MAX];
	const char *why;

	if (stat(f->tx, &tx) == 0) {
		if (f->rx[0] != '\0' && stat(f->rx, &rx) == 0 && rx.st_dev == tx.st_dev &&
		    rx.st_ino == tx.st_ino)
			return err_set(
				e, EINVAL,
				"port 'pcap:%s': rx and tx are the same file; it would be emptied before it is read",
				arg);
		int fd = userfile_open(f->tx, O_WRONLY, 0, &why);
		if (fd < 0)
			return err_set(e, ENODEV, "port 'pcap:%s': cannot write '%s': %s", arg,
				       f->tx, why);
		close(fd);
		return 0;
	}
	if (errno != ENOENT)
		return err_set(e, ENODEV, "port 'pcap:%s': cannot write '%s': %s", arg, f->tx,
			       strerror(errno));
	snprintf(dir, sizeof(dir), "%s", f->tx);
	char *slash = strrchr(dir, '/');
	if (slash == NULL)
		snprintf(dir, sizeof(dir), ".");
	else
		slash[slash == dir] = '\0';
	if (access(dir, W_OK | X_OK) != 0)
		return err_set(e, ENODEV, "port 'pcap:%s': cannot create '%s': folder '%s': %s",
			       arg, f->tx, dir, strerror(errno));
	return 0;
}

static int pcap_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct pcap_files f;
	int rc = pcap_split(arg, &f, e);

	(void)take;
	if (rc == 0 && f.rx[0] != '\0')
		rc = check_rx(arg, f.rx, e);
	if (rc == 0 && f.tx[0] != '\0')
		rc = check_tx(arg, &f, e);
	if (rc != 0)
		return rc;
	need->nports = 1;
	need->max_rxq = f.rx[0] != '\0';
	need->max_txq = f.tx[0] != '\0';
	need->rx_pool = true;
	return 0;
}

static int pcap_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN], spec[160];
	struct sbuf args = {0};
	struct pcap_files f;
	int rc = pcap_split(arg, &f, e);

	(void)n;
	if (rc != 0)
		return rc;
	if (f.rx[0] != '\0')
		sbuf_addf(&args, "rx_pcap=%s", f.rx);
	if (f.tx[0] != '\0')
		sbuf_addf(&args, "%stx_pcap=%s", args.len ? "," : "", f.tx);
	port_dev_name(devname, sizeof(devname), "net_pcap");
	snprintf(spec, sizeof(spec), "pcap:%s", arg);
	rc = port_vdev_add(devname, sbuf_str(&args), &p[0]->dev, spec, e);
	sbuf_free(&args);
	if (rc != 0)
		return rc;
	snprintf(p[0]->name, sizeof(p[0]->name), "pcap%s", devname + strlen("net_pcap"));
	port_own_mac(p[0]);
	return 0;
}

static void pcap_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps)
{
	*link = LINK_UP;
	*speed_mbps = p->cfg->speed_bps > 0 ? p->cfg->speed_bps / 1000000 : 10000;
}

static int pcap_set_mtu(struct port *p, uint16_t mtu, struct err *e)
{
	(void)p;
	(void)mtu;
	(void)e;
	return 0;
}

static void pcap_notes(struct port *p, json_t *array)
{
	(void)p;
	json_array_append_new(
		array,
		json_string(
			"the files are opened once, so the device cannot be restarted: a restart would empty the "
			"Tx file"));
}

const struct port_spec port_spec_pcap = {
	.prefix = "pcap",
	.syntax = "pcap:rx=FILE,tx=FILE",
	.help = "receive the frames of one capture file, write sent frames to another; one side is enough",
	.parse = pcap_parse,
	.open = pcap_open,
	.link = pcap_link,
	.set_mtu = pcap_set_mtu,
	.notes = pcap_notes,
	.virtual_speed = true,
	.deaf = true,
	.unaddressed = true,
	.no_restart = true,
};
