// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the way in needs from its surroundings.
@MainLoop
protocol EntranceOwner: AnyObject {
    /// The port that the user has chosen in the settings, 0 for none.
    var configuredPort: UInt16 { get }
    /// This device now listens elsewhere, or not at all.
    func portChanged()
    /// This device listens again, having tried in vain before: others are to hear of it.
    func entranceReopened()
}

/// The way in for others: open while Handoff is on.
@MainLoop
final class Entrance {
    /// Where to listen; nil for every address, with the configured port.
    var address: NetworkAddress?
    private let state: BridgeState
    private let owner: any EntranceOwner
    private let admission: Admission
    private var listener: Listener?
    private var retry: LoopSource?
    /// The ports that were listened on last, by which this device could be recognised.
    private var recent: [UInt16] = []
    private static let maximumRecent = 8

    /// How long it takes until a port that was not available is tried again.
    private static let retryInterval = Duration.seconds(5)

    /// Hands the connections that come in to `admission`.
    init(_ state: BridgeState, _ owner: any EntranceOwner, _ admission: Admission) {
        (self.state, self.owner) = (state, owner)
        self.admission = admission
    }

    /// The port that is listened on, 0 for none.
    var port: UInt16 { listener?.port ?? 0 }

    /// Whether somebody who connects to `host`, an IP address of this machine, arrives here.
    func listens(at host: String) -> Bool {
        switch address?.host {
        case nil, "::": true
        case "0.0.0.0": !host.contains(":")
        case let own?: own == host
        }
    }

    /// Begins to listen; if that is not possible, tries again later.
    func open() {
        if listener == nil { listen() }
    }

    /// Listens on another port from now on, unless the user has chosen it.
    func renewPort() {
        if chosenPort == 0, listener != nil { listen() }
    }

    /// The port that the user has chosen, 0 for none.
    private var chosenPort: UInt16 { address?.port ?? owner.configuredPort }
    /// The port if it is the same at each start and on each network; nil otherwise.
    var lastingPort: UInt16? { chosenPort == 0 ? nil : port }
    /// Whether the port is another one of ``Listener/ports`` at each start.
    var choosesPort: Bool { chosenPort == 0 && Listener.ports.contains(port) }

    /// The user has chosen another port, which counts unless an address was given.
    func portChosen() {
        guard address == nil, listener != nil || retry != nil else { return }
        (listener, retry) = (nil, nil)
        listen()
    }

    private func listen() {
        do {
            let others = Set(recent + [OwnPlaces.port(of: state.ownID)])
            let listener = try Listener(address, port: chosenPort, otherThan: others) { [weak self] socket in
                self?.admission.admit(socket)
            }
            self.listener = listener
            recent = (recent + [listener.port]).suffix(Self.maximumRecent)
            bridgeLog.info("Listening on port \(listener.port).")
            owner.portChanged()
        } catch {
            let place = address.map { "\($0)" } ?? "port \(chosenPort)"
            state.refusals.note(
                "Others cannot connect, since \(place) is not available: \(error) Trying again.")
            if port == 0 { owner.portChanged() }
            retry = .timer(after: Self.retryInterval) { [weak self] in
                guard let self else { return }
                open()
                if listener != nil { owner.entranceReopened() }
            }
        }
    }

    /// Takes a connection that a carrier has brought here.
    /// - Throws: if it is none, if nobody is let in, or if there are too many of them.
    func take(_ carried: consuming FileDescriptor) throws {
        guard state.isOn else { throw HandoffFailure.disabled }
        if let refusal = admission.admit(try SocketConnection(carrying: carried, "by a carrier")) {
            throw HandoffFailure(.limitsExceeded, "\(refusal) Try again in a moment.")
        }
    }

    /// Ends listening, and the connections that have not become links.
    func close() {
        retry = nil
        admission.closeAll()
        guard listener != nil else { return }
        listener = nil
        owner.portChanged()
    }
}
