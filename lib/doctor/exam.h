/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/doctor only: what the checks share. A check is a file that defines check_NAME; it
 * looks at the facts below, reads what else it needs through x->sys, and adds findings. */
#pragma once
#include "doctor.h"
#include "sysroot.h"

#define NICS_MAX 256
#define START_BYTES (64ull << 20) /* hugepages that the smallest start takes, about */
#define NODES_MAX 64
#define WORDS 4     /* results of exam_word() that are valid at once */
#define NIC_NAME 16 /* of an interface (IFNAMSIZ), or a PCI address with its domain */

/* A network device: a NIC on PCI, an interface of the kernel, or both. */
struct nic {
	char pci[NIC_NAME];    /* "": it is not on PCI */
	char ifname[NIC_NAME]; /* "": the kernel has no interface of it */
	char driver[SYS_NAME]; /* of its PCI device; "": none is bound */
	enum doctor_driver kind;
	uint32_t vendor, device;
	const struct nic_model *model; /* NULL: not listed */
	int node;                      /* NUMA node, -1: not known */
	int group;                     /* of the IOMMU, -1: none */
	bool noiommu;                  /* the group is one of vfio's that stand for no IOMMU */
	bool vf;                       /* a virtual function of another device */
	struct doctor_way out;         /* the way out of this machine, if it goes over it */
	uint64_t link_mbps;            /* speed of its link; 0: down or not known */
	/* How the device is to be used: by DPDK, as a PCI address was given, or through the kernel,
	 * as the name of an interface was. Neither: nobody has named it. */
	bool for_dpdk, for_kernel;
	bool missing;   /* it was named, and there is none, or it is no NIC */
	uint32_t class; /* of PCI, where it was named and is no NIC; else 0 */
};

/* What is known of a model of NIC besides what /sys tells. */
struct nic_model {
	uint32_t vendor, device;
	const char *name;
	uint64_t port_mbps; /* the most that a port of it carries; many carry less */
	bool wants_ddp;     /* it needs a DDP package at each start */
};
const struct nic_model *nic_model_find(uint32_t vendor, uint32_t device);

struct node {
	struct cpus cpus;
	uint64_t mem_kb; /* UINT64_MAX: not known */
};

/* The distribution, for commands that differ. */
enum exam_os { OS_OTHER, OS_DEBIAN, OS_UBUNTU, OS_REDHAT };

struct exam {
	struct sysroot sys;
	const struct doctor_self *self;
	struct doctor_report *report;
	const struct check *check; /* that runs now */

	struct nic nic[NICS_MAX]; /* those in question: the named ones, else all */
	unsigned nnics;
	bool named; /* devices were named */

	struct cpus online;
	struct cpus may;  /* CPUs that this process may run on */
	struct cpus used; /* CPUs of the core map with control's; without a map: the same as may */
	struct cpus workers; /* those of the core map that carry traffic; empty without a map */
	bool has_map;
	struct node node[NODES_MAX];
	struct cpus nodes;        /* which of node[] are there; empty: /sys tells of none */
	bool x86, intel, virtual; /* virtual: the machine is a guest of a hypervisor */
	bool user_ns;             /* the process is in a user namespace other than the machine's */
	enum exam_os os;
	struct sbuf word[WORDS];
	unsigned nwords;
	struct sbuf flags; /* of the CPU, " fpu vme ... " with blanks around; "": not known */
};

struct check {
	const char *id;
	void (*run)(struct exam *x);
};
/* All checks, in the order in which findings of one severity are told. Ends with NULL. */
extern const struct check *const checks[];

/* nics.c and machine.c: read the facts. exam_nics() returns 0, or -EINVAL with *e. */
int exam_nics(struct exam *x, const struct doctor_ask *ask, struct err *e);
void exam_machine(struct exam *x);
/* Is the PCI device a NIC? *class gets its class, 0: not known. */
bool nic_is_network(const struct sysroot *, const char *pci, uint32_t *class);
bool nic_way_out(const struct sysroot *, const char *pci, struct doctor_way *out);

/* Adds a finding of the check that runs. subject may be NULL. The result is valid until the next
 * one is added. */
struct doctor_finding *found(struct exam *x, enum doctor_severity, const char *subject,
			     const char *what, ...) WR_PRINTF(4, 5);
/* Say why it matters, and the command that mends it. */
void found_why(struct doctor_finding *, const char *fmt, ...) WR_PRINTF(2, 3);
void found_mend(struct doctor_finding *, const char *fmt, ...) WR_PRINTF(2, 3);
/* Makes the mend a command that adds arguments to the kernel's command line, as this distribution
 * does it. Where that is not known, the arguments are told in why. */
void found_kernel_args(const struct exam *x, struct doctor_finding *, const char *args);
/* The same for an argument that is to be taken away. */
void found_kernel_no_arg(const struct exam *x, struct doctor_finding *, const char *arg);
/* Makes the mend the command that gives the program its rights, all that it needs here. */
void found_mend_caps(struct exam *x, struct doctor_finding *);

/* Text of files as one word of a shell, in quotes where it needs them. For commands and options
 * that users copy. The result is valid until the fourth call after this one. */
const char *exam_word(struct exam *x, const char *text);

/* Is this group in /sys/kernel/iommu_groups one that vfio has made without an IOMMU? */
bool exam_group_is_none(struct exam *x, const char *group);
/* What to call a device: its interface when the kernel is to use it, else its address. */
const char *nic_name(const struct nic *);
/* Is DPDK to drive the device through vfio-pci: because it was named so, or because it is bound so
 * already? */
bool nic_wants_vfio(const struct nic *);
bool exam_wants_vfio(const struct exam *x);
/* Is there a device that DPDK drives itself, or is to drive? */
bool exam_wants_dpdk(const struct exam *x);
/* Has the processor this flag of /proc/cpuinfo? */
bool exam_flag(const struct exam *x, const char *flag);
/* Has this process a right that counts on the machine? One of a user namespace does not. */
bool exam_cap(const struct exam *x, unsigned cap);
/* Has it a right that counts for the interfaces that it sees? */
bool exam_cap_net(const struct exam *x, unsigned cap);
/* May this process read and write the device file, which is there? If not, that is told. */
bool exam_may_open(struct exam *x, const char *subject, const char *path);
/* Is there a device that is given physical addresses, because it has no IOMMU that translates for
 * it and no driver of the kernel that does? It can read from hugepages alone. */
bool exam_wants_physical(const struct exam *x);
/* Appends an amount of memory: "64 MB", "1.5 GB". */
void exam_bytes(uint64_t bytes, struct sbuf *out);
/* The version of the kernel is at least this one; false also if it cannot be read. */
bool exam_kernel(const struct exam *x, unsigned major, unsigned minor);
/* The node's CPUs of those that the process may use. */
void exam_near(const struct exam *x, int node, struct cpus *out);
