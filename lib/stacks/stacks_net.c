/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks_net.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks_words.h"

/* ---- processes ---- */

/* In the child, which is to be another program: sysfs shows the interfaces of the namespace in
 * which it was mounted, so it gets one of its own, which nobody else sees. */
static bool start_here(const struct stacks_start *s, pid_t parent)
{
	cpu_set_t set;

	/* what is in no namespace of ours has something to put in order when it ends */
	if (prctl(PR_SET_PDEATHSIG, s->ns >= 0 ? SIGKILL : SIGTERM) != 0 || getppid() != parent)
		return false;
	/* the terminal's Ctrl-C is for who started it, who asks it for its numbers first */
	setpgid(0, 0);
	if (s->ns >= 0 && (setns(s->ns, CLONE_NEWNET) != 0 || unshare(CLONE_NEWNS) != 0 ||
			   mount("", "/", "none", MS_SLAVE | MS_REC, NULL) != 0 ||
			   (umount2("/sys", MNT_DETACH) != 0 && errno != EINVAL) ||
			   mount("wirerate", "/sys", "sysfs", 0, NULL) != 0))
		return false;
	CPU_ZERO(&set);
	if (s->cpu >= 0) {
		CPU_SET(s->cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) != 0)
			return false;
	}
	return dup2(s->in, 0) == 0 && dup2(s->out, 1) == 1 && dup2(s->err, 2) == 2;
}

pid_t stacks_start(const struct stacks_start *s, struct err *e)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t none;

	if (pid < 0)
		return err_set(e, errno, "no process can be made: %s", strerror(errno));
	if (pid > 0)
		return pid;
	if (start_here(s, parent)) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(s->argv[0], s->argv);
	}
	_exit(127);
}

/* ---- ip ---- */

/* Runs `ip -batch` in the namespace. */
static int net_ip(int ns, const char *commands, struct err *e)
{
	char *argv[] = {"ip", "-batch", "-", NULL};
	int in = memfd_create("ip", MFD_CLOEXEC), out = memfd_create("ip", MFD_CLOEXEC);
	struct stacks_start s = {
		.ns = ns, .cpu = -1, .argv = argv, .in = in, .out = out, .err = out};
	int status = -1, rc = 0;
	char said[256] = "";
	pid_t pid;

	if (in < 0 || out < 0 || write(in, commands, strlen(commands)) < 0)
		rc = err_set(e, errno, "no memory for a command of ip: %s", strerror(errno));
	if (rc == 0)
		lseek(in, 0, SEEK_SET);
	pid = rc == 0 ? stacks_start(&s, e) : rc;
	rc = pid < 0 ? (int)pid : 0;
	while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == 0 && status != 0) {
		ssize_t n = pread(out, said, sizeof(said) - 1, 0);
		said[n > 0 ? n : 0] = '\0';
		said[strcspn(said, "\n")] = '\0';
		rc = err_set(e, ENOTSUP, "ip does not make the namespaces: %s",
			     WIFEXITED(status) && WEXITSTATUS(status) == 127
				     ? "it cannot be run; the package iproute2 has it"
				     : said);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}

int stacks_net_address(int ns, const char *dev, const char *ip, struct err *e)
{
	struct sbuf text = {0};
	int rc;

	sbuf_addf(&text, "addr add %s/24 dev %s\n", ip, dev);
	sbuf_addf(&text,
		  "route replace %.*s.0/24 dev %s src %s congctl " STACKS_CONGESTION
		  " rto_min %dms\n",
		  (int)(strrchr(ip, '.') - ip), ip, dev, ip, STACKS_RTO_MS);
	rc = net_ip(ns, sbuf_str(&text), e);
	sbuf_free(&text);
	return rc;
}

int stacks_net_no_address(int ns, const char *dev, struct err *e)
{
	struct sbuf text = {0};
	int rc;

	sbuf_addf(&text, "addr flush dev %s\n", dev);
	rc = net_ip(ns, sbuf_str(&text), e);
	sbuf_free(&text);
	return rc;
}

/* ---- namespaces ---- */

/* What a file of the namespace that this thread is in shall have; kernels that lack it have no
 * such knob. */
static void net_set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0) {
		/* the routes say the same */
	}
	close(fd);
}

/* A new one, in which this thread is for a moment. */
static int net_new(int home, int *out, struct err *e)
{
	char rto[16];

	if (unshare(CLONE_NEWNET) != 0)
		return err_set(e, errno, "no network namespace can be made: %s%s", strerror(errno),
			       errno == EPERM ? "; stacks needs root, or --peer HOST for another "
						"machine"
					      : "");
	*out = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	net_set("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	net_set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	net_set("/proc/sys/net/ipv4/tcp_congestion_control", STACKS_CONGESTION);
	/* connections over loopback have no route of ours */
	snprintf(rto, sizeof(rto), "%d", STACKS_RTO_MS * 1000);
	net_set("/proc/sys/net/ipv4/tcp_rto_min_us", rto);
	if (*out < 0 || setns(home, CLONE_NEWNET) != 0)
		return err_set(e, errno, "no network namespace can be kept: %s", strerror(errno));
	return 0;
}

static int net_link(struct stacks_net *n, unsigned mtu, struct err *e)
{
	struct sbuf own = {0}, peer = {0};
	int rc;

	sbuf_addf(&own,
		  "link set lo up\nlink add " STACKS_VETH " address " STACKS_OWN_MAC
		  " mtu %u type veth peer name wrb address " STACKS_PEER_MAC
		  " mtu %u netns /proc/%d/fd/%d\nlink set " STACKS_VETH " up\n",
		  mtu, mtu, getpid(), n->peer);
	sbuf_add(&peer, "link set lo up\nlink set wrb up\n");
	rc = net_ip(n->own, sbuf_str(&own), e);
	rc = rc < 0 ? rc : net_ip(n->peer, sbuf_str(&peer), e);
	rc = rc < 0 ? rc : stacks_net_address(n->peer, "wrb", STACKS_PEER_IP, e);
	/* nobody has to be asked for addresses that are known */
	rc = rc < 0 ? rc
		    : net_ip(n->peer,
			     "neigh replace " STACKS_OWN_IP " lladdr " STACKS_OWN_MAC
			     " dev wrb nud permanent\n",
			     e);
	sbuf_free(&own);
	sbuf_free(&peer);
	return rc;
}

int stacks_net_make(struct stacks_net *n, unsigned mtu, struct err *e)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc;

	*n = (struct stacks_net){-1, -1};
	if (home < 0)
		return err_set(e, errno, "this network namespace cannot be read: %s",
			       strerror(errno));
	rc = net_new(home, &n->own, e);
	rc = rc < 0 ? rc : net_new(home, &n->peer, e);
	close(home);
	rc = rc < 0 ? rc : net_link(n, mtu, e);
	if (rc < 0)
		stacks_net_free(n);
	return rc;
}

void stacks_net_free(struct stacks_net *n)
{
	if (n->own >= 0)
		close(n->own);
	if (n->peer >= 0)
		close(n->peer);
	*n = (struct stacks_net){-1, -1};
}
