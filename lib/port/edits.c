/* SPDX-License-Identifier: BSD-3-Clause */
/* What drivers do to the buffers of frames that they send, as far as we have read it in their
 * sources. DPDK lets them do anything: a buffer is theirs until they free it. */
#include <string.h>

#include "port_int.h"

#define MADE_BY_CPU \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_SCTP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO)

/* Drivers in software. Keepers free a buffer or hand it on as it is. Copiers send a copy of it. */
static const char *const keepers[] = {"net_null", "net_ring"};
static const char *const copiers[] = {"net_pcap", "net_af_packet", "net_af_xdp", "net_memif"};

/* Drivers of hardware, where the device reads the frame from our buffer. If checksums are left to
 * the device, the driver writes what that needs into the headers. Some drivers pad frames that are
 * too short. */
static const char *const hardware[] = {
	"mlx5_pci",     "mlx5_auxiliary", "net_mlx4",         "net_ixgbe",     "net_ixgbe_vf",
	"net_i40e",     "net_i40e_vf",    "net_iavf",         "net_ice",       "net_ice_dcf",
	"net_e1000_em", "net_e1000_igb",  "net_e1000_igb_vf", "net_igc",       "net_fm10k",
	"net_idpf",     "net_cpfl",       "net_bnxt",         "net_ena",       "net_gve",
	"net_enic",     "net_cxgbe",      "net_cxgbevf",      "net_sfc_efx",   "net_qede",
	"net_qede_vf",  "net_bnx2x",      "net_bnx2xvf",      "net_hns3",      "net_hns3_vf",
	"net_hinic",    "net_hinic3",     "net_ionic",        "net_ionic_pci", "net_mana",
	"net_axgbe",    "net_atlantic",   "net_txgbe",        "net_txgbe_vf",  "net_ngbe",
	"net_ngbe_vf",  "net_thunderx",   "net_cn9k",         "net_cn10k",     "net_cn20k",
};

static bool edits_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

enum dp_edits dev_edits(const char *driver, uint64_t tx_offload_capa)
{
	if (driver == NULL)
		return DP_EDITS_ALL;
	if (edits_among(driver, hardware, ARRAY_SIZE(hardware)))
		return DP_EDITS_SHAPE;
	if (tx_offload_capa & MADE_BY_CPU) /* it offers more than it did when we read it */
		return DP_EDITS_ALL;
	if (edits_among(driver, keepers, ARRAY_SIZE(keepers)))
		return DP_EDITS_NOTHING;
	return edits_among(driver, copiers, ARRAY_SIZE(copiers)) ? DP_EDITS_SHAPE : DP_EDITS_ALL;
}
