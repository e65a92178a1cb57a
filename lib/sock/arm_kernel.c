/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's sockets as an arm (arm.h). */
#include "arm.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kernel {
	struct arm base;
	struct loop *loop;
};

struct arm_data {
	struct kernel *of;
	struct arm_conf conf;
	struct sock_spec spec;
	struct sock_arm *arm;
};

/* Both families by one socket, where no address was given and the machine has IPv6. */
static int kernel_server_at(struct arm *a, const char *host, unsigned port, int family,
			    struct sock_addr *out, struct err *e)
{
	int rc;

	(void)a;
	if (*host == '\0' && family == AF_UNSPEC) {
		int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
		family = fd >= 0 ? AF_INET6 : AF_INET;
		if (fd >= 0)
			close(fd);
	}
	rc = sock_resolve(host, port, family, out, 1, e);
	return rc < 0 ? rc : 0;
}

static int kernel_reach(struct arm *a, struct sock_addr *list, unsigned n, struct err *e)
{
	(void)a, (void)list, (void)e;
	return (int)n;
}

static struct chan *kernel_connect(struct arm *a, const struct sock_addr *to,
				   const struct sock_addr *from, const struct sock_tune *tune,
				   const struct chan_ops *ops, void *arg, struct err *e)
{
	return chan_connect(((struct kernel *)a)->loop, to, from, tune, ops, arg, e);
}

static struct arm_listener *kernel_listen(struct arm *a, const struct sock_addr *at,
					  const struct sock_tune *tune, arm_accept_fn *fn,
					  void *arg, struct err *e)
{
	return (struct arm_listener *)chan_listen(((struct kernel *)a)->loop, at, tune, fn, arg, e);
}

static struct chan *kernel_take(struct arm *a, arm_offer fd, const struct chan_ops *ops, void *arg)
{
	return chan_take(((struct kernel *)a)->loop, fd, ops, arg);
}

static void kernel_refuse(struct arm *a, arm_offer fd)
{
	(void)a;
	close(fd);
}

static void kernel_unlisten(struct arm *a, struct arm_listener *l)
{
	(void)a;
	chan_listener_free((struct chan_listener *)l);
}

static unsigned kernel_mss(struct arm *a, const struct chan *chan)
{
	int mss = 0;
	socklen_t n = sizeof(mss);

	(void)a;
	if (chan == NULL || getsockopt(chan_fd(chan), IPPROTO_TCP, TCP_MAXSEG, &mss, &n) != 0)
		return 0;
	return (unsigned)mss;
}

/* ---- data ---- */

static struct sock_line *kernel_next(const void *of, const struct sock_line *before)
{
	return sock_line_next(of, before);
}

static void kernel_tick(void *arg, struct sock_thread *thread, uint64_t now_ns, bool last)
{
	const struct arm_data *d = arg;
	const struct arm_thread t = {sock_thread_number(thread), thread, kernel_next};

	d->conf.tick(d->conf.sock.arg, &t, now_ns, last);
}

static struct arm_data *kernel_data(struct arm *a, const struct arm_conf *conf, struct err *e)
{
	struct arm_data *d = xcalloc(1, sizeof(*d));
	struct sock_conf sock = conf->sock;

	(void)e;
	*d = (struct arm_data){.of = (struct kernel *)a, .conf = *conf};
	if (conf->spec != NULL)
		d->spec = *conf->spec;
	sock.tick = conf->tick != NULL ? kernel_tick : NULL;
	sock.arg = d;
	d->arm = sock_new(&sock);
	return d;
}

static int kernel_add(struct arm_data *d, unsigned thread, const struct sock_addr *to,
		      const struct sock_addr *from, struct err *e)
{
	(void)e;
	sock_add(d->arm, thread, &d->spec, to, from);
	return 0;
}

static int kernel_serve(struct arm_data *d, unsigned thread, const struct sock_addr *at,
			struct err *e)
{
	int fd = d->spec.tune.udp ? sock_bind(at, &d->spec.tune, e)
				  : sock_listen(at, &d->spec.tune, e);

	if (fd < 0)
		return fd;
	sock_serve(d->arm, thread, &d->spec, fd);
	return 0;
}

static void kernel_adopt(struct arm_data *d, unsigned thread, const struct sock_spec *spec, int fd)
{
	sock_adopt(d->arm, thread, spec, fd, NULL, 0);
}

static int kernel_start(struct arm_data *d, struct err *e)
{
	return sock_start(d->arm, e);
}

static void kernel_go(struct arm_data *d)
{
	sock_go(d->arm);
}

static void kernel_stop(struct arm_data *d)
{
	if (d != NULL)
		sock_stop(d->arm);
}

static void kernel_free(struct arm_data *d)
{
	if (d == NULL)
		return;
	sock_free(d->arm);
	free(d);
}

static void kernel_later(struct arm *a, void (*fn)(void *arg), void *arg)
{
	(void)a;
	fn(arg);
}

