// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff ssh`: says how this device reaches another by ssh, for the sessions of tmux that are offered there.
struct SSHVerb: Verb {
    static let name = "ssh"
    static let arguments: String? = "DEVICE [HOST]"
    static let summary = tr("Say by which host ssh reaches a device, to continue its tmux sessions here")
    static let completion = Completion.peers

    static func declare(_ options: inout ProgramOptions) {
        options.flag("forget", tr("Forget the host: no session of the device is continued here any more"))
    }

    private let device: String
    private let host: String?
    private let forgets: Bool

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        let arguments = try values.arguments(1...2, "ssh DEVICE [HOST | --forget]")
        device = arguments[0]
        host = arguments.count > 1 ? arguments[1] : nil
        forgets = values.has("forget")
        guard !forgets || host == nil else {
            throw .usage(tr("--forget and a host cannot be combined. Give one of them."))
        }
    }

    /// The only device with a host whose id begins as the user has said, whether or not it is paired.
    private func known(in hosts: [String: String]) -> String? {
        let found = hosts.keys.filter { $0.hasPrefix(device.lowercased()) }
        return found.count == 1 ? found.first : nil
    }

    func run(in session: Session) async throws -> Int32 {
        let broker = try await session.broker()
        let preferences = PreferencesProxy(broker.object(HandoffNames.brokerPath))
        var hosts = try await preferences.sessions()
        let peers = try await session.bridge().devices().filter(\.isPaired)
        if forgets, peers.named(device).isEmpty, let id = known(in: hosts) {
            hosts[id] = nil
            try await preferences.setSessions(hosts)
            try session.reply(
                tr(
                    "The host of “{device}”, which is not paired any more, is forgotten.",
                    ["device": id.shown]),
                ["deviceId": .string(id), "host": .null])
            return 0
        }
        let peer = try peers.choose(device)
        if host != nil || forgets {
            hosts[peer.id] = host
            try await preferences.setSessions(hosts)
        }
        let name = peer.label.shown
        let words =
            hosts[peer.id].map {
                tr(
                    "ssh reaches “{device}” by “{host}”: sessions that are offered there can be continued here.",
                    ["device": name, "host": $0])
            }
            ?? tr(
                "How ssh reaches “{device}” is not known: its sessions are not continued here.",
                ["device": name])
        try session.reply(
            words, peer.json([.init(name: "host", value: hosts[peer.id].map { .string($0) } ?? .null)]))
        return 0
    }
}
