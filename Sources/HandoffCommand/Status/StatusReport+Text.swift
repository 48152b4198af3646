// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffStatus

extension StatusReport {
    /// The report for people, at the time `now`.
    func lines(at now: Int64) -> [String] {
        var lines: [String] = []
        if busFailure == nil {
            lines += ["Broker   \(brokerLine)", "Bridge   \(bridgeLine)"]
            lines += deviceLines + peerLines(at: now) + offerLines(at: now) + fetchLines(at: now)
            lines += applicationLines(at: now)
        }
        if !problems.isEmpty { lines += (lines.isEmpty ? [] : [""]) + ["Problems:"] }
        for problem in problems { lines += ["  \(problem.words)", "    \(problem.remedy)"] }
        return lines
    }

    private var brokerLine: String {
        switch broker {
        case .running(let broker): "running, switched \(broker.isEnabled ? "on" : "off")"
        case .silent: "not answering"
        case .absent: "not running"
        }
    }

    private var bridgeLine: String {
        switch bridge {
        case .running(let bridge):
            "running, " + (bridge.port == 0 ? "not listening" : "listening on port \(bridge.port)")
                + (bridge.isDiscoverable ? ", discoverable" : "")
        case .silent: "not answering"
        case .absent: "not running"
        }
    }

    private var deviceLines: [String] {
        var lines: [String] = []
        if let bridge = bridge.content {
            let type = bridge.deviceType.isEmpty ? "" : ", \(bridge.deviceType.shown)"
            lines += [
                "Device   \(ChosenText(name: bridge.deviceName).quoted)\(type)",
                "Id       \(bridge.deviceID.shown)",
            ]
        }
        if let broker = broker.content {
            let activity = broker.current.map {
                let title = $0.title.isEmpty ? "without a title" : ChosenText(title: $0.title).quoted
                let reason = broker.applications.first(where: \.isCurrent)?.notOffered ?? ""
                return "\(title), \(ChosenText(title: $0.type).shown), of \($0.applicationID.shown)"
                    + (reason.isEmpty ? "" : ". It is not offered: \(reason.shown)")
            }
            lines.append("Current  \(activity ?? "nothing")")
        }
        return lines
    }

    private func peerLines(at now: Int64) -> [String] {
        guard !peers.isEmpty else { return [] }
        let ids = ShortIDs(bridge.content?.devices.map(\.id) ?? [])
        var table = Table(
            "ID", "LINK", "SINCE", "ADDRESSES", "TYPE", "NAME", shrinking: ["ADDRESSES", "NAME"])
        for peer in peers {
            table.add(
                ids.short(peer.id),
                (peer.isConnected ? "connected" : "not connected") + (peer.isMuted ? ", muted" : ""),
                Age.text(of: peer.connectedSince, at: now), peer.places, ChosenText(name: peer.type).shown,
                ChosenText(name: peer.name).shown)
        }
        return ["", "Peers:"] + table.lines(indent: 2)
    }

    private func offerLines(at now: Int64) -> [String] {
        guard let broker = broker.content else { return [] }
        var lines: [String] = []
        if !broker.offers.isEmpty {
            lines += ["", "Offered by other devices:"] + broker.offers.table(at: now).lines(indent: 2)
        }
        if !broker.hidden.isEmpty { lines += [""] + broker.hidden.lines(at: now) }
        return lines
    }

    private func fetchLines(at now: Int64) -> [String] {
        guard let broker = broker.content else { return [] }
        return [broker.fetches.lines(at: now), broker.fetchesByDevice.lines(at: now)]
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
            "applications": .array(broker.applications.map(\.json)),
            "refusals": .array(broker.refusals.map(\.json)),
        ]
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
            "nearbyDevices": .array(bridge.nearby.map(\.json)), "devices": .array(bridge.devices.map(\.json)),
        ]
    }

    private func isRunning<Content>(_ daemon: Daemon<Content>) -> Bool {
        if case .absent = daemon { false } else { true }
    }
}

extension Problem {
    /// The problem for programs.
    var json: JSON { ["message": .string(words), "remedy": .string(remedy)] }
}
