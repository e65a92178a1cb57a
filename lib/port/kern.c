/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks rtnetlink about interfaces: their state, their counters, and who uses them. This file also
 * changes settings of interfaces, detaches XDP programs, and reads the capabilities of this
 * process. */
#include "kern.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NL_BUF 65536

static int nl_fd = -1;    /* for requests */
static int event_fd = -1; /* for changes: member of RTMGRP_LINK */
static uint32_t nl_seq;
static struct kern_if *watched;

static int nl_open(unsigned groups)
{
	struct sockaddr_nl sa = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (groups ? SOCK_NONBLOCK : 0),
			NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	/* The kernel answers at once. If an answer is missing, this limit lets control go on. */
	struct timeval tv = {.tv_sec = 1};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

struct nl_req {
	struct nlmsghdr h;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
		struct rtmsg route;
	};
	uint8_t attrs[256];
};

static void req_attr(struct nl_req *r, int type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)((uint8_t *)r + NLMSG_ALIGN(r->h.nlmsg_len));

	a->rta_type = (unsigned short)type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len > 0)
		memcpy(RTA_DATA(a), data, len);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + (uint32_t)RTA_ALIGN(a->rta_len);
}

/* Sends one request, waits for the answers, and hands each one to each(), which may be NULL. 0 or
 * -errno, the kernel's if it has refused. */
static int nl_call(struct nl_req *r, void (*each)(const struct nlmsghdr *, void *), void *arg)
{
	static uint8_t buf[NL_BUF] WR_ALIGNED(NLMSG_ALIGNTO);
	bool dump = (r->h.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	if (nl_fd < 0 && (nl_fd = nl_open(0)) < 0)
		return nl_fd;
	r->h.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	r->h.nlmsg_seq = ++nl_seq;
	if (send(nl_fd, r, r->h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		ssize_t n = recv(nl_fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		size_t left = (size_t)n;
		for (struct nlmsghdr *h = (struct nlmsghdr *)buf; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_seq != nl_seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			if (h->nlmsg_type == NLMSG_DONE)
				return dump ? 0 : -EPROTO;
			if (each != NULL)
				each(h, arg);
		}
	}
}

static void read_stats(const struct rtattr *a, struct kern_stats *st)
{
	struct rtnl_link_stats64 s = {0};
	size_t n = RTA_PAYLOAD(a);

	memcpy(&s, RTA_DATA(a), n < sizeof(s) ? n : sizeof(s));
	*st = (struct kern_stats){
		.tx_packets = s.tx_packets,
		.tx_bytes = s.tx_bytes,
		.tx_errors = s.tx_errors,
		.tx_dropped = s.tx_dropped,
		.rx_packets = s.rx_packets,
		.rx_bytes = s.rx_bytes,
		.rx_errors = s.rx_errors,
		.rx_dropped = s.rx_dropped,
	};
}

static void read_xdp(const struct rtattr *nest, struct kern_if *k)
{
	int left = (int)RTA_PAYLOAD(nest);

	for (const struct rtattr *a = RTA_DATA(nest); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == IFLA_XDP_ATTACHED)
			k->xdp_mode = *(uint8_t *)RTA_DATA(a);
		else if (a->rta_type == IFLA_XDP_PROG_ID)
			memcpy(&k->xdp_prog, RTA_DATA(a), sizeof(k->xdp_prog));
	}
}

static void read_kind(const struct rtattr *nest, struct kern_if *k)
{
	int left = (int)RTA_PAYLOAD(nest);

	for (const struct rtattr *a = RTA_DATA(nest); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_INFO_KIND)
			snprintf(k->kind, sizeof(k->kind), "%s", (const char *)RTA_DATA(a));
}

/* Reads one RTM_NEWLINK or RTM_DELLINK into *arg, a struct kern_if. */
static void read_link(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *m = NLMSG_DATA(h);
	struct kern_if *k = arg;
	int left = (int)IFLA_PAYLOAD(h);

	if (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK)
		return;
	k->ifindex = m->ifi_index;
	k->flags = m->ifi_flags;
	k->master = 0;
	k->xdp_prog = 0;
	for (const struct rtattr *a = IFLA_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		switch (a->rta_type) {
		case IFLA_IFNAME:
			snprintf(k->name, sizeof(k->name), "%s", (const char *)RTA_DATA(a));
			break;
		case IFLA_MTU:
			memcpy(&k->mtu, RTA_DATA(a), sizeof(k->mtu));
			break;
		case IFLA_ADDRESS:
			if (RTA_PAYLOAD(a) == sizeof(k->mac))
				memcpy(k->mac, RTA_DATA(a), sizeof(k->mac));
			break;
		case IFLA_CARRIER_CHANGES:
			if (RTA_PAYLOAD(a) >= sizeof(uint32_t))
				memcpy(&k->carrier_changes, RTA_DATA(a), sizeof(uint32_t));
			break;
		case IFLA_MASTER:
			memcpy(&k->master, RTA_DATA(a), sizeof(k->master));
			break;
		case IFLA_STATS64:
			read_stats(a, &k->st);
			break;
		case IFLA_XDP:
			read_xdp(a, k);
			break;
		case IFLA_LINKINFO:
			read_kind(a, k);
			break;
		}
	}
}

int kern_read(struct kern_if *k)
{
	struct nl_req r = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(r.link)),
				 .nlmsg_type = RTM_GETLINK},
			   .link = {.ifi_index = k->ifindex}};

	kern_events();
	if (k->gone)
		return -ENODEV;
	int rc = nl_call(&r, read_link, k);
	if (rc == -ENODEV) {
		/* The notice of the deletion, which has the last counters, was queued before this
		 * answer. */
		kern_events();
		k->gone = true;
	}
	return rc;
}

