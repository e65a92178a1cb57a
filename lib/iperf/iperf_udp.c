/* SPDX-License-Identifier: BSD-3-Clause */
#include "iperf_udp.h"
#include "iperf_wl.h"
#include "spin.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long a thread may not look whether it is to stop. */
#define NAP_NS 20000000ull
#define NAP_MS 20
#define IDLE_BURST 10 /* without a rate: datagrams between two looks */

struct iperf_udp {
	const struct iperf_udp_conf *conf;
	int fd;
	bool sends, running;
	pthread_t id;
	uint8_t *buffer;
	struct iperf_seq seq;
	cell_t bytes, packets, lost, unordered, jitter; /* jitter: the bits of a double */
};

static uint64_t clock_us(clockid_t which)
{
	struct timespec ts;

	clock_gettime(which, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static bool udp_stopped(const struct iperf_udp *u)
{
	return __atomic_load_n(u->conf->stop, __ATOMIC_ACQUIRE);
}

/* ---- sending ---- */

/* One datagram. false: nothing is left to send. */
static bool udp_put(struct iperf_udp *u)
{
	const struct iperf_udp_conf *c = u->conf;
	uint64_t number = u->packets + 1;

	/* the last one is as long as the others, as those of iperf3 are */
	if (iperf_take_left(c->left, c->blksize) == 0)
		return false;
	for (;;) {
		iperf_udp_put(u->buffer, clock_us(CLOCK_REALTIME), number, c->wide);
		if (send(u->fd, u->buffer, c->blksize, 0) >= 0)
			break;
		if (udp_stopped(u))
			return false;
		/* a peer that has no socket any more says so, and that is no end of the test */
		struct pollfd p = {.fd = u->fd, .events = POLLOUT};
		if (errno == EAGAIN)
			poll(&p, 1, NAP_MS);
		else if (errno == ENOBUFS || errno == ECONNREFUSED)
			usleep(1000);
		else if (errno != EINTR)
			return false;
	}
	cell_set(&u->packets, number);
	cell_add(&u->bytes, c->blksize);
	return true;
}

/* Sleeps until `due`, but at most a nap. Returns whether it is due. */
static bool udp_sleep(uint64_t due_ns)
{
	uint64_t now = sock_now_ns(), until = due_ns;
	struct timespec ts;

	if (now >= due_ns)
		return true;
	if (until > now + NAP_NS)
		until = now + NAP_NS;
	ts.tv_sec = (time_t)(until / 1000000000);
	ts.tv_nsec = (long)(until % 1000000000);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return until == due_ns;
}

static void udp_sender(struct iperf_udp *u)
{
	const struct iperf_udp_conf *c = u->conf;
	uint64_t start = sock_now_ns();
	uint32_t burst = c->burst != 0 ? c->burst : c->rate == 0 ? IDLE_BURST : 1;
	double ns_each = c->rate == 0 ? 0 : (double)c->blksize * 8e9 / (double)c->rate;

	while (!udp_stopped(u)) {
		/* what it sends after a pause makes up for it: the mean is the rate */
		if (c->rate != 0 && !udp_sleep(start + (uint64_t)((double)u->packets * ns_each)))
			continue;
		for (uint32_t i = 0; i < burst; i++)
			if (!udp_put(u))
				goto spent;
	}
spent:
	while (!udp_stopped(u))
		usleep(NAP_MS * 1000);
}

/* ---- receiving ---- */

static void udp_tell(struct iperf_udp *u, ssize_t n)
{
	uint64_t jitter;

	memcpy(&jitter, &u->seq.jitter_s, sizeof(jitter));
	cell_add(&u->bytes, (uint64_t)n);
	cell_set(&u->packets, u->seq.packets);
	cell_set(&u->lost, (uint64_t)u->seq.lost);
	cell_set(&u->unordered, u->seq.unordered);
	cell_set(&u->jitter, jitter);
}

static void udp_wait(struct iperf_udp *u, struct sock_spin *s)
{
	struct pollfd p = {.fd = u->fd, .events = POLLIN};
	uint64_t now = sock_now_ns();

	if (sock_spin_looks(s, now))
		return;
	poll(&p, 1, NAP_MS);
	sock_spin_slept(s, sock_now_ns() - now);
}

static void udp_receiver(struct iperf_udp *u)
{
	struct sock_spin spin = {0};

	while (!udp_stopped(u)) {
		ssize_t n = recv(u->fd, u->buffer, IPERF_UDP_MOST, MSG_DONTWAIT);
		if (n < 0) {
			if (errno == EAGAIN)
				udp_wait(u, &spin);
			else if (errno != EINTR)
				usleep(1000);
			continue;
		}
		sock_spin_came(&spin);
		if (iperf_seq_seen(&u->seq, u->buffer, (size_t)n, u->conf->wide,
				   clock_us(CLOCK_REALTIME)))
			udp_tell(u, n);
	}
}

static void *udp_main(void *arg)
{
	struct iperf_udp *u = arg;

	if (u->sends)
		udp_sender(u);
	else
		udp_receiver(u);
	return NULL;
}

/* ---- control ---- */

struct iperf_udp *iperf_udp_start(int fd, bool sends, const struct iperf_udp_conf *conf,
				  struct err *e)
{
	struct iperf_udp *u = xcalloc(1, sizeof(*u));
	sigset_t all, before;
	int rc;

	*u = (struct iperf_udp){.conf = conf, .fd = fd, .sends = sends};
	u->buffer = xcalloc(1, IPERF_UDP_MOST);
	for (uint32_t i = 0; i < IPERF_UDP_MOST; i++)
		u->buffer[i] = (uint8_t)('0' + i % 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&u->id, NULL, udp_main, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		err_set(e, rc, "no further thread can be made: %s", strerror(rc));
		iperf_udp_free(u);
		return NULL;
	}
	u->running = true;
	return u;
}

void iperf_udp_look(const struct iperf_udp *u, struct iperf_now *now)
{
	uint64_t jitter = cell_get(&u->jitter);

	now->bytes = cell_get(&u->bytes);
	now->packets = cell_get(&u->packets);
	now->lost = (int64_t)cell_get(&u->lost);
	now->unordered = cell_get(&u->unordered);
	memcpy(&now->jitter_s, &jitter, sizeof(jitter));
}

void iperf_udp_join(struct iperf_udp *u)
{
	if (u->running)
		pthread_join(u->id, NULL);
	u->running = false;
}

void iperf_udp_free(struct iperf_udp *u)
{
	if (u == NULL)
		return;
	close(u->fd);
	free(u->buffer);
	free(u);
}
