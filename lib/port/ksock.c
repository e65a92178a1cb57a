/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of AF_PACKET and AF_XDP: those behind ports, and our own one beside them. */
#include "ksock.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef SOL_XDP
#define SOL_XDP 283
#endif

static int int_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static bool of_family(int fd, int family)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == family;
}

/* Writes the descriptors of sockets of one address family that want() accepts (NULL: all) into fds,
 * ascending, at most max. Returns how many there are in fds. */
static unsigned family_fds(int family, bool (*want)(int fd, int arg), int arg, int *fds,
			   unsigned max)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	if (d == NULL) {
		/* A program with file capabilities may not read its own /proc. */
		for (int fd = 0; fd < 65536 && n < max; fd++)
			if (of_family(fd, family) && (want == NULL || want(fd, arg)))
				fds[n++] = fd;
		return n;
	}
	for (struct dirent *de; n < max && (de = readdir(d)) != NULL;) {
		char *end;
		int fd = (int)strtol(de->d_name, &end, 10);
		if (*end == '\0' && end != de->d_name && of_family(fd, family) &&
		    (want == NULL || want(fd, arg)))
			fds[n++] = fd;
	}
	closedir(d);
	qsort(fds, n, sizeof(*fds), int_cmp);
	return n;
}

static bool bound_to(int fd, int ifindex)
{
	struct sockaddr_ll sa = {0};
	socklen_t len = sizeof(sa);

	return getsockname(fd, (struct sockaddr *)&sa, &len) == 0 && sa.sll_ifindex == ifindex;
}

unsigned ksock_packet_fds(int ifindex, int *fds, unsigned max)
{
	return family_fds(AF_PACKET, bound_to, ifindex, fds, max);
}

unsigned ksock_xdp_fds(int *fds, unsigned max)
{
	return family_fds(AF_XDP, NULL, 0, fds, max);
}

static int ksock_attach(int fd, struct sock_filter *code, unsigned short n)
{
	struct sock_fprog prog = {.len = n, .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) == 0 ? 0 : -errno;
}

#define LOAD_PKTTYPE BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE))

int ksock_filter(int fd, bool in)
{
	struct sock_filter code[] = {
		LOAD_PKTTYPE,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, in ? UINT32_MAX : 0),
	};
	return ksock_attach(fd, code, ARRAY_SIZE(code));
}

uint64_t ksock_packet_drops(int fd)
{
	struct tpacket_stats st = {0};
	socklen_t len = sizeof(st);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0 ? st.tp_drops : 0;
}

bool ksock_xdp_drops(int fd, uint64_t *drops)
{
	struct xdp_statistics st = {0};
	socklen_t len = sizeof(st);

	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &st, &len) != 0)
		return false;
	*drops = st.rx_dropped + st.rx_ring_full;
	return true;
}

void ksock_no_wait(int fd)
{
	int most = INT32_MAX / 2;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &most, sizeof(most)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
}

void ksock_room(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

#define OUR_MARK 0x77726174u
void ksock_mark(int fd)
{
	uint32_t mark = OUR_MARK;

	setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

void ksock_kick(int fd)
{
	ssize_t n = sendto(fd, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);

	(void)n;
}

int ksock_tap_open(int ifindex)
{
	/* The filter passes one byte of each frame that the host sends, which is enough to count
	 * it. The socket is bound after the filter is set, so that frames from outside never cost a
	 * copy. */
	struct sock_filter code[] = {
		LOAD_PKTTYPE,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_MARK)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_MARK, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = ifindex};
	int least = 0, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	int rc = ksock_attach(fd, code, ARRAY_SIZE(code));
	/* frames for which the socket has no room are counted too, so it needs none */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	if (rc == 0 && bind(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0)
		rc = -errno;
	if (rc != 0) {
		close(fd);
		return rc;
	}
	return fd;
}

uint64_t ksock_tap_sent(int fd)
{
	struct tpacket_stats st = {0};
	socklen_t len = sizeof(st);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0 ? st.tp_packets : 0;
}

static int ksock_member(int fd, const struct packet_mreq *m, bool on)
{
	return setsockopt(fd, SOL_PACKET, on ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP, m,
			  sizeof(*m)) == 0
		       ? 0
		       : -errno;
}

int ksock_promisc(int fd, int ifindex, bool on)
{
	return ksock_member(
		fd, &(struct packet_mreq){.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC}, on);
}

int ksock_join(int fd, int ifindex, const uint8_t mac[6], bool on)
{
	struct packet_mreq m = {.mr_ifindex = ifindex,
				.mr_type = PACKET_MR_MULTICAST,
				.mr_alen = 6};

	memcpy(m.mr_address, mac, 6);
	return ksock_member(fd, &m, on);
}