bool kern_up(const struct kern_if *k)
{
	return !k->gone && (k->flags & IFF_UP) && (k->flags & IFF_RUNNING);
}

int kern_find(const char *name, struct kern_if *out, const char *spec, struct err *e)
{
	*out = (struct kern_if){0};
	if (*name == '\0')
		return err_set(e, EINVAL,
			       "port '%s': an interface name is missing; `ip -br link` lists them",
			       spec);
	if (strlen(name) >= IF_NAMESIZE || strpbrk(name, ",/ \t") != NULL)
		return err_set(
			e, EINVAL,
			"port '%s': '%s' cannot be an interface name (at most %d characters, no comma, slash or space)",
			spec, name, IF_NAMESIZE - 1);
	out->ifindex = (int)if_nametoindex(name);
	if (out->ifindex > 0) {
		int rc = kern_read(out);
		if (rc == 0)
			return 0;
		if (rc != -ENODEV)
			return err_set(e, ENODEV,
				       "port '%s': the kernel does not tell about interface %s: %s",
				       spec, name, strerror(-rc));
	}
	struct if_nameindex *list = if_nameindex();
	const char *names[256];
	struct sbuf all = {0};
	size_t n = 0;
	for (; list != NULL && list[n].if_index != 0 && n < ARRAY_SIZE(names); n++) {
		names[n] = list[n].if_name;
		if (n < 16)
			sbuf_addf(&all, "%s%s", n ? ", " : "", names[n]);
	}
	const char *near = str_nearest(name, names, n);
	err_set(e, ENODEV, "port '%s': there is no interface '%s'%s%s%s; there are: %s%s", spec,
		name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
		sbuf_str(&all), n > 16 ? ", ..." : "");
	sbuf_free(&all);
	if (list != NULL)
		if_freenameindex(list);
	return -ENODEV;
}

void kern_watch(struct kern_if *k)
{
	if (event_fd < 0)
		event_fd = nl_open(RTMGRP_LINK);
	k->next = watched;
	watched = k;
}

void kern_unwatch(struct kern_if *k)
{
	for (struct kern_if **p = &watched; *p != NULL; p = &(*p)->next) {
		if (*p == k) {
			*p = k->next;
			break;
		}
	}
	if (watched == NULL && event_fd >= 0) {
		close(event_fd);
		event_fd = -1;
	}
}

int kern_event_fd(void)
{
	return event_fd;
}

void kern_events(void)
{
	static uint8_t buf[NL_BUF] WR_ALIGNED(NLMSG_ALIGNTO);

	for (;;) {
		ssize_t n = event_fd >= 0 ? recv(event_fd, buf, sizeof(buf), MSG_DONTWAIT) : -1;
		if (n < 0 && event_fd >= 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (n <= 0)
			return;
		size_t left = (size_t)n;
		for (struct nlmsghdr *h = (struct nlmsghdr *)buf; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			const struct ifinfomsg *m = NLMSG_DATA(h);
			/* When an interface leaves a bridge, the bridge sends an RTM_DELLINK for
			 * it, of family AF_BRIDGE. The interface itself is still there. */
			if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
			    m->ifi_family != AF_UNSPEC)
				continue;
			for (struct kern_if *k = watched; k != NULL; k = k->next) {
				if (k->ifindex != m->ifi_index || k->gone ||
				    h->nlmsg_type != RTM_DELLINK)
					continue;
				read_link(h, k);
				k->gone = true;
			}
		}
	}
}

