// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import MainLoop

/// The part of ``BusBackend`` on the main loop: the client, and what it tells, which goes to the main actor in order.
@MainLoop
final class BusListener: HandoffClientDelegate {
    /// The client, which is made when it is first needed, on the main loop.
    private(set) lazy var client = makeClient()
    /// How many turns of the main actor have taken effect here.
    var turn: UInt64 = 0
    private let address: Bus.Address
    private let events: BusEventQueue

    /// A listener to the client on the bus at `address`.
    nonisolated init(_ address: Bus.Address, _ events: BusEventQueue) {
        self.address = address
        self.events = events
    }

    private func makeClient() -> HandoffClient {
        let client = HandoffClient(address)
        client.delegate = self
        return client
    }

    /// Takes the registration back. Nothing happens any more.
    func end() {
        client.stop()
        events.end()
    }

    /// Opens a stream of a continuation.
    /// - Returns: a descriptor that the caller has to close.
    func openStream(_ key: ContinuationKey) async -> Result<CInt, HandoffFailure> {
        do { return .success(try await client.openStream(key).take()) } catch {
            return .failure(HandoffFailure(ofBroker: error))
        }
    }

    private func tell(_ event: BusEvent) { events.add(event) }

    // MARK: The broker

    func standingChanged(_ standing: ClientStanding) {
        switch standing {
        case .absent, .withoutBus: tell(.standing(.absent))
        case .busEnded: tell(.standing(.ended))
        case .registered: tell(.standing(.registered))
        case .refused(let error), .replaced(let error):
            tell(.standing(.refused(HandoffFailure(ofBroker: error))))
        }
    }

    // MARK: Activities

    func currentChanged(_ key: ActivityKey, _ isCurrent: Bool) {
        tell(.current(key, isCurrent))
    }

    func created(_ key: ActivityKey, at path: ObjectPath) {
        if let type = client.wantedType(of: key), !type.isEmpty {
            return tell(.created(key, type: type))
        }
        MainLoop.start { [weak self] in
            // An activity that has ended by then, or whose broker has, is of no type.
            guard let type = try? await self?.client.type(of: key) else { return }
            self?.tell(.created(key, type: type))
        }
    }

    func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?]) {
        tell(
            .refused(
                key, HandoffFailure(ofBroker: error), restored: restored, turn: turn))
    }

    func willSave(_ key: ActivityKey) async throws -> [String: Value] {
        try await withCheckedContinuation { tell(.willSave(key, $0)) }.get()
    }

    func wasContinued(_ key: ActivityKey, on device: ClientDevice) {
        tell(.wasContinued(key, ContinuationDevice(device)))
    }

    func didReceiveStream(
        _ key: ActivityKey, _ stream: consuming FileDescriptor, _ call: MethodCall
    ) {
        tell(.stream(key, stream.take()))
    }

    // MARK: Activities of others

    func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async -> Bool {
        await withCheckedContinuation {
            tell(.willContinue(type: type, ContinuationDevice(device), $0))
        }
    }

    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        let handed = BusEvent.Handed(
            number: key, activity: activity,
            device: ContinuationDevice(ClientDevice(context)),
            activationToken: context.text("ActivationToken"))
        return try await withCheckedContinuation { tell(.continueActivity(handed, $0)) }.get()
    }

    func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) {
        tell(.failed(type: type, HandoffFailure(ofBroker: error)))
    }
}

extension ContinuationDevice {
    fileprivate init(_ device: ClientDevice) { self.init(id: device.id, name: device.name) }
}
