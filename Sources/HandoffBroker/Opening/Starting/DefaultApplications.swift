// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the user's desktop opens web pages and documents with.
///
/// Nothing is looked up before somebody asks, and then on a thread, so that neither a file system that hangs nor a list
/// of any length stops the broker. Until there is an answer it is nil; `onChange` tells when there is another one.
@MainLoop
final class DefaultApplications {
    private let onChange: @MainLoop () -> Void
    /// The answers, nil for none, by content type.
    private var answers: [String: ApplicationID?] = [:]
    /// The types that are to be looked up next.
    private var wanted: Set<String> = []
    /// The types that are being looked up.
    private var looking: Set<String> = []
    private var isLooking: Bool { !looking.isEmpty }
    /// Whether something has changed since what is being looked up began.
    private var isOutdated = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private lazy var watch = FolderWatch { [weak self] in self?.lookAgain() }
    private var isWatching = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }
    /// The earliest time for the next look.
    private var earliest: Int64 = 0

    /// How many answers are kept: more than there are peers.
    private static let maximumAnswers = 256
    /// How long, in microseconds, nothing is looked up after a look, at least: types are chosen by peers, and a program
    /// that never stops writing lists must not keep the broker busy.
    private static let shortestRest: Int64 = 200_000
    /// The rest is at least this many times as long as the look was.
    private static let restfulness: Int64 = 20

    /// Calls `onChange` when the answers may have changed.
    init(_ onChange: @escaping @MainLoop () -> Void) { self.onChange = onChange }

    /// The user's browser; nil if there is none, or if that is not known yet.
    var browser: ApplicationID? {
        for type in Self.browserTypes {
            if let browser = answer(type) { return browser }
        }
        return nil
    }

    private static let browserTypes = ["x-scheme-handler/https", "x-scheme-handler/http"]

    /// What documents of the MIME type `contentType` are opened with; nil if there is nothing, if that is not known yet, or
    /// if such files are programs or desktop entries, which nobody but the user may open.
    func application(forDocumentsOf contentType: String) -> ApplicationID? {
        let type = contentType.lowercased()
        guard ContentTypes.isValid(type), !type.hasPrefix("x-scheme-handler/") else { return nil }
        return answer(type)
    }

    /// The user's browser, once it is known; nil if there is none.
    func knownBrowser() async -> ApplicationID? {
        while true {
            let browser = browser
            // Other types are not waited for: peers choose them, and could do so again and again.
            guard browser == nil, !looking.union(wanted).isDisjoint(with: Self.browserTypes) else {
                return browser
            }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// The desktop entries, or what they are the defaults for, may have changed.
    func lookAgain() {
        isOutdated = isLooking
        guard !answers.isEmpty else { return }
        wanted.formUnion(answers.keys)
        schedule()
    }

    private func answer(_ type: String) -> ApplicationID? {
        if let known = answers[type] { return known }
        if answers.count + wanted.count >= Self.maximumAnswers { answers = [:] }
        guard wanted.count < Self.maximumAnswers, wanted.insert(type).inserted else { return nil }
        schedule()
        return nil
    }

    private func schedule() {
        guard !isLooking else { return }
        timer.set(max(earliest, MainLoop.now))
    }

    private func look() {
        guard !isLooking, !wanted.isEmpty else { return }
        let types = wanted
        (looking, wanted, isOutdated) = (types, [], false)
        if !isWatching {
            isWatching = true
            watch.watch([], files: DefaultLists.configurationFiles)
        }
        MainLoop.start { [weak self] in
            let start = MainLoop.now
            let found =
                (try? await BackgroundThread.run("defaults") { DefaultLists().applications(for: types) })
                ?? [:]
            self?.found(found, types, after: MainLoop.now - start)
        }
    }

    private func found(_ found: [String: ApplicationID], _ types: Set<String>, after time: Int64) {
        looking = []
        earliest = MainLoop.now + max(Self.shortestRest, Self.restfulness * time)
        let former = answers
        for type in types { answers[type] = .some(found[type]) }
        if isOutdated { wanted.formUnion(types) }
        if !wanted.isEmpty { schedule() }
        let all = waiting
        waiting = []
        for one in all { one.resume() }
        if types.contains(where: { (former[$0] ?? nil) != found[$0] }) { onChange() }
    }
}
