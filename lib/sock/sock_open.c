/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets, and what is asked of the kernel for them. */
#include "sock.h"

#include <errno.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One option of a socket: where it is not 0 it is set. */
struct tune_row {
	int level, option;
	const char *name;
	int value;
};

static int tune_rows(int fd, const struct tune_row *row, unsigned n, struct err *e)
{
	for (unsigned i = 0; i < n; i++)
		if (row[i].value != 0 &&
		    setsockopt(fd, row[i].level, row[i].option, &row[i].value, sizeof(int)) != 0)
			return err_set(e, errno, "the kernel refuses %s %d: %s", row[i].name,
				       row[i].value, strerror(errno));
	return 0;
}

static int tune_pacing(int fd, uint64_t bytes_per_s, struct err *e)
{
	if (bytes_per_s != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)) != 0)
		return err_set(e, errno, "the kernel refuses SO_MAX_PACING_RATE: %s",
			       strerror(errno));
	return 0;
}

int sock_tune_open(int fd, const struct sock_tune *t, struct err *e)
{
	const struct linger rst = {.l_onoff = 1, .l_linger = 0};
	const struct tune_row tcp[] = {
		{IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY", t->no_delay},
		{IPPROTO_TCP, TCP_TX_DELAY, "TCP_TX_DELAY", t->tx_delay_us},
	};
	int rc = tune_pacing(fd, t->pacing, e);

	if (rc != 0 || t->udp)
		return rc;
	if (t->rst)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &rst, sizeof(rst));
	rc = tune_rows(fd, tcp, ARRAY_SIZE(tcp), e);
	if (rc == 0 && t->congestion != NULL &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, t->congestion,
		       (socklen_t)strlen(t->congestion)) != 0)
		return err_set(e, errno,
			       "the kernel has no congestion control '%s' for us: %s; "
			       "net.ipv4.tcp_available_congestion_control lists those that it has",
			       t->congestion, strerror(errno));
	return rc;
}

/* What counts from the first packet on. */
static int tune_before(int fd, int family, const struct sock_tune *t, struct err *e)
{
	bool v6 = family == AF_INET6;
	const struct tune_row rows[] = {
		{SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR", t->reuse_addr},
		{SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT", t->reuse_port},
		{SOL_SOCKET, SO_DEBUG, "SO_DEBUG", t->debug},
		{SOL_SOCKET, SO_MARK, "SO_MARK", t->mark},
		{SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF", t->send_buf},
		{SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF", t->recv_buf},
		{IPPROTO_IP, IP_FREEBIND, "IP_FREEBIND", t->freebind},
		{v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, "the TOS byte", t->tos},
		{IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY", v6 && t->v6_only},
		{IPPROTO_TCP, TCP_MAXSEG, "TCP_MAXSEG", t->udp ? 0 : t->mss},
	};
	int rc = tune_rows(fd, rows, ARRAY_SIZE(rows), e);

	if (rc == 0 && t->device != NULL &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, t->device, (socklen_t)strlen(t->device)) !=
		    0)
		rc = err_set(e, errno, "the socket cannot be bound to the device '%s': %s",
			     t->device, strerror(errno));
	return rc;
}

static int open_socket(const struct sock_addr *a, const struct sock_tune *t, struct err *e)
{
	int type = t->udp ? SOCK_DGRAM : SOCK_STREAM, rc;
	int fd = socket(a->sa.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(e, errno, "no socket: %s%s", strerror(errno),
			       errno == EMFILE ? "; `ulimit -n` allows more" : "");
	rc = tune_before(fd, a->sa.any.sa_family, t, e);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Closes the socket, and says why it is of no use. */
static int open_unusable(int fd, const struct sock_addr *a, const char *what, struct err *e)
{
	struct sbuf text = {0};
	int code = errno;

	close(fd);
	sock_addr_print(a, &text);
	err_set(e, code, "cannot %s %s: %s%s", what, sbuf_str(&text), strerror(code),
		code == EADDRINUSE ? "; another program has it, or this one twice"
		: code == EACCES   ? "; ports below 1024 need rights"
				   : "");
	sbuf_free(&text);
	return -code;
}

int sock_listen(const struct sock_addr *a, const struct sock_tune *t, struct err *e)
{
	int fd = open_socket(a, t, e);

	if (fd < 0)
		return fd;
	if (bind(fd, &a->sa.any, a->len) != 0 || listen(fd, t->backlog > 0 ? t->backlog : 128) != 0)
		return open_unusable(fd, a, "listen on", e);
	return fd;
}

int sock_bind(const struct sock_addr *a, const struct sock_tune *t, struct err *e)
{
	int fd = open_socket(a, t, e);

	if (fd >= 0 && bind(fd, &a->sa.any, a->len) != 0)
		return open_unusable(fd, a, "take datagrams at", e);
	return fd;
}

int sock_connect(const struct sock_addr *to, const struct sock_addr *from,
		 const struct sock_tune *t, struct err *e)
{
	const int on = 1;
	int fd = open_socket(to, t, e);

	if (fd < 0)
		return fd;
	if (t->fastopen && !t->udp)
		setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on));
	if (from != NULL && from->len != 0) {
		/* with port 0 the port is chosen when the other end is known */
		if (sock_addr_port(from) == 0)
			setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
		if (bind(fd, &from->sa.any, from->len) != 0)
			return open_unusable(fd, from, "send from", e);
	}
	if (connect(fd, &to->sa.any, to->len) != 0 && errno != EINPROGRESS)
		return open_unusable(fd, to, "connect to", e);
	return fd;
}
