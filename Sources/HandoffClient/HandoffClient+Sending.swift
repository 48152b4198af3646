// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// What was called, on its way to the broker.
extension HandoffClient {
    /// Has what was called since sent once everything that is on its way to this client now has been taken.
    func scheduleFlush() {
        if isFlushScheduled { return }
        isFlushScheduled = true
        MainLoop.start { [weak self] in self?.flush() }
    }

    /// Sends what was called and not sent yet.
    func flush() {
        isFlushScheduled = false
        guard let broker else { return resumeWaiting() }
        let began = epoch
        for call in activities.take() {
            MainLoop.start { [weak self] in
                let outcome = await call.perform(with: broker)
                guard let self, began == self.epoch else { return }
                await answered(call, outcome, broker, began)
            }
        }
        if activities.isSettled { resumeWaiting() }
    }

    private func answered(
        _ call: ActivityBook.Call, _ outcome: Result<ObjectPath?, DBusError>, _ broker: Daemon, _ began: Int
    ) async {
        switch outcome {
        case .success(let path?): tell(activities.created(call.key, at: path))
        case .success(nil): activities.accepted(call.key, call.step)
        case .failure(let error):
            if Self.saysThatItIsGone(error) { return }
            if error.name == .noReply {
                // Unless the broker is still there, the watch says what has become of it.
                let owner = try? await broker.bus.owner(of: HandoffNames.broker)
                guard began == epoch, owner == broker.name else { return }
            }
            tell(activities.refused(call.key, call.step, error))
        }
        flush()
    }

    func tell(_ events: [ActivityBook.Event]) {
        for event in events {
            switch event {
            case .created(let key, let path): delegate?.created(key, at: path)
            case .currentChanged(let key, let isCurrent): delegate?.currentChanged(key, isCurrent)
            case .needsSaveChanged(let key, let needsSave): delegate?.needsSaveChanged(key, needsSave)
            case .refused(let key, let error, let restored):
                delegate?.refused(key, error, restored: restored)
            }
        }
    }

    func changed(_ signal: Message) {
        guard let broker, signal.sender == broker.name, let path = signal.path else { return }
        var reader = MessageReader(signal)
        guard (try? reader.read(String.self)) == ActivityProxy.interface.text,
            let properties: [String: Value] = try? reader.read()
        else { return }
        tell(activities.changed(at: path, properties))
    }
}
