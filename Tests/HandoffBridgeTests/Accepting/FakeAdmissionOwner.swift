// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop

@testable import HandoffBridge

/// What stands in for everything around ``Admission``: it keeps whoever is let in, and does nothing more.
@MainLoop
final class FakeAdmissionOwner: AdmissionOwner {
    let shared: TestState
    var welcomesStrangers = false
    /// Who was let in, in order.
    var admitted: [DeviceID] = []
    private var transports: [TLSConnection] = []

    init() throws { shared = try TestState() }

    func mayBePeer(at source: String) -> Bool { true }
    func welcomesStranger(from host: String) -> Bool { welcomesStrangers }
    func checkBar(_ device: DeviceID) throws {}

    func admitted(
        _ transport: TLSConnection, from address: String, helloWithin time: Duration, isFarewell: Bool
    ) throws {
        admitted.append(transport.peer)
        transports.append(transport)
    }

    func expectedStreams(from host: String) -> Int { 0 }
    func claimStream(_ entry: [UInt8], _ exchange: Knock.Exchange) -> StreamTokens.Ticket? { nil }
    func streamArrived(_ transport: TLSConnection, for ticket: StreamTokens.Ticket) { transport.close() }
    func streamRefused(_ ticket: StreamTokens.Ticket, _ error: any Error) {}
}
