-- SPDX-License-Identifier: BSD-3-Clause
-- What this is, what ports are set to, and files of settings, both kinds. Its argument is a folder.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local dir = arg[1] or "."
printf("Lua Version      : %s\n", pktgen.info.Lua_Version)
printf("Pktgen Version   : %s\n", pktgen.info.Pktgen_Version)
printf("DPDK Version     : %s\n", pktgen.info.DPDK_Version)
printf("ports %d of %d\n", pktgen.portCount(), pktgen.totalPorts())

pktgen.set("0", "count", 12)
pktgen.set("0", "size", 300)
pktgen.set("0", "rate", 12.5)
pktgen.set_proto("0", "udp")
pktgen.set("0", "dport", 99)
pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1000, 2000, "ipv4", "udp", 1, 64)
pktgen.range.dst_port("0", "start", 7)
for _, name in ipairs({ "state.pkt", "state.lua" }) do
    pktgen.save(dir .. "/" .. name)
    local before = serialize("info", pktgen.portInfo("0")[0].info)
    pktgen.reset("0")
    printf("reset %s\n", tostring(before ~= serialize("info", pktgen.portInfo("0")[0].info)))
    pktgen.load(dir .. "/" .. name)
    printf("again %s\n", tostring(before == serialize("info", pktgen.portInfo("0")[0].info)))
end
prints("portInfo", pktgen.portInfo("0"))
pktgen.run("cmd", "set 0 count 3", 0)
pktgen.run("lua", "pktgen.start('0')", 0)
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
pktgen.process("0", "on")
pktgen.process("all", "on")
pktgen.quit()
