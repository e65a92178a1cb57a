/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of connections by the kernel's sockets, as light as one thread and epoll can be, so
 * that in a comparison the other end is what is measured:
 *
 *   kpeer serve              TCP port 7 gives back what it gets; port 8 too, and then closes;
 *                            UDP port 7 gives each datagram back
 *   kpeer rr ADDRESS N MS    N connections to port 7, on each one byte at a time there and back
 *   kpeer crr ADDRESS N MS   N at a time to port 8: open, one byte there and back, and the end
 *   kpeer get ADDRESS PATH MS   asks port 80 for PATH by HTTP, again and again on one connection
 *
 * A client prints how many it has done in MS ms, and how many failed; `get` counts bytes, and has
 * the kernel throw them away without copying them (MSG_TRUNC). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT_STAYS 7
#define PORT_CLOSES 8
#define EVENTS 256
#define MOST 4096 /* connections of a client */

/* What an event is about. */
enum what { LISTEN_STAYS, LISTEN_CLOSES, DATAGRAMS, STAYS, CLOSES };
static uint64_t tag(enum what what, int fd)
{
	return (uint64_t)what << 32 | (uint32_t)fd;
}

static void die(const char *what)
{
	fprintf(stderr, "kpeer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void watch(int ep, int fd, uint32_t events, uint64_t data)
{
	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd,
		      &(struct epoll_event){.events = events, .data.u64 = data}) != 0)
		die("epoll_ctl");
}

static void no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		die("TCP_NODELAY");
}

/* ---- the server ---- */

static int bound(int type, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    (type == SOCK_STREAM && listen(fd, 4096) != 0))
		die("listen");
	return fd;
}

static void take(int ep, int fd, enum what what)
{
	int c;

	while ((c = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		no_delay(c);
		watch(ep, c, EPOLLIN, tag(what, c));
	}
}

static void answer(int fd, bool ends)
{
	char data[4096];
	ssize_t n = recv(fd, data, sizeof(data), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || send(fd, data, (size_t)n, MSG_NOSIGNAL | (ends ? MSG_MORE : 0)) != n || ends)
		close(fd);
}

static void answer_datagrams(int fd)
{
	struct sockaddr_in a;
	char data[2048];
	socklen_t len = sizeof(a);
	ssize_t n;

	while ((n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&a, &len)) >= 0) {
		sendto(fd, data, (size_t)n, 0, (struct sockaddr *)&a, len);
		len = sizeof(a);
	}
}

static _Noreturn void serve(void)
{
	struct epoll_event e[EVENTS];
	int ep = epoll_create1(EPOLL_CLOEXEC), stays = bound(SOCK_STREAM, PORT_STAYS),
	    closes = bound(SOCK_STREAM, PORT_CLOSES), udp = bound(SOCK_DGRAM, PORT_STAYS);

	watch(ep, stays, EPOLLIN, tag(LISTEN_STAYS, stays));
	watch(ep, closes, EPOLLIN, tag(LISTEN_CLOSES, closes));
	watch(ep, udp, EPOLLIN, tag(DATAGRAMS, udp));
	puts("serves");
	fflush(stdout);
	for (;;) {
		int n = epoll_wait(ep, e, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			int fd = (int)(uint32_t)e[i].data.u64;
			enum what what = (enum what)(e[i].data.u64 >> 32);
			if (what == LISTEN_STAYS || what == LISTEN_CLOSES)
				take(ep, fd, what == LISTEN_STAYS ? STAYS : CLOSES);
			else if (what == DATAGRAMS)
				answer_datagrams(fd);
			else
				answer(fd, what == CLOSES);
		}
	}
}

/* ---- the client ---- */

struct client {
	int ep;
	struct sockaddr_in to;
	bool closes;
	uint64_t done, failed;
	enum { OPENS, ASKS, ANSWERED } state[MOST + 64]; /* by descriptor */
};

static void ask(struct client *c, int fd)
{
	char byte = 'x';

	c->state[fd] = ASKS;
	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
		c->failed++;
}

static void begin(struct client *c)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || fd >= MOST + 64)
		die("socket");
	no_delay(fd);
	if (connect(fd, (struct sockaddr *)&c->to, sizeof(c->to)) != 0 && errno != EINPROGRESS)
		die("connect");
	c->state[fd] = OPENS;
	/* each of both is told when it begins: nothing has to be asked for again */
	watch(c->ep, fd, EPOLLIN | EPOLLOUT | EPOLLET, (uint64_t)(uint32_t)fd);
}

