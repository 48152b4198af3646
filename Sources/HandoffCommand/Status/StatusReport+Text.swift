// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension StatusReport {
    /// The report for people, at the time `now`.
    func lines(at now: Int64) -> [String] {
        var lines: [String] = []
        if busFailure == nil {
            lines += headLines + peerLines(at: now) + endedLines + offerLines(at: now)
            lines += fetchLines(at: now) + applicationLines(at: now)
        }
        if !problems.isEmpty { lines += (lines.isEmpty ? [] : [""]) + [tr("Problems:")] }
        for problem in problems { lines += ["  \(problem.words)", "    \(problem.remedy)"] }
        return lines
    }

    /// The daemons, this device and what is current, each with its name before it.
    private var headLines: [String] {
        var lines = [(tr("Broker"), brokerLine), (tr("Bridge"), bridgeLine)]
        if let bridge = bridge.content {
            let type = bridge.deviceType.isEmpty ? "" : ", \(bridge.deviceType.shown)"
            lines.append((tr("Device"), ChosenText(name: bridge.deviceName).inQuotes + type))
            lines.append((tr("Id"), bridge.deviceID.shown))
        }
        if let broker = broker.content { lines.append((tr("Current"), Self.current(broker))) }
        var names = [tr("Broker"), tr("Bridge"), tr("Device"), tr("Id"), tr("Current")]
        if lacksClipboard {
            names.append(tr("Clipboard"))
            lines.append(
                (
                    tr("Clipboard"),
                    tr(
                        "the clipboard of this desktop cannot be reached. “handoff paste --stdout” prints "
                            + "what was copied on another device."
                    )
                ))
        }
        if let phones = broker.content?.phones, !phones.isEmpty {
            names.append(tr("Telephones"))
            lines.append((tr("Telephones"), phones.map(\.label.inQuotes).joined(separator: ", ")))
        }
        let width = (names.map(\.displayWidth).max() ?? 0) + 2
        return lines.map { $0.padded(to: width) + $1 }
    }

    private var brokerLine: String {
        switch broker {
        case .running(let broker):
            broker.isEnabled ? tr("running, switched on") : tr("running, switched off")
        case .silent: tr("not answering")
        case .absent: tr("not running")
        }
    }

    private var bridgeLine: String {
        switch bridge {
        case .running(let bridge):
            (bridge.port == 0
                ? tr("running, not listening")
                : tr("running, listening on port {port}", ["port": "\(bridge.port)"]))
                + (bridge.isDiscoverable ? ", " + tr("discoverable") : "")
        case .silent: tr("not answering")
        case .absent: tr("not running")
        }
    }

    private static func current(_ broker: BrokerStatus) -> String {
        guard let current = broker.current else { return tr("nothing") }
        let values = [
            "type": ChosenText(title: current.type).shown, "application": current.applicationID.shown,
        ]
        let activity =
            current.title.isEmpty
            ? tr("without a title, {type}, of {application}", values)
            : tr(
                "“{title}”, {type}, of {application}",
                values.merging(["title": ChosenText(title: current.title).shown]) { $1 })
        let reason = broker.applications.first(where: \.isCurrent)?.notOffered ?? ""
        if reason.isEmpty { return activity }
        return tr("{activity}. It is not offered: {reason}", ["activity": activity, "reason": reason.shown])
    }

    private func peerLines(at now: Int64) -> [String] {
        guard !peers.isEmpty else { return [] }
        let ids = ShortIDs(bridge.content?.devices.map(\.id) ?? [])
        var table = Table(
            Heading.id, Heading.link, Heading.since, Heading.addresses, Heading.type, Heading.name,
            shrinking: [Heading.addresses, Heading.name])
        for peer in peers {
            table.add(
                ids.short(peer.id),
                peer.link + (peer.isMuted ? ", " + tr("muted") : ""),
                Age.text(of: peer.since, at: now), peer.whereabouts, ChosenText(name: peer.type).shown,
                ChosenText(name: peer.name).shown)
        }
        return ["", tr("Peers:")] + table.lines(indent: 2)
    }

    /// Who has ended the pairing: that is nothing that is wrong, but nobody was told of it here.
    private var endedLines: [String] {
        let ended = bridge.content?.endedPairings ?? []
        return (ended.isEmpty ? [] : [""])
            + ended.map {
                tr(
                    "“{device}” is no longer paired: its user has ended the pairing with this device.",
                    ["device": $0.label.shown])
            }
    }

    private func offerLines(at now: Int64) -> [String] {
        guard let broker = broker.content else { return [] }
        var lines: [String] = []
        if !broker.offers.isEmpty {
            lines += ["", tr("Offered by other devices:")] + broker.offers.table(at: now).lines(indent: 2)
        }
        if !broker.hidden.isEmpty { lines += [""] + broker.hidden.lines(at: now) }
        return lines
    }

    private func fetchLines(at now: Int64) -> [String] {
        guard let broker = broker.content else { return [] }
        return [
            broker.fetches.lines(at: now), broker.fetchesByDevice.lines(at: now),
            broker.listings.lines(at: now),
        ]
        .filter { !$0.isEmpty }.flatMap { [""] + $0 }
    }

    private func applicationLines(at now: Int64) -> [String] {
        guard let broker = broker.content else { return [] }
        return [broker.applications.lines, broker.refusals.lines(at: now)]
            .filter { !$0.isEmpty }.flatMap { [""] + $0 }
    }

    /// The report for programs.
    var json: JSON {
        [
            "sessionBus": .boolean(busFailure == nil), "working": .boolean(isWorking),
            "broker": brokerJSON, "bridge": bridgeJSON, "problems": .array(problems.map(\.json)),
        ]
    }

    private var brokerJSON: JSON {
        guard let broker = broker.content else { return ["running": .boolean(isRunning(broker))] }
        return [
            "running": .boolean(true), "version": .integer(broker.version),
            "enabled": .boolean(broker.isEnabled),
            "current": broker.current?.json ?? .null, "offers": .array(broker.offers.map(\.json)),
            "hiddenOffers": .array(broker.hidden.map(\.json)),
            "fetches": .array(broker.fetches.map(\.json)),
            "fetchesByDevice": .array(broker.fetchesByDevice.map(\.json)),
            "listingsByDevice": .array(broker.listings.map(\.json)),
            "applications": .array(broker.applications.map(\.json)),
            "refusals": .array(broker.refusals.map(\.json)),
            "clipboard": Self.text(broker.preferences.text("Clipboard")),
            "clipboardDesktop": Self.text(broker.clipboardDesktop),
        ]
    }

    private static func text(_ text: String?) -> JSON {
        guard let text, !text.isEmpty else { return .null }
        return .string(text)
    }

    private var bridgeJSON: JSON {
        guard let bridge = bridge.content else { return ["running": .boolean(isRunning(bridge))] }
        return [
            "running": .boolean(true), "version": .integer(bridge.version),
            "deviceId": .string(bridge.deviceID),
            "deviceName": .string(bridge.deviceName), "deviceType": .string(bridge.deviceType),
            "port": .integer(bridge.port), "listening": .boolean(bridge.port != 0),
            "discoverable": .boolean(bridge.isDiscoverable), "discoveryError": .string(bridge.discoveryError),
            "firewall": bridge.firewall?.json ?? .null,
            "endedPairings": .array(bridge.endedPairings.map(\.json)),
            "nearbyDevices": .array(bridge.nearby.map(\.json)),
            "devices": .array(bridge.devices.filter { !$0.isDeclined }.map(\.json)),
        ]
    }

    private func isRunning<Content>(_ daemon: Daemon<Content>) -> Bool {
        if case .absent = daemon { false } else { true }
    }
}

extension EndedPairing {
    /// The device for programs.
    var json: JSON { ["deviceId": .string(id), "deviceName": .string(name)] }
}

extension Problem {
    /// The problem for programs.
    var json: JSON { ["message": .string(words), "remedy": .string(remedy)] }
}
