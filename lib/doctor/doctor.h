/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor looks at a machine before traffic is sent there, and tells what is wrong with it. It
 * reads files of /proc, /sys and /lib/firmware and changes nothing: the command that mends a
 * finding is text, which nobody runs. What a file cannot tell, because it is missing, unreadable or
 * holds nonsense, is told as such and never guessed. Plain C without DPDK, one thread. */
#pragma once
#include "base.h"

/* What a finding means for whoever wants to measure here. */
enum doctor_severity {
	DOCTOR_OK,      /* as it should be */
	DOCTOR_NOTE,    /* good to know; it harms nothing that was asked for */
	DOCTOR_WARNING, /* it works, but slower, or numbers suffer */
	DOCTOR_ERROR    /* a device that was named will not work */
};
const char *doctor_severity_name(enum doctor_severity); /* "ok", "note", "warning", "error" */

/* All texts are in visible form (visible.h), whatever the files held. */
struct doctor_finding {
	const char *id; /* of the check that made it: "hugepages" */
	enum doctor_severity severity;
	char *subject; /* what it is about: "0000:3b:00.0", "eth1", "node 1"; "": the machine */
	char *what;    /* what was found */
	char *why;     /* why that matters, and what helps where no command does; "": nothing */
	char *mend;    /* the one command that mends it; "": there is none */
};

/* An lcore that a core map uses, and its CPU. */
struct doctor_core {
	unsigned lcore;
	int cpu;
	bool control; /* it runs commands and no traffic */
};

/* What no file tells: facts about this process. */
struct doctor_self {
	uint64_t caps; /* effective capabilities, bit n for number n of linux/capability.h */
	/* Its network belongs to a user namespace above its own, where those mean nothing. */
	bool net_foreign;
	unsigned uid; /* the effective user */
	int parent;   /* the process that has started this one, mostly a shell; 0: not seen */
	char *path;   /* of the program's file */
	/* RLIMIT_MEMLOCK, the soft limit and the hard one; UINT64_MAX: no limit */
	uint64_t memlock_bytes, memlock_hard_bytes;
	char *kernel, *arch;  /* of uname(2): "6.1.0-18-amd64", "x86_64" */
	char *writer;         /* the variant that writes frames on this CPU: "avx512", "neon" */
	char *program, *dpdk; /* versions, "0.1.0" and "DPDK 22.11.11" */
	bool dpdk_static;     /* DPDK is inside the program, and not in shared libraries */
	bool clock_synced;    /* something keeps the system's clock on time: adjtimex(2) */
	/* CPUs that this process may run on, ascending */
	int *cpu;
	unsigned ncpus;
	/* lcores of the core map; none: no map is known */
	struct doctor_core *core;
	unsigned ncores;
	/* Whether the process may read and write a device file. NULL: the kernel is asked. */
	bool (*may_use)(const char *path);
};
/* Fills *out with the facts of this process, without versions, writer and core map. The members are
 * the caller's to replace (each in memory of its own), and doctor_self_free() frees them. */
void doctor_self_read(struct doctor_self *out);
void doctor_self_free(struct doctor_self *);

/* What it means for DPDK which driver of the kernel has a device. */
enum doctor_driver {
	DOCTOR_DRIVER_BOUND,  /* it hands the device to DPDK: vfio-pci and the like */
	DOCTOR_DRIVER_SHARED, /* DPDK works beside it, nothing is to be unbound: mlx5_core */
	DOCTOR_DRIVER_LOST,   /* DPDK would work beside a driver, but another one or none has it */
	DOCTOR_DRIVER_KERNEL, /* any other, or none: DPDK needs vfio-pci in its place */
	DOCTOR_DRIVER_NONE    /* DPDK has no driver for such a device */
};
/* driver: "": none. dpdk: the version as in struct doctor_self. */
enum doctor_driver doctor_driver_kind(const char *driver, uint32_t vendor, uint32_t device,
				      const char *dpdk);
/* The driver of the kernel that a device is to have so that DPDK can use it: "vfio-pci",
 * "mlx5_core". */
const char *doctor_driver_wanted(uint32_t vendor, uint32_t device);

/* A way out of this machine: an interface of a PCI device, and the one that has the default route:
 * the same, or a bond, bridge or VLAN above it. */
struct doctor_way {
	char ifname[16], route[16];
};
/* Does a default route go over this PCI device ("0000:3b:00.0")? To take it from the kernel would
 * cut the machine off. */
bool doctor_way_out(const char *root, const char *pci, struct doctor_way *out);

/* Is it a port spec that uses an interface through the kernel, such as "if:eth1"? */
bool doctor_names_interface(const char *spec);
/* Is it the address of a PCI device, which arguments behind a comma may follow, as EAL's option -a
 * takes it? */
bool doctor_is_address(const char *text);

struct doctor_ask {
	const char *root; /* "", or a folder that has proc, sys and lib in it */
	/* The devices in question. None: all network devices of the machine. Each is the PCI
	 * address of a NIC that DPDK is to drive ("0000:3b:00.0", "3b:00.0") or the name of a Linux
	 * interface that is to be used through the kernel ("eth1"). A port spec ("pci:3b:00.0",
	 * "if:eth1") is taken for what it names, and one without a device ("wire") is passed
	 * over. */
	const char *const *device;
	unsigned ndevices;
	const struct doctor_self *self;
};

struct doctor_report {
	struct doctor_finding *finding; /* the worst ones first */
	unsigned n;
	unsigned count[DOCTOR_ERROR + 1]; /* findings of each severity */
};
/* Examines the machine. Returns 0, whatever is found, or -EINVAL with *e for a device that can be
 * neither an address nor a name. The caller frees the report with doctor_free(). */
int doctor_examine(const struct doctor_ask *, struct doctor_report *out, struct err *e);
void doctor_free(struct doctor_report *);
/* True if nothing was found that is a warning or an error. */
bool doctor_well(const struct doctor_report *);

/* What the slot of a PCI device carries behind its encoding, in bit/s; 0: that is not told. */
double doctor_pcie_bps(const char *root, const char *pci);

/* Offers each device that could be named: the addresses of NICs and the names of interfaces, with a
 * few words about them. */
void doctor_devices(const char *root, void (*offer)(void *arg, const char *name, const char *about),
		    void *arg);

/* Texts around the words for severities, such as the sequences of a terminal that turn a colour on
 * and off. NULL: nothing. */
struct doctor_style {
	const char *on[DOCTOR_ERROR + 1];
	const char *off;
};
/* Appends the findings of at least this severity for people, a paragraph each. style may be
 * NULL. */
void doctor_text(const struct doctor_report *, enum doctor_severity least,
		 const struct doctor_style *style, struct sbuf *out);
/* Appends one line that counts the findings: "1 error, 2 warnings, 3 notes, 9 ok". */
void doctor_total(const struct doctor_report *, struct sbuf *out);
