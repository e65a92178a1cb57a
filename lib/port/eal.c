/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts EAL and takes over its log. All that EAL's arguments depend on must be known before,
 * because memory without hugepages never grows afterwards. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "eal_try.h"
#include "log.h"
#include "place.h"
#include "port_int.h"

#define LOCK_TRIES 100 /* 10 ms apart */
#define HUGE_SHIFT 26  /* MAP_HUGE_SHIFT of linux/mman.h */
#define MEM_MARGIN 1.25
#define BASE_BYTES (12ull << 20) /* what EAL itself, devices, rings and states need */
#define QUEUE_BYTES (192ull << 10)
#define CACHED (DP_POOL_CACHE + DP_POOL_CACHE / 2) /* a cache keeps up to 1.5 times its size */
#define MAX_ARGS 256
#define INTERRUPTS_MS 1000 /* so long their thread may need to answer */
#define OWN_FDS 12         /* of the program: terminal, sockets, files that commands name */
#define QUEUE_FDS 4        /* the most that a kernel port has for a pair of queues */

/* What errors advise, of the program's own options; NULL: it has none. */
static const char *less, *whole_log;
/* What EAL and drivers have logged, from any thread. Control writes it to our log once per turn. */
static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sbuf text;
static char last_error[512];
static bool tried, running;
static unsigned past_found; /* the devices that EAL has found have lower numbers */
/* The first few lines in which EAL and drivers have said, while EAL started, what is wrong. */
static struct sbuf told;
static unsigned ntold;
#define TOLD_MOST 6

/* Whether a line of EAL's log tells a reason, like "EAL: lcore 2 unavailable". The usage that
 * follows it does not, and neither do the lines with which every failed start ends. */
static bool is_said(const char *s)
{
	size_t name = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return name > 0 && s[name] == ':' && s[name + 1] == ' ' && strncmp(s, "Usage:", 6) != 0 &&
	       strstr(s, "FATAL:") == NULL && strstr(s, "Invalid 'command line' arguments") == NULL;
}

/* Adds the first line of s[0..n) to `told`, if it tells a reason. */
static void note_error(const char *s, size_t n)
{
	const char *end = memchr(s, '\n', n);
	char line[256];

	snprintf(line, sizeof(line), "%.*s", (int)(end != NULL ? (size_t)(end - s) : n), s);
	if (is_said(line) && ntold++ < TOLD_MOST)
		sbuf_addf(&told, "%s%s", told.len > 0 ? "\n  " : "", line);
}

/* Why EAL wanted to end the process: the two lines of its log that come before its stack. */
static char panic_text[512];

/* Takes the log of EAL and drivers, on any thread. */
static ssize_t text_write(void *cookie, const char *s, size_t n)
{
	int level = rte_log_cur_msg_loglevel();

	(void)cookie;
	pthread_mutex_lock(&text_lock);
	if (tried && !running && level > 0 && level <= (int)RTE_LOG_ERR)
		note_error(s, n);
	if (text.len < 1 << 20)
		sbuf_addn(&text, s, n);
	pthread_mutex_unlock(&text_lock);
	return (ssize_t)n;
}

void eal_log_drain(void)
{
	struct sbuf got;

	pthread_mutex_lock(&text_lock);
	got = text;
	text = (struct sbuf){0};
	pthread_mutex_unlock(&text_lock);
	for (char *line = got.s, *next; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (*line != '\0') {
			log_msg(LOG_LVL_DEBUG, "dpdk: %s", line);
			/* Newer versions of EAL put "EAL: " before it. */
			if (strstr(last_error, "PANIC in ") != NULL)
				snprintf(panic_text, sizeof(panic_text), "%.250s %.250s",
					 last_error, line);
			snprintf(last_error, sizeof(last_error), "%s", line);
		}
		if (next == NULL)
			break;
	}
	sbuf_free(&got);
}

unsigned eal_data_room(uint64_t mtu)
{
	/* The Ethernet header, two VLAN tags, and the FCS, which some drivers keep. */
	uint64_t frame = mtu + RTE_ETHER_HDR_LEN + 8 + RTE_ETHER_CRC_LEN;

	frame = frame < 2048 ? 2048 : (frame + 63) & ~63ull;
	return RTE_PKTMBUF_HEADROOM + (unsigned)frame;
}

