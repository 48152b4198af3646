// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The programs that bring byte streams to peers (docs/carriers.md), as long as they are on the bus.
@MainLoop
final class Carriers {
    /// A way to a peer.
    struct Carrier: Equatable {
        /// Whose it is: a unique name.
        let owner: BusName
        /// Its object.
        let path: ObjectPath
        /// What brings the stream, for people.
        let label: String

        /// The way, as people read it.
        var way: String { "by \(label)" }
    }

    /// How many there may be.
    static let maximum = 64
    /// How long one may take to connect.
    static let patience = Duration.seconds(10)

    private let state: BridgeState
    private let bus: Bus
    /// There is another carrier to this peer, or one fewer.
    private let onChange: @MainLoop (_ device: DeviceID, _ isNew: Bool) -> Void
    /// Those to each device, the latest first.
    private var all: [DeviceID: [Carrier]] = [:]
    private var watches: [BusName: NameWatch] = [:]

    /// None yet. `onChange` is called when there is another one to a peer, which `isNew`, and when one has left.
    init(
        _ state: BridgeState, _ bus: Bus, _ onChange: @escaping @MainLoop (_: DeviceID, _ isNew: Bool) -> Void
    ) {
        (self.state, self.bus, self.onChange) = (state, bus, onChange)
    }

    /// Those to `device`, in the order in which they are to be asked.
    func to(_ device: DeviceID) -> [Carrier] { all[device] ?? [] }

    /// The object at `path` of `caller` is a carrier to `device` from now on, until `caller` leaves the bus or `device` is no peer
    /// any more.
    /// - Throws: what is wrong with that, for people.
    func register(_ path: ObjectPath, of caller: BusName, to device: DeviceID, _ label: String)
        throws(HandoffFailure)
    {
        guard state.isTrusted(device) else { throw Peer.notPaired(state.label(of: device)) }
        guard !label.isEmpty, PeerText.name(label) == label else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.title(label))” can’t be the label of a carrier. Give one of 1 to"
                    + " \(PeerText.maximumName) characters, without control characters, and without white space at the"
                    + " ends.")
        }
        let carrier = Carrier(owner: caller, path: path, label: label)
        let others = to(device).filter { $0.owner != caller || $0.path != path }
        guard others.count < to(device).count || all.values.reduce(0, { $0 + $1.count }) < Self.maximum else {
            throw .tooMany("carriers", limit: Self.maximum, advice: "End those that are no longer needed.")
        }
        all[device] = [carrier] + others
        if watches[caller] == nil {
            watches[caller] = bus.watch(caller) { [weak self] owner in
                if owner == nil { self?.left(caller) }
            }
        }
        bridgeLog.info("\(caller) carries to \(state.label(of: device)) \(carrier.way).")
        onChange(device, true)
    }

    private func left(_ owner: BusName) {
        watches[owner] = nil
        for (device, carriers) in all where carriers.contains(where: { $0.owner == owner }) {
            let others = carriers.filter { $0.owner != owner }
            all[device] = others.isEmpty ? nil : others
            onChange(device, false)
        }
    }

    /// `device` is no peer any more.
    func forget(_ device: DeviceID) { all[device] = nil }

    /// A connection that `carrier` makes.
    /// - Throws: why there is none.
    func connect(_ carrier: Carrier) async throws -> SocketConnection {
        let object = RemoteObject(bus.connection, carrier.owner, carrier.path)
        let connection: FileDescriptor
        do {
            connection = try await CarrierProxy(object).connect(timeout: Self.patience)
        } catch let error as DBusError where error.name == .noReply {
            throw TLSFailure("no connection came within \(Self.patience), or the carrier has ended")
        } catch let error as DBusError {
            throw TLSFailure(PeerText.message(error.message))
        }
        return try SocketConnection(carrying: connection, carrier.way)
    }
}
