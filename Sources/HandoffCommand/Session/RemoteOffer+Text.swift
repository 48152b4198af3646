// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension RemoteOffer {
    /// What can continue it, best first, and which of these have to be started. What stands for other applications has words
    /// instead of an id: which one it takes, and whether that runs, is not known.
    var continuesIn: String {
        handlers.map {
            StandIn(id: $0) == nil && handlersToStart.contains($0)
                ? tr("{application} (not running)", ["application": $0.shown]) : StandIn.called($0)
        }
        .joined(separator: ", ")
    }

    /// Why nothing here can continue it, and what to do; nil if something can.
    var hindrance: String? { obstacle.isEmpty ? nil : obstacle.shown.sentence }

    var json: JSON {
        [
            "activityId": .string(id), "deviceId": .string(deviceID), "deviceName": .string(deviceName),
            "deviceType": .string(deviceType), "activityType": .string(type), "title": .string(title),
            "applicationId": .string(applicationID), "handlers": .strings(handlers),
            "handlersToStart": .strings(handlersToStart), "since": .time(since),
            "state": .string(state), "invited": .boolean(isInvited),
            "parkedAt": parkedAt == 0 ? .null : .time(parkedAt),
            "progress": progress.map { .real($0) } ?? .null,
            "listed": .boolean(isListed), "obstacle": .string(obstacle),
        ]
    }
}

extension [RemoteOffer] {
    /// The table of `handoff list`, at the time `now`.
    func table(at now: Int64) -> Table {
        let ids = ShortIDs(map(\.id))
        // What others chose comes behind the mark, so that nothing can pass itself off as sent.
        var table = Table(
            Heading.id, Heading.sent, Heading.device, Heading.title, Heading.type, Heading.since,
            Heading.continuesIn,
            shrinking: [Heading.device, Heading.title, Heading.type, Heading.continuesIn])
        for offer in self {
            table.add(
                name(of: offer, ids), offer.isInvited ? tr("sent") : "", offer.device.shown,
                offer.label.shown,
                ChosenText(title: offer.type).shown,
                Age.text(of: offer.since, at: now)
                    + (offer.parkedAt == 0
                        ? "" : tr(", asleep since {time}", ["time": LocalTime.ofDay(offer.parkedAt)])),
                offer.continuesIn)
        }
        return table
    }

    /// The lines of that table, with why nothing here can continue an offer below it.
    func lines(at now: Int64) -> [String] {
        let rows = table(at: now).lines
        return [rows[0]]
            + zip(self, rows.dropFirst()).flatMap { offer, row in
                [row] + (offer.hindrance.map { ["  " + $0] } ?? [])
            }
    }

    /// The id by which `offer` can be chosen among these, preceded by its device if two devices show the same
    /// id.
    func name(of offer: RemoteOffer, _ ids: ShortIDs) -> String {
        guard filter({ $0.id == offer.id }).count > 1 else { return ids.short(offer.id) }
        return ShortIDs(map(\.deviceID)).short(offer.deviceID) + "/" + ids.short(offer.id)
    }

    /// What to say to who has to name one of them.
    var unnamed: CommandFailure {
        let list = table(at: 0).lines.joined(separator: "\n")
        return .ambiguous(
            trn(
                "{count} activity is offered. Say which one, by its id:",
                "{count} activities are offered. Say which one, by its id:", count: count) + "\n\(list)")
    }

    /// The one offer that `text` names: the beginning of its id, or `DEVICE/ID` with the beginnings of both. `command` lists
    /// them.
    func choose(
        _ text: String, listedBy command: String = "handoff list"
    ) throws(CommandFailure) -> RemoteOffer {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard let id = parts.last, parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isHexDigit) })
        else {
            throw .usage(
                tr(
                    "“{text}” is not an id of an activity. See “{command}”.",
                    ["text": text.shown, "command": command]))
        }
        let found = filter { offer in
            offer.id.hasPrefix(id) && (parts.count == 1 || offer.deviceID.hasPrefix(parts[0]))
        }
        guard let offer = found.first else {
            throw CommandFailure(
                tr(
                    "There is no activity with the id “{id}”. See “{command}”.",
                    ["id": text.shown, "command": command]),
                .notFound)
        }
        guard found.count == 1 else {
            let list = found.table(at: 0).lines.joined(separator: "\n")
            throw .ambiguous(
                trn(
                    "The id “{id}” is that of {count} activity. Give more of it:",
                    "The id “{id}” is that of {count} activities. Give more of it:", count: found.count,
                    ["id": text.shown]) + "\n\(list)")
        }
        return offer
    }
}
