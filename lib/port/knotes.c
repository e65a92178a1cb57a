/* SPDX-License-Identifier: BSD-3-Clause */
/* What `show ports` says of ports on an interface of the kernel: what differs from a NIC, and what
 * helps. */
#include "kport_int.h"

#include <linux/if_link.h>
#include <stdio.h>

static void kport_note(json_t *array, const char *fmt, ...) WR_PRINTF(2, 3);
static void kport_note(json_t *array, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(array, json_string(text));
}

static void notes_packet(const struct port *p, const struct kport *kp, json_t *array)
{
	const char *name = kp->k.name;

	kport_note(
		array,
		"frames that the kernel has merged (GRO, LRO) or not yet cut (GSO) arrive as one, of up to 64 KB, and checksums of its own may "
		"only be begun (PACKET_VNET_HDR)");
	if (kp->own_mac)
		kport_note(
			array,
			"it has a MAC of its own, so that the IP stack of this host, which does not use %s, throws away at once what comes for it",
			name);
	if (kpacket_queued(kp->packet))
		kport_note(
			array,
			"%s does not cut super-frames by itself: what flows send goes through its queueing discipline",
			name);
	if (kp->k.xdp_prog != 0)
		kport_note(
			array,
			"an XDP program (id %u) sees the frames first and may take them; ip link set dev %s xdp off",
			kp->k.xdp_prog, name);
	if (p->nrxq > 1)
		kport_note(array, "a flow moves to another Rx queue while its own is full");
}

static void notes_xdp(const struct port *p, const struct kport *kp, json_t *array)
{
	const char *name = kp->k.name;
	int channels = kern_channels(name);

	kport_note(
		array,
		"every frame that arrives at %s is taken from the kernel while this port is open",
		name);
	if (channels > (int)p->nrxq && !kp->k.gone)
		kport_note(
			array,
			"%s has %d channels and %u of them are received: frames in the others are not seen; ethtool -L %s combined %u",
			name, channels, p->nrxq, name, p->nrxq ? p->nrxq : 1u);
	if (kp->k.xdp_mode == XDP_ATTACHED_SKB)
		kport_note(
			array,
			"XDP runs in generic mode here: slower, and after the kernel has made a socket buffer of each frame");
	if (kp->k.kind[0] == '\0')
		kport_note(array, "tags that the NIC strips are lost; ethtool -K %s rxvlan off",
			   name);
	if (kp->lock < 0)
		kport_note(
			array,
			"no lock file could be made in /run/wirerate: after a kill, remove the program with ip link set dev %s xdp off",
			name);
}

void kport_notes(struct port *p, json_t *array)
{
	const struct kport *kp = p->priv;

	if (kp->k.gone)
		kport_note(array,
			   "interface %s was deleted, or moved to another network namespace; "
			   "its last counters are shown; start the program again when it is back",
			   kp->k.name);
	if (kp->why[0] != '\0')
		kport_note(array, "%s", kp->why);
	if (kp->how == HOW_PACKET)
		notes_packet(p, kp, array);
	else if (kp->how == HOW_XDP)
		notes_xdp(p, kp, array);
	else
		kport_note(array, "what this port sends, the host receives on %s", kp->k.name);
	if (kp->how == HOW_PACKET)
		kport_note(
			array,
			"frames above the interface's MTU (%u) are refused by the kernel and show as errors and as unconfirmed",
			kp->k.mtu);
	else if (kp->how == HOW_XDP)
		kport_note(
			array,
			"frames above the interface's MTU (%u) are dropped by the kernel without a word and show as unconfirmed",
			kp->k.mtu);
	if (kp->how != HOW_TAP && kp->host_sent > 0)
		kport_note(
			array,
			"this host has sent %lu frames of its own through %s; the kernel's Tx counter holds them too, unconfirmed does not",
			(unsigned long)kp->host_sent, kp->k.name);
}