static void kernel_watch(struct arm_data *d, loop_fd_fn *fn, void *arg)
{
	loop_fd(d->of->loop, sock_event_fd(d->arm), fn != NULL ? POLLIN : 0, fn, arg);
}

static unsigned kernel_events(struct arm_data *d)
{
	return sock_events(d->arm);
}

static bool kernel_error(struct arm_data *d, struct err *e)
{
	return sock_error(d->arm, e);
}

static void kernel_each(struct arm_data *d, void (*fn)(void *arg, struct sock_line *), void *arg)
{
	sock_each(d->arm, fn, arg);
}

static bool kernel_info(struct arm_data *d, const struct sock_line *l, struct sock_info *out)
{
	(void)d;
	return sock_line_info(l, out);
}

static uint64_t kernel_mapped(struct arm_data *d, const struct sock_line *l)
{
	(void)d;
	return sock_line_mapped(l);
}

static void kernel_ends(struct arm_data *d, const struct sock_line *l, struct sock_addr *own,
			struct sock_addr *peer)
{
	(void)d;
	sock_ends(l->fd, own, peer);
}

static void kernel_count_open(void *arg, struct sock_line *l)
{
	*(unsigned *)arg += l->fd >= 0;
}

static unsigned kernel_alive(struct arm_data *d)
{
	unsigned open = 0;

	sock_each(d->arm, kernel_count_open, &open);
	return open;
}

static uint64_t kernel_no_time(struct arm_data *d)
{
	(void)d;
	return 0;
}

/* ---- what carries the connections ---- */

/* The interface that has the address by which a line goes out. */
static void say_device(const struct sock_line *l, arm_say_fn *say, void *arg)
{
	struct sock_addr own = {.len = sizeof(own.sa)};
	struct ifaddrs *list;

	if (getsockname(l->fd, &own.sa.any, &own.len) != 0 || getifaddrs(&list) != 0)
		return;
	sock_addr_set_port(&own, 0);
	for (const struct ifaddrs *i = list; i != NULL; i = i->ifa_next) {
		struct sock_addr a = {.len = own.len};
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != own.sa.any.sa_family)
			continue;
		memcpy(&a.sa, i->ifa_addr, own.len);
		if (sock_addr_same(&a, &own)) {
			say(arg, "device", i->ifa_name, false);
			break;
		}
	}
	freeifaddrs(list);
}

/* The least time after which the kernel sends again, unless the route says another one. */
static void say_rto(arm_say_fn *say, void *arg)
{
	FILE *f = fopen("/proc/sys/net/ipv4/tcp_rto_min_us", "re");
	long us = 200000;
	char text[32];

	if (f != NULL) {
		if (fscanf(f, "%ld", &us) != 1)
			us = 200000;
		fclose(f);
	}
	snprintf(text, sizeof(text), "%.6f", (double)us / 1e6);
	say(arg, "rto_floor", text, true);
}

static void say_some(void *arg, struct sock_line *l)
{
	struct sock_info info;

	if (sock_line_info(l, &info))
		*(const struct sock_line **)arg = l;
}

static void kernel_say(struct arm_data *d, arm_say_fn *say, void *arg)
{
	const struct sock_line *some = NULL;
	char name[32] = "";
	socklen_t len = sizeof(name);

	say(arg, "stack", "kernel", false);
	sock_each(d->arm, say_some, &some);
	if (some == NULL)
		return;
	say_device(some, say, arg);
	if (getsockopt(some->fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0)
		say(arg, "congestion", name, false);
	say_rto(say, arg);
}

static const struct arm_ops kernel_ops = {
	.name = "kernel",
	.server_at = kernel_server_at,
	.reach = kernel_reach,
	.connect = kernel_connect,
	.listen = kernel_listen,
	.take = kernel_take,
	.refuse = kernel_refuse,
	.unlisten = kernel_unlisten,
	.mss = kernel_mss,
	.data = kernel_data,
	.add = kernel_add,
	.serve = kernel_serve,
	.adopt = kernel_adopt,
	.start = kernel_start,
	.go = kernel_go,
	.stop = kernel_stop,
	.free = kernel_free,
	.later = kernel_later,
	.watch = kernel_watch,
	.events = kernel_events,
	.error = kernel_error,
	.each = kernel_each,
	.info = kernel_info,
	.mapped = kernel_mapped,
	.ends = kernel_ends,
	.alive = kernel_alive,
	.began_ns = kernel_no_time,
	.ended_ns = kernel_no_time,
	.say = kernel_say,
};

struct arm *arm_kernel(struct loop *loop)
{
	struct kernel *k = xcalloc(1, sizeof(*k));

	*k = (struct kernel){.base = {&kernel_ops}, .loop = loop};
	return &k->base;
}

void arm_kernel_free(struct arm *a)
{
	free(a);
}
