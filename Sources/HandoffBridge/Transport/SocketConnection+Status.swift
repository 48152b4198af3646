// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop

@MainLoop
extension SocketConnection {
    /// The bytes of this end's IP address, that of IPv4 if it is one in IPv6's clothes; nil if they are not known.
    var localAddress: [UInt8]? {
        guard let bytes = localEnd?.address else { return nil }
        guard bytes.count == 16, bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] else {
            return bytes
        }
        return Array(bytes.suffix(4))
    }

    /// Where the other side has got, as it may have said in its knock; nil if that is not known.
    var localDestination: KnockDestination? {
        localEnd.flatMap { KnockDestination(address: $0.address, port: $0.port) }
    }

    /// This end's IP address as the kernel has it, and its port.
    private var localEnd: (address: [UInt8], port: UInt16)? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                guard getsockname(descriptor, raw, &size) == 0, let bytes = NetworkInterface.bytes(raw)
                else { return nil }
                // The port is at the same place in addresses of both families.
                let port = raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
                return (bytes, UInt16(bigEndian: port))
            }
        }
    }

    /// The silence of the other side's kernel; nil if it has acknowledged everything (tcp(7), `TCP_INFO`).
    var silence: Silence? {
        var info = tcp_info()
        var size = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return nil }
        guard info.tcpi_unacked > 0 else { return nil }
        return Silence(
            duration: .milliseconds(Int64(info.tcpi_last_ack_recv)), isDoubtful: info.tcpi_retransmits > 0)
    }
}