/* What kern_in_use() searches: the interface, and the first user of it that was found. beyond_link:
 * addresses that the kernel gives to every interface are none. */
struct users {
	const struct kern_if *k;
	bool beyond_link;
	char *why;
	size_t size;
	bool found;
};

static void user_addr(const struct nlmsghdr *h, void *arg)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct users *u = arg;
	int left = (int)IFA_PAYLOAD(h);
	char text[INET6_ADDRSTRLEN] = "";

	if (h->nlmsg_type != RTM_NEWADDR || (int)m->ifa_index != u->k->ifindex || u->found ||
	    (u->beyond_link && m->ifa_scope == RT_SCOPE_LINK))
		return;
	for (const struct rtattr *a = IFA_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && text[0] == '\0'))
			inet_ntop(m->ifa_family, RTA_DATA(a), text, sizeof(text));
	snprintf(u->why, u->size, "the address %s", text);
	u->found = true;
}

/* Writes an address into text. Returns whether it is a link-local one of IPv6. */
static bool user_of_link(int family, const void *ip, char *text, size_t size)
{
	const uint8_t *b = ip;

	inet_ntop(family, ip, text, (socklen_t)size);
	return family == AF_INET6 && b[0] == 0xfe && (b[1] & 0xc0) == 0x80;
}

static void user_route(const struct nlmsghdr *h, void *arg)
{
	const struct rtmsg *m = NLMSG_DATA(h);
	struct users *u = arg;
	int left = (int)RTM_PAYLOAD(h), oif = 0;
	char text[INET6_ADDRSTRLEN] = "default";
	bool to_link = false;

	if (h->nlmsg_type != RTM_NEWROUTE || m->rtm_type != RTN_UNICAST || u->found)
		return;
	for (const struct rtattr *a = RTM_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == RTA_OIF)
			memcpy(&oif, RTA_DATA(a), sizeof(oif));
		else if (a->rta_type == RTA_DST)
			to_link = user_of_link(m->rtm_family, RTA_DATA(a), text, sizeof(text));
	}
	if (oif != u->k->ifindex || (u->beyond_link && to_link))
		return;
	snprintf(u->why, u->size, "the route %s/%u", text, m->rtm_dst_len);
	u->found = true;
}

/* Finds VLAN and macvlan devices, which get their frames from this interface. A veth does not, but
 * it names its peer in the same attribute. */
static void user_upper(const struct nlmsghdr *h, void *arg)
{
	struct users *u = arg;
	struct kern_if upper = {0};
	const struct ifinfomsg *m = NLMSG_DATA(h);
	int left = (int)IFLA_PAYLOAD(h), lower = 0;

	if (h->nlmsg_type != RTM_NEWLINK || u->found)
		return;
	for (const struct rtattr *a = IFLA_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_LINK)
			memcpy(&lower, RTA_DATA(a), sizeof(lower));
		else if (a->rta_type == IFLA_LINK_NETNSID)
			return;
	if (lower != u->k->ifindex)
		return;
	read_link(h, &upper);
	if (strcmp(upper.kind, "veth") == 0 || upper.ifindex == u->k->ifindex)
		return;
	snprintf(u->why, u->size, "the device %s on top of it", upper.name);
	u->found = true;
}

static bool user_search(struct users *u)
{
	struct nl_req addr = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(addr.addr)),
				    .nlmsg_type = RTM_GETADDR,
				    .nlmsg_flags = NLM_F_DUMP}};
	struct nl_req link = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(link.link)),
				    .nlmsg_type = RTM_GETLINK,
				    .nlmsg_flags = NLM_F_DUMP}};

	nl_call(&addr, user_addr, u);
	for (int i = 0; i < 2 && !u->found; i++) {
		struct nl_req route = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(route.route)),
					     .nlmsg_type = RTM_GETROUTE,
					     .nlmsg_flags = NLM_F_DUMP},
				       .route = {.rtm_family =
							 (unsigned char)(i ? AF_INET6 : AF_INET)}};
		nl_call(&route, user_route, u);
	}
	if (!u->found && u->k->master != 0) {
		char name[IF_NAMESIZE] = "?";
		if_indextoname((unsigned)u->k->master, name);
		snprintf(u->why, u->size, "the bridge or bond %s", name);
		u->found = true;
	}
	if (!u->found)
		nl_call(&link, user_upper, u);
	return u->found;
}

bool kern_in_use(const struct kern_if *k, char *why, size_t size)
{
	return user_search(&(struct users){.k = k, .why = why, .size = size});
}

