// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop

@MainLoop
extension SocketConnection {
    /// The bytes of this end's IP address, that of IPv4 if it is one in IPv6's clothes; nil if they are not known.
    var localAddress: [UInt8]? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bytes = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getsockname(descriptor, pointer, &size) == 0 ? NetworkInterface.bytes(pointer) : nil
            }
        }
        guard let bytes, bytes.count == 16, bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        else {
            return bytes
        }
        return Array(bytes.suffix(4))
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
