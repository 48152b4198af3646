// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffInterfaces
package import MainLoop

/// One call of `ContinueAll` for several activities, and what comes of each.
@MainLoop
package final class ContinueAllCall {
    /// Called when the broker has accepted the call, which can be cancelled from then on.
    package var onAccepted: (@MainLoop () -> Void)?
    /// Called when ``report`` is another, with what it was before.
    package var onChange: (@MainLoop (ContinueAllReport) -> Void)?
    /// What has become of each, as far as that is known.
    package private(set) var report: ContinueAllReport

    private let broker: Daemon
    private let events: AsyncStream<Void>
    private let feed: AsyncStream<Void>.Continuation
    private var path: ObjectPath?
    private var hasBrokerEnded = false
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?

    /// A call for `offers` of `broker`, which has to have been asked for its offers on this connection. The first of them comes
    /// last, and so is in front in the end.
    package init(_ broker: Daemon, _ offers: [RemoteOffer]) {
        self.broker = broker
        report = ContinueAllReport(offers)
        (events, feed) = AsyncStream.makeStream()
        let (name, connection) = (broker.name, broker.bus.connection)
        tokens = [
            connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) },
            connection.whenClosed { [weak self] _ in self?.brokerEnded() },
        ]
        watch = broker.bus.watch(HandoffNames.broker) { [weak self] in
            if $0 != name { self?.brokerEnded() }
        }
    }

    /// Calls `ContinueAll` with `options`, and waits until all are over.
    /// - Throws: the error with which the broker answers; ``ContinueCall/Failure``, and then ``report`` is what the broker has
    ///   said last: what is neither continued nor failed there may have been continued or not.
    package func outcome(of options: [String: Value]) async throws -> ContinueAllReport {
        do {
            let path = try await broker.manager.continueAll(
                activities: report.entries.reversed().map(\.offer.path), options: options)
            self.path = path
            onAccepted?()
            // What has changed before the path was known.
            update(try await broker.properties(ContinueAllProxy.interface, path))
        } catch {
            guard hasBrokerEnded else { throw error }
        }
        feed.yield()
        for await _ in events {
            if report.isOver { return report }
            if hasBrokerEnded { break }
        }
        throw ContinueCall.Failure.brokerEnded
    }

    /// Begins no more of them, and cancels what is being continued, unless it is too late.
    /// - Throws: the error with which the broker answers.
    package func cancel() async throws {
        if let path { try await ContinueAllProxy(broker.object(path)).cancel() }
    }

    private func brokerEnded() {
        hasBrokerEnded = true
        feed.yield()
    }

    private func changed(_ signal: Message) {
        guard let path, signal.sender == broker.name, signal.path == path else { return }
        var reader = MessageReader(signal)
        guard (try? reader.read(String.self)) == ContinueAllProxy.interface.text,
            let properties: [String: Value] = try? reader.read()
        else { return }
        update(properties)
        feed.yield()
    }

    private func update(_ properties: [String: Value]) {
        let before = report
        report.update(properties)
        if report != before { onChange?(before) }
    }
}
