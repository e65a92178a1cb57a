/* SPDX-License-Identifier: BSD-3-Clause */
/* Packages that a NIC gets at each start. E810 needs its DDP package: DPDK's driver looks for it at
 * the places below, plain or packed by xz, and refuses the device without it unless it is told to
 * work in safe mode, with one queue and without RSS (DPDK guide of the ice driver). */
#include "exam.h"

#include <string.h>

#define DDP "/lib/firmware/intel/ice/ddp"
#define UPDATES "/lib/firmware/updates/intel/ice/ddp"
#define FILES_MAX 64
#define SERIAL_DIGITS 16

static const char *const places[] = {UPDATES "/ice.pkg", DDP "/ice.pkg"};

/* The path of the package, with what it is packed by. NULL: it is not there. */
static const char *firmware_at(struct exam *x, const char *packed)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (sys_exists(&x->sys, "%s%s", places[i], packed))
			return places[i];
	return NULL;
}

/* Is this the name of a package for one card, "ice-" and its serial number in 16 digits? */
static bool firmware_is_serial(const char *name)
{
	return strncmp(name, "ice-", 4) == 0 &&
	       strspn(name + 4, "0123456789abcdef") == SERIAL_DIGITS &&
	       strcmp(name + 4 + SERIAL_DIGITS, ".pkg") == 0;
}

/* Finds a package for one card, or one that has its version in its name and is not linked to the
 * plain one. "": there is none. */
static void firmware_other(struct exam *x, const char *folder, bool serial, char out[SYS_NAME])
{
	char in[FILES_MAX][SYS_NAME];
	unsigned n = sys_names(&x->sys, in, FILES_MAX, "%s", folder);

	out[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(in[i]);
		if (strncmp(in[i], "ice-", 4) == 0 && len > 4 &&
		    strcmp(in[i] + len - 4, ".pkg") == 0 && firmware_is_serial(in[i]) == serial)
			memcpy(out, in[i], len + 1);
	}
}

/* Tells of a package that serves one card alone. Which one that is stands in a part of the PCI
 * configuration that few may read. */
static bool firmware_serial(struct exam *x, const struct nic *n)
{
	char name[SYS_NAME];

	firmware_other(x, UPDATES, true, name);
	if (name[0] == '\0')
		firmware_other(x, DDP, true, name);
	if (name[0] == '\0')
		return false;
	struct doctor_finding *f =
		found(x, DOCTOR_NOTE, nic_name(n), "no ice.pkg, but the DDP package %s", name);
	found_why(
		f,
		"it serves the card of this serial number alone, which `lspci -vv -s %s` tells to root",
		n->pci);
	return true;
}

static void firmware_missing(struct exam *x, const struct nic *n)
{
	char version[SYS_NAME];

	firmware_other(x, DDP, false, version);
	struct doctor_finding *f =
		found(x, n->for_dpdk ? DOCTOR_ERROR : DOCTOR_WARNING, nic_name(n),
		      "no DDP package for %s in " DDP,
		      n->model != NULL ? n->model->name : "a NIC of the kernel's driver ice");
	found_why(
		f,
		"DPDK's ice driver refuses the device without it; in safe mode it has one queue and no RSS");
	if (version[0] != '\0')
		found_mend(f, "ln -s %s " DDP "/ice.pkg", exam_word(x, version));
	else if (x->os == OS_DEBIAN)
		found_mend(f, "apt-get install firmware-linux-nonfree");
	else if (x->os == OS_UBUNTU)
		found_mend(f, "apt-get install linux-firmware");
	else if (x->os == OS_REDHAT)
		found_mend(f, "dnf install linux-firmware");
}

/* The kernel's driver ice wants the same package, and knows more models than we do. */
static bool firmware_wanted(const struct nic *n)
{
	return n->model != NULL ? n->model->wants_ddp : strcmp(n->driver, "ice") == 0;
}

static void firmware_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		if (n->missing || n->for_kernel || !firmware_wanted(n))
			continue;
		const char *path = firmware_at(x, "");
		if (path != NULL) {
			found(x, DOCTOR_OK, n->pci, "DDP package %s", path);
			continue;
		}
		if ((path = firmware_at(x, ".xz")) != NULL) {
			found(x, DOCTOR_OK, n->pci, "DDP package %s.xz", path);
			continue;
		}
		path = firmware_at(x, ".zst");
		if (path == NULL) {
			if (!firmware_serial(x, n))
				firmware_missing(x, n);
			continue;
		}
		struct doctor_finding *f =
			found(x, DOCTOR_WARNING, n->pci, "DDP package %s.zst", path);
		found_why(f, "many versions of DPDK read it plain or packed by xz alone");
		found_mend(f, "zstd -d -f %s.zst", path);
	}
}

const struct check check_firmware = {"firmware", firmware_run};
