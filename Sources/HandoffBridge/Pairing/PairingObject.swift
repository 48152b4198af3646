// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// Takes what the device at the other end of a link says in order to be paired.
@MainLoop
final class PairingObject: PairingServer {
    private let pairings: Pairings
    private weak var link: Link?

    init(_ pairings: Pairings, _ link: Link) {
        self.pairings = pairings
        self.link = link
    }

    private func dialogue() throws -> PairingDialogue { try pairings.currentDialogue(link) }

    func request(_ call: MethodCall) throws { try dialogue().requestReceived(call) }

    func commit(commitment: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        try await dialogue().commitReceived(commitment, call)
    }

    func reveal(nonce: [UInt8], _ call: MethodCall) throws {
        try dialogue().revealReceived(nonce, call)
    }

    func confirm(_ call: MethodCall) throws { try dialogue().confirmReceived(call) }
    func cancel(reason: String, _ call: MethodCall) throws {
        try dialogue().cancelReceived(reason, call)
    }
}
