# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tunnel between two hosts, as a VPN makes one: a device on each that leads to the other, without multicast.

Not every kernel that tests run on has WireGuard. As a program it passes packets on between two descriptors of TUN devices,
which are its arguments.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys

from host import Host, ip

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LONGEST = 65536
DEVICE = "tun0"


class Tunnel:
    """A process that runs this program, and a device with an address at each end; all of it ends with close()."""

    def __init__(self, one: Host, other: Host, prefix: str = "10.213.90") -> None:
        hosts = (one, other)
        self.addresses = {host.name: f"{prefix}.{number}" for number, host in enumerate(hosts, 1)}
        ends = [host.inside(open_tun) for host in hosts]
        for host, peer in zip(hosts, reversed(hosts)):
            ip("-n", host.namespace, "link", "set", DEVICE, "multicast", "off")
            ip("-n", host.namespace, "addr", "add", self.addresses[host.name], "peer", self.addresses[peer.name], "dev",
               DEVICE)
            ip("-n", host.namespace, "link", "set", DEVICE, "up")
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", sys.executable, __file__, *map(str, ends)], pass_fds=ends,
            stdin=subprocess.DEVNULL, start_new_session=True)
        for end in ends:
            os.close(end)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def open_tun() -> int:
    """Makes a TUN device in this network namespace, which is there as long as its descriptor."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return descriptor


def main() -> None:
    one, other = map(int, sys.argv[1:])
    across = {one: other, other: one}
    while True:
        for end in select.select([one, other], [], [])[0]:
            try:
                os.write(across[end], os.read(end, LONGEST))
            except BlockingIOError:
                # There is no room: the packet is lost.
                pass


if __name__ == "__main__":
    main()