static void came(struct client *c, int fd)
{
	char data[64];
	ssize_t n = recv(fd, data, sizeof(data), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0 && !c->closes) {
		c->done++;
		ask(c, fd);
		return;
	}
	if (n > 0) {
		c->state[fd] = ANSWERED;
		/* the end has often come with it */
		n = recv(fd, data, sizeof(data), 0);
		if (n < 0 && errno == EAGAIN)
			return;
	}
	if (n == 0 && c->state[fd] == ANSWERED)
		c->done++;
	else
		c->failed++;
	close(fd);
	begin(c);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Counts begin when a fifth of the time is over. */
static int ask_all(bool closes, const char *address, int n, int ms)
{
	static struct client c;
	struct epoll_event e[EVENTS];
	uint64_t start, warm = 0, began = 0, now;

	c.to = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(closes ? PORT_CLOSES : PORT_STAYS)};
	c.closes = closes;
	c.ep = epoll_create1(EPOLL_CLOEXEC);
	if (inet_pton(AF_INET, address, &c.to.sin_addr) != 1 || n < 1 || n > MOST || ms < 10) {
		fprintf(stderr, "kpeer: an IPv4 address, 1 to %d connections, at least 10 ms\n",
			MOST);
		return 2;
	}
	start = now_ms();
	for (int i = 0; i < n; i++)
		begin(&c);
	while ((now = now_ms()) < start + (uint64_t)ms + (uint64_t)ms / 5) {
		if (began == 0 && now >= start + (uint64_t)ms / 5) {
			began = now;
			warm = c.done;
		}
		int k = epoll_wait(c.ep, e, EVENTS, 10);
		for (int i = 0; i < k; i++) {
			int fd = (int)(uint32_t)e[i].data.u64;
			if (c.state[fd] == OPENS && (e[i].events & (EPOLLERR | EPOLLHUP)) == 0)
				ask(&c, fd);
			else if ((e[i].events & ~(uint32_t)EPOLLOUT) != 0)
				came(&c, fd);
		}
	}
	printf("%lu %lu %lu\n", (unsigned long)(c.done - warm), (unsigned long)(now - began),
	       (unsigned long)c.failed);
	return 0;
}

/* ---- what comes in bulk ---- */

#define TAKE (1u << 20)

/* Reads the head of an answer. Returns what its body lacks. */
static uint64_t get_head(int fd)
{
	char data[4096], *end = NULL, *length;
	ssize_t n = 0, got;

	while (end == NULL) {
		got = recv(fd, data + n, sizeof(data) - 1 - (size_t)n, 0);
		if (got <= 0)
			die("recv");
		n += got;
		data[n] = '\0';
		end = strstr(data, "\r\n\r\n");
	}
	length = strcasestr(data, "\r\ncontent-length:");
	if (strncmp(data, "HTTP/1.1 200", 12) != 0 || length == NULL || length > end) {
		fprintf(stderr, "kpeer: no 200 with a Content-Length: %.80s\n", data);
		exit(1);
	}
	return strtoull(length + 17, NULL, 10) - (uint64_t)(data + n - (end + 4));
}

static int get(const char *address, const char *path, int ms)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t start = now_ms(), warm = 0, began = 0, now, done = 0, left = 0;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 || ms < 10) {
		fprintf(stderr, "kpeer: an IPv4 address, a path, at least 10 ms\n");
		return 2;
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		die("connect");
	while ((now = now_ms()) < start + (uint64_t)ms + (uint64_t)ms / 5) {
		if (began == 0 && now >= start + (uint64_t)ms / 5) {
			began = now;
			warm = done;
		}
		if (left == 0) {
			if (dprintf(fd, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, address) < 0)
				die("send");
			left = get_head(fd);
		}
		ssize_t n = recv(fd, NULL, left < TAKE ? left : TAKE, MSG_TRUNC);
		if (n <= 0)
			die("recv");
		left -= (uint64_t)n;
		done += (uint64_t)n;
	}
	printf("%lu %lu 0\n", (unsigned long)(done - warm), (unsigned long)(now - began));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		serve();
	if (argc == 5 && (strcmp(argv[1], "rr") == 0 || strcmp(argv[1], "crr") == 0))
		return ask_all(argv[1][0] == 'c', argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc == 5 && strcmp(argv[1], "get") == 0)
		return get(argv[2], argv[3], atoi(argv[4]));
	fprintf(stderr, "usage: kpeer serve | kpeer rr|crr ADDRESS CONNECTIONS MS | "
			"kpeer get ADDRESS PATH MS\n");
	return 2;
}
