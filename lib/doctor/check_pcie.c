/* SPDX-License-Identifier: BSD-3-Clause */
/* Can the slot carry what the ports send? Gbit/s of a slot are its GT/s, less its encoding, times
 * its width; headers of PCIe and descriptors come on top of the frames. */
#include "exam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame of 1518 bytes takes 1538 on the wire, and of PCIe its 1514 bytes, six headers of about 24
 * with payloads of 256 bytes, a descriptor of 16 and its share of doorbells: about 1700. */
#define LARGE_FACTOR (1700.0 / 1538)
/* A frame of 64 bytes takes 84 on the wire, and of PCIe 60 bytes, two headers and a descriptor:
 * about 130. */
#define SMALL_FACTOR (130.0 / 84)

#define LOOK "`lspci -vv -s %s` tells more"

struct pcie_link {
	double gt;     /* GT/s of a lane */
	int64_t width; /* lanes */
	double mbps;   /* what all lanes carry after the encoding */
};

/* Reads current_link_* or max_link_* of a device. false: it has none, or does not tell. */
static bool pcie_read(struct exam *x, const struct nic *n, const char *which, struct pcie_link *out)
{
	char text[64], *end;

	if (sys_line(&x->sys, text, sizeof(text), "/sys/bus/pci/devices/%s/%s_link_speed", n->pci,
		     which) != SYS_READ ||
	    sys_number(&x->sys, 0, 255, &out->width, "/sys/bus/pci/devices/%s/%s_link_width",
		       n->pci, which) != SYS_READ)
		return false;
	out->gt = strtod(text, &end);
	/* A virtual device says "Unknown", 0 lanes or 255. */
	if (end == text || strncmp(end, " GT/s", 5) != 0 || !isfinite(out->gt) || out->gt < 1 ||
	    out->gt > 1024 || out->width < 1 || out->width > 32)
		return false;
	double part = out->gt <= 5 ? 0.8 : out->gt < 64 ? 128.0 / 130 : 242.0 / 256;
	out->mbps = out->gt * (double)out->width * part * 1000;
	return true;
}

double doctor_pcie_bps(const char *root, const char *pci)
{
	struct exam *x = xcalloc(1, sizeof(*x));
	struct pcie_link link;
	struct nic n = {.node = -1};

	x->sys.path = root;
	snprintf(n.pci, sizeof(n.pci), "%s", pci);
	double bps = pcie_read(x, &n, "current", &link) ? link.mbps * 1e6 : 0;
	free(x);
	return bps;
}

/* Are two functions on one card, and so in one slot? */
static bool pcie_same_slot(const struct nic *a, const struct nic *b)
{
	const char *dot = strrchr(a->pci, '.');

	return dot != NULL && strncmp(a->pci, b->pci, (size_t)(dot - a->pci) + 1) == 0;
}

/* What the ports in a slot carry. guessed: one of the rates is the most that the model can have. */
struct pcie_ports {
	unsigned n;
	double mbps;
	bool guessed;
};

/* Adds up the ports in the slot of a device that are in question. One that was named both ways
 * counts once. */
static struct pcie_ports pcie_count(const struct exam *x, const struct nic *n)
{
	struct pcie_ports ports = {0};

	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *other = &x->nic[i];
		bool again = false;
		for (unsigned k = 0; k < i; k++)
			again |= strcmp(x->nic[k].pci, other->pci) == 0;
		if (again || other->vf || !pcie_same_slot(n, other))
			continue;
		bool guess = other->link_mbps == 0 && other->model != NULL;
		ports.mbps += (double)(guess ? other->model->port_mbps : other->link_mbps);
		ports.guessed |= guess;
		ports.n++;
	}
	return ports;
}

/* Devices inside a processor or a chipset say that they have the smallest link that there is, which
 * they do not use. */
