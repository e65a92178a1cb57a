-- SPDX-License-Identifier: BSD-3-Clause
-- The Lua API of Pktgen-DPDK on wirerate: `require "Pktgen"` gives the tables `pktgen` and `dpdk`
-- and the helpers printf, prints, serialize and sleep. Each function runs a line of the command
-- language, which has Pktgen's words.
local host = require "wirerate.pktgen.host"
local text = require "wirerate.pktgen.text"
require "wirerate.pktgen.lua53"

local pktgen = host.pktgen
require "wirerate.pktgen.control"
require "wirerate.pktgen.session"
require "wirerate.pktgen.frame"
require "wirerate.pktgen.sequence"
require "wirerate.pktgen.range"
require "wirerate.pktgen.stats"
require "wirerate.pktgen.info"
local dpdk = require "wirerate.pktgen.dpdk"

local _G = _G
rawset(_G, "pktgen", pktgen)
-- files that some versions of Pktgen saved misspell the name in one place
rawset(_G, "pkrgen", pktgen)
rawset(_G, "dpdk", dpdk)
rawset(_G, "printf", text.printf)
rawset(_G, "prints", text.prints)
rawset(_G, "serialize", text.serialize)
rawset(_G, "sleep", pktgen.sleep)
return pktgen
