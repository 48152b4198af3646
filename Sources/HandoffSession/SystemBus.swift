// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop
package import Platform

/// The connection with the system bus. When it is lost, it is made anew: a few attempts are made without
/// another reason, and then one whenever there is a reason for it.
@MainLoop
package final class SystemBus {
    /// How a connection is made.
    package typealias Connect = @MainLoop @Sendable () async throws -> Bus

    /// The connection; nil while there is none.
    package private(set) var bus: Bus?
    private let log: Log
    private let make: Connect
    private let changed: @MainLoop (Bus?) -> Void
    private let repetition = Repetition()
    /// Whether a connection is being made, which may take for ever.
    package private(set) var isMaking = false
    /// Whether a connection is being made, and has not taken too long yet.
    package var isConnecting: Bool { isMaking && overdue != nil }
    /// The wait until connecting takes too long: the system may wait for ever for a bus to take a connection.
    private var overdue: LoopSource?
    private static let patience = Duration.seconds(10)
    /// Whether there was a reason to try again meanwhile.
    private var isWantedAgain = false
    /// Whether there has ever been a connection.
    private var hasConnected = false

    /// How often connecting is tried again without another reason after the connection was lost; a session
    /// that has no system bus is not to be woken for ever.
    private static let maximumAttempts = 10

    /// Makes connections with `make`, and says in `log` when there is none. Calls `changed` with each new connection, and with nil when one is lost
    /// or did not come about.
    package init(
        log: Log, _ make: @escaping Connect = { try await Bus.connect(.system) },
        _ changed: @escaping @MainLoop (Bus?) -> Void
    ) {
        self.log = log
        self.make = make
        self.changed = changed
    }

    /// Connects if there is no connection, since there is reason to believe that it is possible now.
    package func connect() {
        repetition.end()
        attempt()
    }

    private func attempt() {
        repetition.pause()
        guard bus == nil else { return }
        // There is one attempt at a time, since each has a thread, which may have to wait for a long time.
        if isMaking {
            isWantedAgain = true
            return
        }
        isMaking = true
        overdue = .timer(after: Self.patience) { [weak self] in
            self?.overdue = nil
            self?.log.info("The system bus does not answer.")
            self?.changed(nil)
        }
        MainLoop.start { [weak self, make] in
            let result: Result<Bus, any Error>
            do { result = .success(try await make()) } catch { result = .failure(error) }
            self?.attempted(result)
        }
    }

    private func attempted(_ result: Result<Bus, any Error>) {
        isMaking = false
        overdue = nil
        defer { isWantedAgain = false }
        switch result {
        case .success(let new):
            bus = new
            hasConnected = true
            new.connection.onClosed = { [weak self] _ in self?.lost() }
            changed(new)
        case .failure(let error):
            if isWantedAgain { return attempt() }
            if hasConnected { return retryLater() }
            log.info("There is no system bus: \(DBusError.converting(error).message)")
            changed(nil)
        }
    }

    private func lost() {
        log.info("The connection with the system bus is lost.")
        // The old connection is freed by way of the main loop, since this is called from within it.
        let old = bus
        bus = nil
        changed(nil)
        MainLoop.start { withExtendedLifetime(old) {} }
        retryLater()
    }

    private func retryLater() {
        repetition.repeatLater(atMost: Self.maximumAttempts) { [weak self] in self?.attempt() }
    }
}