static bool pcie_is_inside(const struct pcie_link *now, const struct pcie_link *most, double mbps)
{
	return now->gt <= 2.5 && now->width == 1 && most->gt <= 2.5 && most->width == 1 &&
	       mbps * LARGE_FACTOR > now->mbps;
}

/* The slot carries less than its ports. */
static void pcie_small(struct exam *x, const struct nic *n, const struct pcie_link *now,
		       const struct pcie_link *most, const struct pcie_ports *ports)
{
	bool less = most->mbps > now->mbps * 1.01;
	const char *up_to = ports->guessed ? "up to " : "";
	struct doctor_finding *f = found(
		x, ports->guessed && !less ? DOCTOR_NOTE : DOCTOR_WARNING, nic_name(n),
		"PCIe %.3g GT/s x%d carries %.0f Gbit/s; %u port%s of %s%.0f Gbit/s %s %s%.0f with headers",
		now->gt, (int)now->width, now->mbps / 1000, ports->n, ports->n == 1 ? "" : "s",
		up_to, ports->mbps / 1000 / ports->n, ports->n == 1 ? "wants" : "want", up_to,
		ports->mbps * LARGE_FACTOR / 1000);

	if (less)
		found_why(
			f,
			"the card can do %.3g GT/s x%d: its slot is too small, or it does not sit well; frames would be lost in the NIC; " LOOK,
			most->gt, (int)most->width, n->pci);
	else
		found_why(
			f,
			"the card can do no more: at the full rate frames would be lost in the NIC, even large ones; fewer of its ports fit");
}

/* Judges the slot of a device by all ports in it that are in question. */
static void pcie_judge(struct exam *x, const struct nic *n, const struct pcie_link *now,
		       const struct pcie_link *most)
{
	const struct pcie_ports ports = pcie_count(x, n);
	bool less = most->mbps > now->mbps * 1.01;
	struct doctor_finding *f;

	if (pcie_is_inside(now, most, ports.mbps)) {
		f = found(x, DOCTOR_NOTE, nic_name(n), "it does not tell what PCIe carries");
		found_why(
			f,
			"it says 2.5 GT/s x1, as devices inside a processor or a chipset do, which use no such link");
	} else if (ports.mbps > 0 && ports.mbps * LARGE_FACTOR > now->mbps) {
		pcie_small(x, n, now, most, &ports);
	} else if (ports.mbps <= 0 && less) {
		f = found(x, DOCTOR_WARNING, nic_name(n),
			  "PCIe works at %.3g GT/s x%d, and the card can do %.3g GT/s x%d", now->gt,
			  (int)now->width, most->gt, (int)most->width);
		found_why(
			f,
			"its slot may be too small; the rate of its ports is not known here; " LOOK,
			n->pci);
	} else if (ports.mbps * SMALL_FACTOR > now->mbps) {
		f = found(
			x, DOCTOR_NOTE, nic_name(n),
			"PCIe %.3g GT/s x%d carries %.0f Gbit/s; 64-byte frames at the full rate want %s%.0f",
			now->gt, (int)now->width, now->mbps / 1000,
			ports.guessed ? "up to " : "about ", ports.mbps * SMALL_FACTOR / 1000);
		found_why(f,
			  "headers and descriptors come on top of each frame; larger frames fit");
	} else {
		found(x, DOCTOR_OK, nic_name(n), "PCIe %.3g GT/s x%d, %.0f Gbit/s", now->gt,
		      (int)now->width, now->mbps / 1000);
	}
}

static void pcie_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		struct pcie_link now, most;
		bool first = true;
		for (unsigned k = 0; k < i; k++)
			first &= !pcie_same_slot(n, &x->nic[k]) || x->nic[k].vf;
		if (n->pci[0] != '\0' && !n->missing && !n->vf && first &&
		    pcie_read(x, n, "current", &now))
			pcie_judge(x, n, &now, pcie_read(x, n, "max", &most) ? &most : &now);
	}
}

const struct check check_pcie = {"pcie", pcie_run};
