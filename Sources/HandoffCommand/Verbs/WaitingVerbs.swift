// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff waiting`: what was sent to devices that are away.
struct WaitingVerb: Verb {
    static let name = "waiting"
    static let summary = tr("List what was sent to devices that are away, and was not continued there yet")

    init(_ values: ProgramOptions.Values) {}

    func run(in session: Session) async throws -> Int32 {
        let waiting = try await session.bridge().devices().waiting
        if session.printsJSON {
            try Output.json(.array(waiting.map(\.json)))
            return 0
        }
        if waiting.isEmpty { Output.note(tr("Nothing waits for a device that is away.")) }
        if !waiting.isEmpty { try Output.lines(waiting.table(at: MainLoop.wallClock).lines) }
        return 0
    }
}

/// `handoff cancel`: takes back something that was sent to a device that is away.
struct CancelVerb: Verb {
    static let name = "cancel"
    static let arguments: String? = "[ID]"
    static let summary = tr("Take back what was sent to a device that is away (see “handoff waiting”)")
    static let completion = Completion.waiting

    private let id: String?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        id = try values.arguments(0...1, "cancel [ID]").first
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let waiting = try await bridge.devices().waiting
        let one = try waiting.choose(id, at: MainLoop.wallClock)
        try await DeviceProxy(bridge.object(one.device.path)).cancelWaiting(id: one.item.id)
        try session.reply(
            tr(
                "“{title}” is no longer kept for “{device}”.",
                ["title": one.item.label.shown, "device": one.device.label.shown]),
            one.json)
        return 0
    }
}

/// Something that waits for a device.
struct WaitingEntry {
    let device: KnownDevice
    let item: WaitingSend

    /// How far it is, in words.
    var state: String {
        if let failure = item.failure { return failure.summary }
        return item.arrived == 0 ? tr("not there yet") : tr("arrived")
    }

    var json: JSON {
        [
            "id": .string(item.id), "title": .string(item.title), "activityType": .string(item.type),
            "applicationId": .string(item.applicationID), "deviceId": .string(device.id),
            "deviceName": .string(device.name), "since": .time(item.since),
            "arrived": item.arrived == 0 ? .null : .time(item.arrived), "sendError": .string(item.error),
        ]
    }
}

extension [KnownDevice] {
    /// What waits for them, the oldest first.
    var waiting: [WaitingEntry] {
        flatMap { device in device.waiting.map { WaitingEntry(device: device, item: $0) } }
            .sorted { ($0.item.since, $0.item.id) < ($1.item.since, $1.item.id) }
    }
}

extension [WaitingEntry] {
    /// The table of `handoff waiting` at the time `now`.
    func table(at now: Int64) -> Table {
        let ids = ShortIDs(map(\.item.id))
        // What others chose comes last, because it could imitate whatever came after it.
        var table = Table(
            Heading.id, Heading.since, Heading.state, Heading.device, Heading.title,
            shrinking: [Heading.state, Heading.device, Heading.title])
        for one in self {
            table.add(
                ids.short(one.item.id), Age.text(of: one.item.since, at: now), one.state,
                one.device.label.shown, one.item.label.shown)
        }
        return table
    }

    /// The one whose id begins with `id`, or the only one.
    func choose(_ id: String?, at now: Int64) throws(CommandFailure) -> WaitingEntry {
        let text = (id ?? "").lowercased()
        let found = filter { $0.item.id.hasPrefix(text) }
        guard let one = found.first else {
            throw CommandFailure(
                id == nil
                    ? tr("Nothing waits for a device that is away.")
                    : tr("Nothing with the id “{id}” waits. See “handoff waiting”.", ["id": text.shown]),
                .notFound)
        }
        guard found.count == 1 else {
            let list = found.table(at: now).lines.joined(separator: "\n")
            throw .ambiguous(
                trn(
                    "{count} activity waits. Say which one, by its id:",
                    "{count} activities wait. Say which one, by its id:", count: found.count) + "\n\(list)")
        }
        return one
    }

    /// Each by its id.
    var candidates: [CompletionCandidate] {
        let ids = ShortIDs(map(\.item.id))
        return compactMap {
            CompletionCandidate(
                ids.short($0.item.id), $0.item.label.inQuotes + ", " + $0.device.label.inQuotes)
        }
    }
}