unsigned eal_rx_room(uint64_t mtu, const struct port_need *need)
{
	unsigned room = eal_data_room(mtu);

	if (room < RTE_PKTMBUF_HEADROOM + need->min_data_room)
		room = RTE_PKTMBUF_HEADROOM + need->min_data_room;
	if (need->max_data_room != 0 && room > RTE_PKTMBUF_HEADROOM + need->max_data_room)
		room = RTE_PKTMBUF_HEADROOM + need->max_data_room;
	return room;
}

unsigned eal_tx_frames(const struct port_cfg *cfg, const struct port_need *need)
{
	uint64_t d = cfg->txd > cfg->rxd ? cfg->txd : cfg->rxd;

	if (cfg->mbufs != 0)
		return (unsigned)cfg->mbufs;
	if (d < need->min_txd)
		d = need->min_txd;
	if (need->tx_frees_at_once)
		d = 0;
	/* Buffers are in descriptors or in a ring, in the tail or in a burst in the receiver's
	 * hands, and in the caches of sender and receiver. */
	return (unsigned)d + DP_BURST_MAX + 2 * CACHED;
}

unsigned eal_rx_frames(const struct port_cfg *cfg, const struct port_need *need)
{
	uint64_t d = cfg->rxd > need->min_rxd ? cfg->rxd : need->min_rxd;

	if (!need->rx_pool)
		return 0;
	if (cfg->mbufs != 0)
		return (unsigned)cfg->mbufs;
	/* Buffers are in descriptors, in a burst in hand, and in the cache of the one worker that
	 * takes and frees them. */
	return (unsigned)d + DP_BURST_MAX + CACHED + need->extra_mbufs;
}

bool eal_by_page(const struct port_need *need)
{
	return need->max_data_room != 0; /* AF_XDP maps the pool page by page */
}

/* An estimate of the memory that a pool of n buffers takes. */
static uint64_t pool_bytes(unsigned n, unsigned room, bool by_page)
{
	uint64_t obj = sizeof(struct rte_mempool_objhdr) + sizeof(struct rte_mbuf) + room +
		       2 * RTE_CACHE_LINE_SIZE;
	uint64_t ring = 8, page = 4096;

	if (by_page)
		obj = obj <= page ? page / (page / obj) : (obj + page - 1) / page * page;
	while (ring < 8ull * (n + 1))
		ring *= 2;
	return n * obj + ring + RTE_MAX_LCORE * (sizeof(struct rte_mempool_cache) + 64);
}

/* An estimate of the memory that all ports take. */
static uint64_t memory_need(const struct eal_ask *ask, bool huge)
{
	uint64_t sum = BASE_BYTES;

	for (unsigned i = 0; i < ask->nports; i++) {
		const struct port *p = ask->port[i];
		const struct port_cfg *cfg = p->cfg;
		const uint16_t *nq = ask->nq[i];
		uint16_t nrx = p->need.paired && nq[1] > nq[0] ? nq[1] : nq[0];
		sum += nrx * (QUEUE_BYTES + pool_bytes(eal_rx_frames(cfg, &p->need),
						       eal_rx_room(cfg->mtu, &p->need),
						       !huge && eal_by_page(&p->need)));
		sum += nq[1] * (QUEUE_BYTES + pool_bytes(eal_tx_frames(cfg, &p->need),
							 eal_data_room(cfg->mtu), false));
	}
	return sum;
}

uint64_t eal_available_bytes(void)
{
	uint64_t kb = UINT64_MAX >> 10;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb << 10;
}

/* Tries to map so many bytes in hugepages of kb KB. Pages that are free may be out of reach
 * (rights, a cgroup's limit) or gone a moment later, and EAL cannot be started a second time
 * without them. */
static bool can_map(uint64_t bytes, unsigned long kb)
{
	uint64_t page = (uint64_t)kb * 1024;
	size_t len = (bytes + page - 1) / page * page;
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE |
			       __builtin_ctzl(page) << HUGE_SHIFT,
		       -1, 0);

	if (p == MAP_FAILED)
		return false;
	munmap(p, len);
	return true;
}

/* EAL takes its pages one by one, and a second instance of the program that starts at the same time
 * would count the same pages as free. So instances take turns: each one locks the directory that
 * tells how many pages are free, from the count until its ports have their buffers. */
static int pages_lock = -1;

