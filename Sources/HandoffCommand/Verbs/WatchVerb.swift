// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff watch`: prints offers as they come and go.
struct WatchVerb: Verb {
    static let name = "watch"
    static let summary = tr("Print the offers of other devices as they come and go, until interrupted")

    static let jsonSummary = tr("Print JSON, one object a line")

    init(_ values: ProgramOptions.Values) {}

    func run(in session: Session) async throws -> Int32 {
        _ = try await session.broker()
        let bus = try session.bus()
        let events = DaemonEvents(bus, HandoffNames.broker)
        let printer = WatchPrinter(printsJSON: session.printsJSON) { events.end() }
        var feed: OfferFeed?
        var isFirst = true
        for await event in events.stream {
            if let failure = printer.failure { throw failure }
            switch event {
            case .end: return 0
            case .busEnded: throw CommandFailure.busEnded
            case .failed(let failure): throw failure
            case .owner(let owner):
                feed?.end()
                if feed != nil { printer.broker(isThere: false) }
                feed = nil
                guard let owner, let broker = try await session.believed(owner, of: HandoffNames.broker)
                else { continue }
                if !isFirst { printer.broker(isThere: true) }
                isFirst = false
                let next = OfferFeed(broker) { printer.print($0) }
                feed = next
                do { try await next.begin() } catch {
                    // If the broker has gone in the meantime, the next event says so.
                    if try await bus.owner(of: HandoffNames.broker) == owner { throw error }
                }
            }
        }
        return 0
    }
}

/// Prints what `handoff watch` reports.
@MainLoop
private final class WatchPrinter {
    /// What has happened, as programs read it.
    private enum Event: String, CaseIterable {
        case offered, changed, withdrawn

        /// As people read it.
        var word: String {
            switch self {
            case .offered: tr("offered")
            case .changed: tr("changed")
            case .withdrawn: tr("withdrawn")
            }
        }

        /// As many columns as each of the words fits into.
        static var width: Int { allCases.map(\.word.displayWidth).max() ?? 0 }
    }

    private let printsJSON: Bool
    private let onFailure: @MainLoop () -> Void
    /// Why it can no longer print.
    private(set) var failure: CommandFailure?
    /// What was last printed about each offer.
    private var lines: [ObjectPath: String] = [:]

    init(printsJSON: Bool, onFailure: @escaping @MainLoop () -> Void) {
        self.printsJSON = printsJSON
        self.onFailure = onFailure
    }

    func print(_ change: OfferFeed.Change) {
        switch change {
        case .offered(let offer): print(.offered, offer)
        case .changed(let offer): print(.changed, offer)
        case .withdrawn(let offer):
            print(.withdrawn, offer)
            lines[offer.path] = nil
        }
    }

    func broker(isThere: Bool) {
        if printsJSON {
            write(["event": .string(isThere ? "brokerStarted" : "brokerEnded")] as JSON)
        } else {
            Output.note(
                isThere
                    ? tr("The broker is back.") : tr("The broker has ended. Waiting for it to come back."))
        }
    }

    private func print(_ event: Event, _ offer: RemoteOffer) {
        if printsJSON {
            let members: [JSON.Member] = [
                .init(name: "event", value: .string(event.rawValue)), .init(name: "offer", value: offer.json),
            ]
            return write(JSON.object(members))
        }
        let line = Self.line(offer)
        // The change may not concern anything that the line shows.
        if event == .changed, lines[offer.path] == line { return }
        lines[offer.path] = line
        write(event.word.padded(to: Event.width) + "  " + line)
    }

    private static func line(_ offer: RemoteOffer) -> String {
        var words = [String(offer.id.prefix(ShortIDs.minimum)), offer.device.inQuotes, offer.label.inQuotes]
        words.append(ChosenText(title: offer.type).shown)
        if offer.state == "continuing" {
            let percentage = offer.progress.map { "\(Int($0 * 100))" }
            words.append(
                percentage.map { tr("continuing {percentage} %", ["percentage": $0]) } ?? tr("continuing"))
        }
        if offer.parkedAt != 0 {
            words.append(tr("asleep since {time}", ["time": LocalTime.ofDay(offer.parkedAt)]))
        }
        if offer.isInvited { words.append(tr("sent to this device")) }
        return words.joined(separator: "  ")
    }

    private func write(_ value: JSON) { write { () throws(CommandFailure) in try Output.json(value) } }

    private func write(_ line: String) { write { () throws(CommandFailure) in try Output.line(line) } }

    private func write(_ body: () throws(CommandFailure) -> Void) {
        guard failure == nil else { return }
        do { try body() } catch {
            failure = error
            onFailure()
        }
    }
}
