// SPDX-License-Identifier: LGPL-2.1-or-later

/// The addresses that somebody has recently announced, including those that were withdrawn since: whoever
/// announces an address and withdraws it while it is being dialled must not pass for a device whose address
/// the user has given.
struct AnnouncedAddresses {
    /// For how long an address is remembered, in microseconds.
    static let life: Int64 = 600_000_000
    /// How many addresses are remembered; if there are more, the oldest go.
    static let maximum = 4096

    private var times: [NetworkAddress: Int64] = [:]

    /// How many addresses are remembered now.
    var count: Int { times.count }

    /// Somebody announces `addresses` as its own, or did until `now`, in microseconds.
    mutating func note(_ addresses: some Sequence<NetworkAddress>, at now: Int64) {
        for address in addresses { times[address] = now }
        guard times.count > Self.maximum else { return }
        times = times.filter { now - $0.value < Self.life }
        let excess = times.count - Self.maximum * 3 / 4
        guard times.count > Self.maximum else { return }
        for (address, _) in times.sorted(by: { $0.value < $1.value }).prefix(excess) { times[address] = nil }
    }

    /// Whether somebody announced `address` as its own within the last ``life``.
    func contains(_ address: NetworkAddress, at now: Int64) -> Bool {
        times[address].map { now - $0 < Self.life } ?? false
    }
}