bool kern_in_use_beyond_link(const struct kern_if *k)
{
	char why[128];

	return user_search(
		&(struct users){.k = k, .beyond_link = true, .why = why, .size = sizeof(why)});
}

struct addr_sought {
	const struct kern_if *k;
	const uint8_t *ip;
	bool found;
};

static void sought_addr(const struct nlmsghdr *h, void *arg)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct addr_sought *s = arg;
	int left = (int)IFA_PAYLOAD(h);
	uint8_t ip[16] = {[10] = 0xff, [11] = 0xff};
	bool own = false; /* IFA_LOCAL is the address where both are there */

	if (h->nlmsg_type != RTM_NEWADDR || (int)m->ifa_index != s->k->ifindex)
		return;
	for (const struct rtattr *a = IFA_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		size_t n = m->ifa_family == AF_INET ? 4 : 16;
		if ((a->rta_type != IFA_LOCAL && (a->rta_type != IFA_ADDRESS || own)) ||
		    RTA_PAYLOAD(a) != n)
			continue;
		own = a->rta_type == IFA_LOCAL;
		memcpy(ip + 16 - n, RTA_DATA(a), n);
	}
	s->found |= memcmp(ip, s->ip, 16) == 0;
}

bool kern_has_addr(const struct kern_if *k, const uint8_t ip[16])
{
	struct addr_sought s = {.k = k, .ip = ip};
	struct nl_req addr = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(addr.addr)),
				    .nlmsg_type = RTM_GETADDR,
				    .nlmsg_flags = NLM_F_DUMP}};

	nl_call(&addr, sought_addr, &s);
	return s.found;
}

bool kern_forwards(const struct kern_if *k, bool six)
{
	char path[96], on = '0';

	/* IPv6 is forwarded by one switch for all interfaces */
	snprintf(path, sizeof(path), "/proc/sys/net/ipv%d/conf/%s/forwarding", six ? 6 : 4,
		 six ? "all" : k->name);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fread(&on, 1, 1, f) != 1)
		on = '0';
	fclose(f);
	return on != '0';
}

static int set_u32(const char *name, int type, uint32_t value)
{
	struct nl_req r = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(r.link)),
				 .nlmsg_type = RTM_NEWLINK},
			   .link = {.ifi_index = (int)if_nametoindex(name)}};

	if (r.link.ifi_index == 0)
		return -ENODEV;
	req_attr(&r, type, &value, sizeof(value));
	return nl_call(&r, NULL, NULL);
}

int kern_set_mtu(const char *name, unsigned mtu)
{
	return set_u32(name, IFLA_MTU, mtu);
}

int kern_set_txqlen(const char *name, unsigned len)
{
	return set_u32(name, IFLA_TXQLEN, len);
}

int kern_xdp_detach(const struct kern_if *k, uint32_t prog)
{
	union bpf_attr by_id = {.prog_id = prog};
	int none = -1,
	    expected = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &by_id, sizeof(by_id));
	uint32_t flags = XDP_FLAGS_REPLACE;
	uint8_t nest[64];
	size_t len = 0;

	if (expected < 0)
		return -errno;
	if (k->xdp_mode == XDP_ATTACHED_SKB)
		flags |= XDP_FLAGS_SKB_MODE;
	else if (k->xdp_mode == XDP_ATTACHED_DRV)
		flags |= XDP_FLAGS_DRV_MODE;
	else if (k->xdp_mode == XDP_ATTACHED_HW)
		flags |= XDP_FLAGS_HW_MODE;
	struct {
		int type;
		const void *data;
	} in[] = {
		{IFLA_XDP_FD, &none},
		{IFLA_XDP_FLAGS, &flags},
		{IFLA_XDP_EXPECTED_FD, &expected},
	};
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		struct rtattr *a = (struct rtattr *)(nest + len);
		a->rta_type = (unsigned short)in[i].type;
		a->rta_len = RTA_LENGTH(sizeof(int));
		memcpy(RTA_DATA(a), in[i].data, sizeof(int));
		len += RTA_ALIGN(a->rta_len);
	}
	struct nl_req r = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(r.link)),
				 .nlmsg_type = RTM_SETLINK},
			   .link = {.ifi_index = k->ifindex}};
	req_attr(&r, IFLA_XDP | NLA_F_NESTED, nest, len);
	int rc = nl_call(&r, NULL, NULL);
	close(expected);
	return rc;
}

bool kern_cap(enum kern_cap cap)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	if (syscall(SYS_capget, &h, d) != 0)
		return geteuid() == 0;
	return d[cap / 32].effective >> (cap % 32) & 1;
}
