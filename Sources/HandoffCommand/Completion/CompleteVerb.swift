// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff complete`: what the scripts for shells ask when the user wants a word to be completed. It is not listed, starts
/// nothing, and says nothing when something fails.
///
/// Each line that it prints is a candidate, followed by a tab and its description if it has one, or a directive, which begins
/// with a colon: `:files`, `:folders`, `:commands` and `:hosts` say what the shell has to complete by itself.
struct CompleteVerb: Verb {
    static let name = "complete"
    static let arguments: String? = "-- WORD…"
    static let summary = tr("Complete the last of the words")

    private let request: CompletionRequest
    /// How long a daemon may take to answer somebody who waits with a finger on the key.
    private static let timeout = Duration.seconds(1)

    init(_ values: ProgramOptions.Values) { self.init(words: values.rest) }

    /// Completes the last of the words that follow the name of the program.
    init(words: [String]) { request = CompletionRequest(words) }

    func run(in session: Session) async throws -> Int32 {
        var lines: [String] = []
        if let directive = request.completion.directive { lines.append(directive) }
        let candidates = (try? await candidates(in: session)) ?? []
        lines += (candidates + request.options).filter { $0.value.hasPrefix(request.typed) }
            .map { $0.line(after: request.prefix) }
        try Output.lines(lines)
        return 0
    }

    @MainLoop
    private func candidates(in session: Session) async throws -> [CompletionCandidate] {
        switch request.completion {
        case .nothing, .files, .folders, .commands: return []
        case .verbs:
            return HandoffCommand.verbs.compactMap { CompletionCandidate($0.name, $0.summary) }
                + [CompletionCandidate("help", tr("Say more about a command"))].compactMap(\.self)
        case .offers: return try await offers(session).candidates
        case .handlers: return try await offers(session).handlerCandidates
        case .peers: return try await peers(session).candidates
        case .recipients: return try await peers(session).candidates + phones(session)
        case .waiting: return try await peers(session).waiting.candidates
        case .unmutedPeers: return try await peers(session).filter { !$0.isMuted }.candidates
        case .mutedPeers: return try await peers(session).filter(\.isMuted).candidates
        case .declinable: return try await devices(session).candidates(where: \.canBeDeclined)
        case .strangers:
            let strangers = try await devices(session).filter { !$0.isPaired && !$0.isDeclined }
            return try await strangers.strangers + nearby(session)
        case .addresses: return try await nearby(session)
        case .clipboardKinds:
            return ClipboardKind.allCases.compactMap { CompletionCandidate($0.word, $0.rawValue) }
        }
    }

    @MainLoop
    private func offers(_ session: Session) async throws -> [RemoteOffer] {
        guard let broker = try await session.running(HandoffNames.broker) else { return [] }
        return RemoteOffer.all(in: try await broker.brokerObjects(timeout: Self.timeout))
    }

    @MainLoop
    private func devices(_ session: Session) async throws -> [KnownDevice] {
        guard let bridge = try await session.running(HandoffNames.bridge) else { return [] }
        return try await bridge.devices(timeout: Self.timeout)
    }

    @MainLoop
    private func peers(_ session: Session) async throws -> [KnownDevice] {
        try await devices(session).filter(\.isPaired)
    }

    @MainLoop
    private func phones(_ session: Session) async throws -> [CompletionCandidate] {
        guard let broker = try await session.running(HandoffNames.broker) else { return [] }
        return try await KnownPhone.all(at: broker).compactMap {
            CompletionCandidate($0.name, tr("telephone")) ?? CompletionCandidate($0.id, $0.label.inQuotes)
        }
    }

    @MainLoop
    private func nearby(_ session: Session) async throws -> [CompletionCandidate] {
        guard let bridge = try await session.running(HandoffNames.bridge) else { return [] }
        return try await bridge.nearby(timeout: Self.timeout).candidates
    }
}
