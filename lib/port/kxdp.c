/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the lock files of AF_XDP ports, and removes XDP programs that a killed process has left
 * over. */
#include "kxdp.h"
#include "userfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 320

/* Writes the path of an interface's lock file. It names the network namespace too, since each
 * namespace has interface numbers of its own. */
static void lock_path(const struct kern_if *k, const char *dir, char *out, size_t size)
{
	struct stat st = {0};

	if (stat("/proc/self/ns/net", &st) != 0)
		st.st_ino = 0;
	snprintf(out, size, "%s/xdp-%lu-%d", dir, (unsigned long)st.st_ino, k->ifindex);
}

/* Returns folder number i of those in which lock files may lie; NULL: there are no more. A later
 * process looks into all of them, since an earlier one may have written into any. */
static const char *lock_dir(unsigned i, char *buf, size_t size)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	if (i == 0)
		return "/run/wirerate";
	if (i > 1 || run == NULL || *run == '\0')
		return NULL;
	snprintf(buf, size, "%s/wirerate", run);
	return buf;
}

/* Opens a lock file and locks it. Returns a descriptor; -EBUSY: another process has the lock; or
 * another -errno. */
static int lock_file(const char *path, int flags)
{
	for (;;) {
		struct stat a, b;
		const char *why;
		int fd = userfile_open(path, O_RDWR | O_NOFOLLOW | flags, 0600, &why);
		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
			close(fd);
			return rc;
		}
		/* The process that had the lock before may have removed the file between our two
		 * calls. Then we have locked a file that nobody can find, and try again. */
		if (fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
		    a.st_dev == b.st_dev)
			return fd;
		close(fd);
	}
}

int kxdp_lock(const struct kern_if *k)
{
	char buf[256], path[PATH_SIZE];
	const char *dir;
	int rc = -ENOENT;

	for (unsigned i = 0; (dir = lock_dir(i, buf, sizeof(buf))) != NULL; i++) {
		if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
			rc = -errno;
			continue;
		}
		lock_path(k, dir, path, sizeof(path));
		rc = lock_file(path, O_CREAT);
		if (rc >= 0 || rc == -EBUSY)
			return rc;
	}
	return rc;
}

void kxdp_record(int lock, const struct kern_if *k)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%u %ld %s\n", k->xdp_prog, (long)getpid(), k->name);

	if (lock < 0 || ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)n, 0) != n)
		return;
	/* No sync is needed: when the machine crashes, the XDP program is gone as well. */
}

/* Removes from bpffs what libxdp has pinned for this program, which would stay there for ever. */
static void remove_pins(const struct kern_if *k, uint32_t prog)
{
	char dir[PATH_SIZE], path[PATH_SIZE + 256];

	snprintf(dir, sizeof(dir), "/sys/fs/bpf/xdp/dispatch-%d-%u", k->ifindex, prog);
	DIR *d = opendir(dir);
	if (d == NULL)
		return;
	for (struct dirent *de; (de = readdir(d)) != NULL;) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, de->d_name);
		unlink(path);
	}
	closedir(d);
	rmdir(dir);
}

/* Removes the lock file, and gives up the lock after that. In this order it never removes the new
 * file of another process. */
static void lock_drop(int lock, const struct kern_if *k)
{
	char buf[256], path[PATH_SIZE];
	struct stat a, b;
	const char *dir;

	for (unsigned i = 0; fstat(lock, &a) == 0 && (dir = lock_dir(i, buf, sizeof(buf))) != NULL;
	     i++) {
		lock_path(k, dir, path, sizeof(path));
		if (stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev)
			unlink(path);
	}
	close(lock);
}

/* Returns the id of the XDP program that the lock file names; 0: it names none. */
static uint32_t kxdp_recorded(int lock)
{
	char text[64] = "";

	return pread(lock, text, sizeof(text) - 1, 0) > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Returns the id of the process that wrote the lock file; 0: not known. */
static long lock_owner(const char *path)
{
	long pid = 0;
	const char *why;
	int fd = userfile_open(path, O_RDONLY | O_NOFOLLOW, 0, &why);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (f == NULL && fd >= 0)
		close(fd);
	if (f == NULL)
		return 0;
	if (fscanf(f, "%*u %ld", &pid) != 1)
		pid = 0;
	fclose(f);
	return pid;
}

void kxdp_unlock(int lock, struct kern_if *k)
{
	uint32_t prog = lock >= 0 ? kxdp_recorded(lock) : 0;

	if (prog != 0 && kern_read(k) == 0 && k->xdp_prog == prog)
		kern_xdp_detach(k, prog);
	if (prog != 0)
		remove_pins(k, prog);
	if (lock >= 0)
		lock_drop(lock, k);
}

static void prog_name(uint32_t id, char *out, size_t size)
{
	struct bpf_prog_info info = {0};
	union bpf_attr by_id = {.prog_id = id}, get = {{0}};

	snprintf(out, size, "?");
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &by_id, sizeof(by_id));
	if (fd < 0)
		return;
	get.info.bpf_fd = (uint32_t)fd;
	get.info.info_len = sizeof(info);
	get.info.info = (uintptr_t)&info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &get, sizeof(get)) == 0)
		snprintf(out, size, "%.*s", BPF_OBJ_NAME_LEN, info.name);
	close(fd);
}

int kxdp_clean(struct kern_if *k, bool *removed, const char *spec, struct err *e)
{
	char buf[256], path[PATH_SIZE], name[BPF_OBJ_NAME_LEN + 1];
	const char *dir;

	*removed = false;
	for (unsigned i = 0; (dir = lock_dir(i, buf, sizeof(buf))) != NULL; i++) {
		lock_path(k, dir, path, sizeof(path));
		int fd = lock_file(path, 0);
		if (fd == -EBUSY)
			return err_set(
				e, EBUSY,
				"port '%s': another wirerate (process %ld) uses %s through AF_XDP; stop it, or use another "
				"interface",
				spec, lock_owner(path), k->name);
		if (fd < 0)
			continue;
		if (k->xdp_prog != 0 && kxdp_recorded(fd) == k->xdp_prog) {
			remove_pins(k, k->xdp_prog);
			*removed = kern_xdp_detach(k, k->xdp_prog) == 0;
			kern_read(k);
		}
		lock_drop(fd, k);
	}
	if (k->xdp_prog == 0)
		return 0;
	prog_name(k->xdp_prog, name, sizeof(name));
	return err_set(
		e, EBUSY,
		"port '%s': %s has an XDP program already (id %u, %s), which gets its frames first; if nobody needs it: "
		"ip link set dev %s xdp off",
		spec, k->name, k->xdp_prog, name, k->name);
}
