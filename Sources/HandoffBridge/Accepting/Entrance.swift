// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// The way in for others: open while Handoff is on.
@MainLoop
final class Entrance {
    /// Where to listen; nil for every address, with the configured port.
    var address: NetworkAddress?
    private let bridge: Bridge
    private lazy var admission = Admission(bridge)
    private var listener: Listener?
    private var retry: LoopSource?

    /// How long until a port that could not be had is tried again.
    private static let retryInterval = Duration.seconds(5)

    init(_ bridge: Bridge) { self.bridge = bridge }

    /// The port that is listened on, 0 for none.
    var port: UInt16 { listener?.port ?? 0 }

    /// Whether who connects to `host`, an IP address of this machine, gets here.
    func isOpen(_ host: String) -> Bool {
        switch address?.host {
        case nil, "::": true
        case "0.0.0.0": !host.contains(":")
        case let own?: own == host
        }
    }

    /// Begins to listen; again later if that cannot be had.
    func open() {
        if listener == nil { listen() }
    }

    /// Listens on another port from now on, unless the user has chosen it.
    func renewPort() {
        if chosenPort == 0, listener != nil { listen() }
    }

    /// The port that the user has chosen, 0 for none.
    private var chosenPort: UInt16 { address?.port ?? bridge.settings.port }

    /// The user has chosen another port, which counts unless an address was given.
    func portChosen() {
        guard address == nil, listener != nil || retry != nil else { return }
        (listener, retry) = (nil, nil)
        listen()
    }

    private func listen() {
        do {
            let listener = try Listener(address, port: chosenPort, otherThan: port) { [weak self] socket in
                self?.admission.admit(socket)
            }
            self.listener = listener
            bridgeLog.info("Listening on port \(listener.port).")
            bridge.portChanged()
        } catch {
            let place = address.map { "\($0)" } ?? "port \(chosenPort)"
            bridge.refusals.note(
                "Others cannot connect, since \(place) is not to be had: \(error) Trying again.")
            if port == 0 { bridge.portChanged() }
            retry = .timer(after: Self.retryInterval) { [weak self] in
                guard let self else { return }
                open()
                if listener != nil { bridge.discovery.renew() }
            }
        }
    }

    /// Ends listening, and the connections that have not become links.
    func close() {
        retry = nil
        admission.closeAll()
        guard listener != nil else { return }
        listener = nil
        bridge.portChanged()
    }
}
