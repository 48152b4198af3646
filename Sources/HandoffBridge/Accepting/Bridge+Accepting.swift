// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Bridge: AdmissionOwner {
    func mayBePeer(at source: String) -> Bool { whereabouts.mayBePeer(at: source) }
    func checkBar(_ device: DeviceID) throws { try links.checkBar(device) }

    func admitted(
        _ transport: TLSConnection, from address: String, helloWithin time: Duration, isFarewell: Bool
    ) throws {
        let origin: Link.Origin =
            transport.isCarried ? .carried(address, isDialled: false) : .accepted(from: address)
        _ = try links.add(transport, origin, helloWithin: time, isFarewell: isFarewell)
    }

    func expectedStreams(from host: String) -> Int { streams.connector.expectedConnections(from: host) }

    func claimStream(_ entry: [UInt8], _ exchange: Knock.Exchange) -> StreamTokens.Ticket? {
        streams.connector.claim(entry, exchange)
    }

    func streamArrived(_ transport: TLSConnection, for ticket: StreamTokens.Ticket) {
        streams.connector.arrived(transport, for: ticket)
    }

    func streamRefused(_ ticket: StreamTokens.Ticket, _ error: any Error) {
        streams.connector.refused(ticket, error)
    }
}

extension Bridge: OwnPlacesOwner {
    var sharesPlaces: Bool { settings.sharesAddresses }
    var lastingPort: UInt16? { entrance.lastingPort }
    func placesChanged() { links.sayHello() }
}

extension Bridge: EntranceOwner {
    var configuredPort: UInt16 { settings.port }
    func entranceReopened() { discovery.renew() }
}
