// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where somebody has announced to be of late, also if that has been taken back: whoever announces an address and takes it
/// back while it is being dialled must not be taken for one whose address the user has given.
struct AnnouncedPlaces {
    /// For how long an address is remembered, in microseconds.
    static let life: Int64 = 600_000_000
    /// How many are; of more, the oldest go.
    static let maximum = 4096

    private var times: [NetworkAddress: Int64] = [:]

    /// How many are remembered.
    var count: Int { times.count }

    /// Somebody announces to be at `addresses`, or did until `now`, in microseconds.
    mutating func note(_ addresses: some Sequence<NetworkAddress>, at now: Int64) {
        for address in addresses { times[address] = now }
        guard times.count > Self.maximum else { return }
        times = times.filter { now - $0.value < Self.life }
        let excess = times.count - Self.maximum * 3 / 4
        guard times.count > Self.maximum else { return }
        for (address, _) in times.sorted(by: { $0.value < $1.value }).prefix(excess) { times[address] = nil }
    }

    /// Whether somebody announced to be at `address` within the last ``life``.
    func contains(_ address: NetworkAddress, at now: Int64) -> Bool {
        times[address].map { now - $0 < Self.life } ?? false
    }
}
