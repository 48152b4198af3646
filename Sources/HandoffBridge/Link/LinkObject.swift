// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What the device at the other end of a link says of the link itself.
@MainLoop
final class LinkObject: LinkServer {
    private weak var link: Link?

    init(_ link: Link) { self.link = link }

    func hello(version: UInt32, about: [String: Value], _ call: MethodCall) async throws {
        guard let link else { return }
        do {
            try link.hear(LinkHello(about), version: version)
        } catch {
            call.afterReply { [weak link] in link?.closeWhenSent("its Hello was refused: \(error)") }
            throw error
        }
        call.afterReply { [weak link] in link?.tellHello() }
    }

    func unpair(_ call: MethodCall) async throws {
        link?.forgetTrust()
        call.afterReply { [weak link] in link?.unpaired() }
    }

    func openStream(continuation: String, token: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        guard let link else { throw Peer.notPaired("This device") }
        return try await link.openStream(try ContinuationID(checking: continuation), token, call)
    }
}

/// What the device at the other end of a link says in order to be paired.
@MainLoop
final class PairingObject: PairingServer {
    private let bridge: Bridge
    private weak var link: Link?

    init(_ bridge: Bridge, _ link: Link) {
        self.bridge = bridge
        self.link = link
    }

    private func dialogue() throws -> PairingDialogue {
        guard let link, bridge.links.current[link.device] === link else {
            throw HandoffFailure(.pairingFailed, "There is another link. Pair over that.")
        }
        return bridge.pairings.dialogue(link)
    }

    func request(_ call: MethodCall) async throws { try dialogue().requestReceived(call) }

    func commit(commitment: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        try await dialogue().commitReceived(commitment, call)
    }

    func reveal(nonce: [UInt8], _ call: MethodCall) async throws {
        try dialogue().revealReceived(nonce, call)
    }

    func confirm(_ call: MethodCall) async throws { try dialogue().confirmReceived(call) }
    func cancel(reason: String, _ call: MethodCall) async throws {
        try dialogue().cancelReceived(reason, call)
    }
}

extension HandoffFailure {
    /// What is not there yet, on both sides.
    static var documentsNotYet: HandoffFailure {
        HandoffFailure(.notSupported, "This version brings no documents over. Use a stream.")
    }

    /// On a link a stream is asked for by the `OpenStream` of `Link`.
    static var noStreamHere: HandoffFailure {
        HandoffFailure(
            .notSupported, "A link carries no descriptors. Call OpenStream of org.example.Handoff.Link.")
    }

    /// The user has switched Handoff off.
    static var switchedOff: HandoffFailure {
        HandoffFailure(.disabled, "Handoff is switched off. Switch it on, then try again.")
    }

    /// There is no way to `device` now.
    static func unreachable(_ device: String, _ why: String) -> HandoffFailure {
        HandoffFailure(.connectionUnavailable, "\(device) cannot be reached: \(why)")
    }
}
