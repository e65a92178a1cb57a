-- SPDX-License-Identifier: BSD-3-Clause
-- Hello, world: sends a thousand frames, and looks whether they arrived.
--
--   wirerate -p wire -b -f hello.lua
--   wirerate -p pci:0000:3b:00.0 -p pci:0000:3b:00.1 -b -f hello.lua
local wr = require "wirerate"
local from, to = 0, 1 -- on real ports: write the numbers of yours

wr.port[from].rate = "10kpps"
wr.port[from].count = 1000
wr.clear("all")
wr.start(from)
wr.wait(from)
local stats = wr.stats()
local sent, got = stats.ports[from].tx.packets, stats.ports[to].rx.packets
print(("hello: %s sent %d frames, %s received %d"):format(stats.ports[from].name, sent, stats.ports[to].name, got))
wr.expect(sent == 1000 and got == sent, "every frame arrived")