static bool lock_pages(void)
{
	int fd = open("/sys/kernel/mm/hugepages", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		if (i == LOCK_TRIES) {
			close(fd);
			return false;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	pages_lock = fd;
	return fd >= 0;
}

void eal_memory_taken(void)
{
	if (pages_lock >= 0)
		close(pages_lock);
	pages_lock = -1;
}

/* A number that Linux tells of one size of hugepages; 0: it does not. */
static uint64_t hugepages_number(const char *size, const char *which)
{
	unsigned long n = 0;
	char path[300];

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/%s/%s", size, which);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* How many hugepages of one size hold so many bytes; 0: of no size are there enough. */
static uint64_t find_hugepages(uint64_t bytes)
{
	DIR *d = opendir("/sys/kernel/mm/hugepages");
	struct dirent *de;
	uint64_t found = 0;

	while (d != NULL && found == 0 && (de = readdir(d)) != NULL) {
		unsigned long kb;

		if (sscanf(de->d_name, "hugepages-%lukB", &kb) == 1 &&
		    hugepages_number(de->d_name, "free_hugepages") * kb * 1024 >= bytes &&
		    can_map(bytes, kb))
			found = (bytes + kb * 1024 - 1) / (kb * 1024);
	}
	if (d != NULL)
		closedir(d);
	return found;
}

bool eal_pages_lost(void)
{
	return pages_lock >= 0 && find_hugepages(1) == 0;
}

/* Says that small pages are used, where somebody has set hugepages up. */
static void tell_small_pages(const struct eal_ask *ask, uint64_t bytes)
{
	DIR *d = opendir("/sys/kernel/mm/hugepages");
	struct dirent *de;
	uint64_t all = 0, left = 0;

	while (d != NULL && (de = readdir(d)) != NULL) {
		unsigned long kb;

		if (sscanf(de->d_name, "hugepages-%lukB", &kb) != 1)
			continue;
		all += hugepages_number(de->d_name, "nr_hugepages") * kb;
		left += hugepages_number(de->d_name, "free_hugepages") * kb;
	}
	if (d != NULL)
		closedir(d);
	if (ask->small_pages)
		log_msg(LOG_LVL_WARN,
			"DPDK's EAL could not use the hugepages that were free, so small pages are used");
	else if (all != 0)
		log_msg(LOG_LVL_WARN,
			"the ports need %" PRIu64 " MB in hugepages of one size, and %" PRIu64
			" MB of %" PRIu64 " MB are free, so small pages are used",
			(bytes >> 20) + 1, left >> 10, all >> 10);
}

/* The same, and holds the lock if there are enough, until eal_memory_taken(). */
static uint64_t hugepages_for(uint64_t bytes)
{
	if (find_hugepages(bytes) == 0 || !lock_pages())
		return 0;
	uint64_t pages = find_hugepages(bytes); /* again, now that no other instance takes them */
	if (pages == 0)
		eal_memory_taken();
	return pages;
}

/* Whether the user's EAL options contain one of names (`--x`, `--x=..`, `-l`, `-l..`). names ends
 * with NULL. */
static bool has_option(const struct eal_ask *ask, const char *const *names)
{
	for (unsigned i = 0; i < ask->nargs; i++) {
		const char *a = ask->arg[i];
		for (const char *const *n = names; *n != NULL; n++) {
			size_t len = strlen(*n);
			bool is_long = (*n)[1] == '-';
			if (strncmp(a, *n, len) == 0 &&
			    (!is_long || a[len] == '\0' || a[len] == '='))
				return true;
		}
	}
	return false;
}

static const char *const memory_options[] = {"-m",
					     "--no-huge",
					     "--in-memory",
					     "--socket-mem",
					     "--huge-dir",
					     "--legacy-mem",
					     "--single-file-segments",
					     "--socket-limit",
					     "--huge-unlink",
					     "--file-prefix",
					     "--match-allocations",
					     NULL};
static const char *const pci_options[] = {"--no-pci", "-a", "--allow", "-b", "--block", NULL};

static bool says_lcores(const struct eal_ask *ask)
{
	for (unsigned i = 0; i < ask->nargs; i++)
		if (place_is_lcore_option(ask->arg[i]))
			return true;
	return false;
}

/* Adds the value of EAL's option --lcores. Lcore 0 is control. */
static int lcores_text(struct sbuf *out, struct err *e)
{
	int cpu[PLACE_USUAL_LCORES], of[PLACE_USUAL_LCORES];
	unsigned n = place_usual(cpu, place_cpus(cpu), of);

	if (n == 0)
		return err_set(e, ENODEV, "cannot read the CPU affinity mask: %s", strerror(errno));
	for (unsigned i = 0; i < n; i++) /* lcores without work sleep in the kernel */
		sbuf_addf(out, "%s%u@%d", i > 0 ? "," : "", i, of[i]);
	return 0;
}

int eal_room(const struct eal_ask *ask, unsigned queues, uint64_t pages, struct err *e)
{
	int cpu[PLACE_USUAL_LCORES];
	unsigned n = says_lcores(ask) ? 0 : place_cpus(cpu);
	const struct eal_wants w = {
		.workers = n == 0   ? 0
			   : n == 1 ? 1
				    : n - 1,
		.pages = pages,
		.own = OWN_FDS + queues * QUEUE_FDS,
	};

	return eal_wants_check(&w, e);
}

struct args {
	char *v[MAX_ARGS];
	int n;
};

static void arg_add(struct args *a, const char *s)
{
	if (a->n < MAX_ARGS - 1)
		a->v[a->n++] = xstrdup(s);
}

/* Makes EAL's arguments. Options of the user come first, and nothing is added that they have
 * decided. */
static int build_args(const struct eal_ask *ask, struct args *a, uint64_t *memory, struct err *e)
{
	unsigned queues = 0;
	uint64_t pages;
	bool pci = false;
	char buf[32];
	int rc;

	if (has_option(ask, (const char *const[]){"-h", "--help", NULL}))
		return err_set(
			e, EINVAL,
			"EAL's own help ends the process; its options are in DPDK's guide, ours in `wirerate --help`");
	if (linked_static() && has_option(ask, (const char *const[]){"-d", NULL}))
		return err_set(
			e, EINVAL,
			"EAL option -d: DPDK's drivers are inside this program, and it loads none; one that does is built with "
			"`meson setup B -Ddpdk_link=shared`");
	if (ask->nargs > MAX_ARGS - 16)
		return err_set(e, EINVAL, "%u EAL options given; at most %d are taken", ask->nargs,
			       MAX_ARGS - 16);
	arg_add(a, ask->prog);
	for (unsigned i = 0; i < ask->nargs; i++)
		arg_add(a, ask->arg[i]);
	for (unsigned i = 0; i < ask->nports; i++)
		pci |= ask->port[i]->need.pci;
	if (!has_option(ask, (const char *const[]){"--no-telemetry", "--telemetry", NULL}))
		arg_add(a, "--no-telemetry");
	if (!pci && !has_option(ask, pci_options))
		arg_add(a, "--no-pci");
	if (!says_lcores(ask)) {
		struct sbuf l = {0};
		rc = lcores_text(&l, e);
		if (rc < 0)
			return rc;
		arg_add(a, "--lcores");
		arg_add(a, l.s);
		sbuf_free(&l);
	}
	*memory = memory_need(ask, true);
	if (has_option(ask, memory_options))
		return 0;
	pages = ask->small_pages ? 0 : hugepages_for((uint64_t)((double)*memory * MEM_MARGIN));
	if (pages > 0)
		arg_add(a, "--in-memory");
	for (unsigned i = 0; i < ask->nports; i++)
		queues += ask->nq[i][0] > ask->nq[i][1] ? ask->nq[i][0] : ask->nq[i][1];
	if ((rc = eal_room(ask, queues, pages, e)) < 0 || pages > 0)
		return rc;
	tell_small_pages(ask, (uint64_t)((double)*memory * MEM_MARGIN));
	*memory = memory_need(ask, false);
	/* Linux would give out more memory than there is, and kill a process when it is used. */
	if (*memory > eal_available_bytes())
		return err_set(e, ENODEV,
			       "the ports need %" PRIu64 " MB of memory and %" PRIu64
			       " MB are available; "
			       "%s need less",
			       *memory >> 20, eal_available_bytes() >> 20, eal_less());
	arg_add(a, "--no-huge");
	arg_add(a, "--no-shconf");
	arg_add(a, "-m");
	snprintf(buf, sizeof(buf), "%llu",
		 (unsigned long long)((double)*memory * MEM_MARGIN / (1 << 20)) + 1);
	arg_add(a, buf);
	return 0;
}

/* Puts out the end of a message: what to try next after EAL did not start, with errno `why`. There
 * is none if EAL's own lines are all that is known. */
static void what_helps(const struct eal_ask *ask, int why, struct sbuf *out)
{
	struct rlimit lim;

	if (ask->nargs > 0)
		sbuf_add(out, "\n  try without EAL options of your own");
	else if (why == EMFILE || why == ENFILE)
		sbuf_add(out, "\n  more file descriptors are wanted, see `ulimit -n`");
	else if (getrlimit(RLIMIT_AS, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY)
		sbuf_addf(
			out,
			"\n  the memory of this process is limited, see `ulimit -v`; %s need less",
			eal_less());
	else if (why == ENOMEM)
		sbuf_addf(out, "\n  %s need less memory", eal_less());
	sbuf_add(out, eal_log_hint());
}

/* Keeps which devices are there before ports add others: those have higher numbers. */
static void note_found(void)
{
	uint16_t dev;

	RTE_ETH_FOREACH_DEV(dev)
		past_found = dev + 1u;
}

const char *eal_less(void)
{
	return less != NULL ? less : "fewer buffers, descriptors or queues";
}

const char *eal_log_hint(void)
{
	static char hint[64];

	if (whole_log == NULL)
		return "";
	snprintf(hint, sizeof(hint), "; %s keeps the whole log", whole_log);
	return hint;
}

bool eal_found(uint16_t dev)
{
	return dev < past_found;
}

/* Runs on the thread of interrupts, which does nothing more from then on. */
static void interrupts_halt(void *halted)
{
	__atomic_store_n((bool *)halted, true, __ATOMIC_RELEASE);
	while (true)
		pause();
}

/* The thread of interrupts goes through all that it listens to whenever that has changed, which it
 * learns late. A socket of memif is among it for ever, in memory that rte_eal_cleanup() takes away.
 * So the thread halts before. false: it does not answer. */
static bool interrupts_halted(void)
{
	static bool halted;
	int fd = eventfd(1, EFD_CLOEXEC);
	struct rte_intr_handle *h = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	bool listens = h != NULL && rte_intr_fd_set(h, fd) == 0 &&
		       rte_intr_type_set(h, RTE_INTR_HANDLE_EXT) == 0 &&
		       rte_intr_callback_register(h, interrupts_halt, &halted) == 0;

	rte_intr_instance_free(h); /* who listens has a copy */
	if (!listens) {
		close(fd);
		return false;
	}
	for (unsigned ms = 0; !__atomic_load_n(&halted, __ATOMIC_ACQUIRE); ms++) {
		if (ms == INTERRUPTS_MS)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return true;
}

void eal_stop(void)
{
	/* else the end of the process takes the memory away */
	if (running && interrupts_halted())
		rte_eal_cleanup();
	running = false;
}

static int not_started(const struct eal_ask *ask, int why, const char *shown, struct err *e)
{
	struct sbuf helps = {0};

	what_helps(ask, why, &helps);
	int rc = err_set(e, why == EINVAL && ask->nargs > 0 ? EINVAL : ENODEV,
			 "DPDK's EAL did not start (%s) with: %s\n  %s%s", rte_strerror(why), shown,
			 told.len > 0            ? told.s
			 : last_error[0] != '\0' ? last_error
						 : "it said nothing",
			 sbuf_str(&helps));
	sbuf_free(&helps);
	return rc;
}

int eal_start(const struct eal_ask *ask, uint64_t *memory, struct err *e)
{
	/* EAL keeps pointers to the words and changes the array. So both are static, and `a` still
	 * has the words when EAL has changed `given`. */
	static struct args a, given;
	struct sbuf shown = {0};
	bool panic;
	int rc;

	if (tried)
		return err_set(
			e, EINVAL,
			"DPDK was started once in this process and cannot be started again; start a new process");
	less = ask->less;
	whole_log = ask->log;
	rc = build_args(ask, &a, memory, e);
	if (rc < 0) {
		while (a.n > 0)
			free(a.v[--a.n]);
		return rc;
	}
	tried = true;
	for (int i = 1; i < a.n; i++)
		sbuf_addf(&shown, "%s%s", i > 1 ? " " : "", a.v[i]);
	log_msg(LOG_LVL_INFO, "EAL options: %s", sbuf_str(&shown));
	given = a;
	rc = eal_try(given.n, given.v, text_write, &panic);
	int why = rte_errno;
	eal_log_drain();
	if (panic)
		rc = err_set(
			e, ENODEV,
			"DPDK's EAL gave up with: %s\n  its last word: %s\n  it does so where descriptors, threads or memory run out; "
			"`ulimit -a` tells the limits%s",
			sbuf_str(&shown), panic_text[0] != '\0' ? panic_text : last_error,
			eal_log_hint());
	else if (rc < 0)
		rc = not_started(ask, why, sbuf_str(&shown), e);
	else
		rc = 0;
	if (rc < 0 && pages_lock >= 0 && why != EINVAL) /* that is about options */
		rc = -EAGAIN;
	running = rc == 0;
	if (running)
		note_found();
	sbuf_free(&shown);
	return rc;
}
