// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the user's desktop opens web pages and documents with.
///
/// Nothing is looked up before somebody asks, and then on a thread, so that neither a file system that hangs nor a list
/// of any length stops the broker. Until there is an answer it is nil; `onChange` tells when there is another one.
@MainLoop
final class DefaultApplications {
    /// Finds what opens each of these types, where it may block.
    typealias Lookup = @Sendable (Set<String>) -> [String: ApplicationID]

    /// Runs what blocks, as ``BackgroundThread/start(_:_:)`` does.
    typealias Starting = (String, @escaping @Sendable () -> Void) throws(GLibError) -> Void

    private let lookup: Lookup
    private let start: Starting
    private let onChange: @MainLoop () -> Void
    private var lookups = DefaultLookups() {
        didSet { timer.set(lookups.nextTime?.microseconds) }
    }
    /// Comes when the next look is over.
    private var nextEnd = Awaited<Void>()
    private lazy var watch = FolderWatch { [weak self] in self?.lookAgain() }
    private var isWatching = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// How long anybody waits for an answer.
    private static let patience = Deadline.documentOpening

    /// Calls `onChange` when the answers may have changed.
    init(
        _ lookup: @escaping Lookup = { DefaultLists().applications(for: $0) },
        startingWith start: @escaping Starting = BackgroundThread.start,
        _ onChange: @escaping @MainLoop () -> Void
    ) {
        (self.lookup, self.start, self.onChange) = (lookup, start, onChange)
    }

    /// The user's browser; nil if there is none, or if that is not known yet.
    var browser: ApplicationID? {
        for type in Self.browserTypes {
            if let browser = lookups.answer(type) { return browser }
        }
        return nil
    }

    private static let browserTypes = ["x-scheme-handler/https", "x-scheme-handler/http"]

    /// What documents of the MIME type `contentType` are opened with; nil if there is nothing, if that is not known yet, or
    /// if such files are programs or desktop entries, which nobody but the user may open.
    func application(forDocumentsOf contentType: String) -> ApplicationID? {
        let type = contentType.lowercased()
        guard MIMEType.isValid(type), !type.hasPrefix("x-scheme-handler/") else { return nil }
        return lookups.answer(type)
    }

    /// The user's browser, once it is known; nil if there is none.
    /// - Throws: if the file system does not say so in time.
    func knownBrowser() async throws(HandoffFailure) -> ApplicationID? {
        let end = Instant.now.advanced(by: Self.patience)
        while true {
            let browser = browser
            // Other types are not waited for: peers choose them, and could do so again and again.
            guard browser == nil, lookups.isPending(Self.browserTypes) else { return browser }
            guard await nextEnd.value(within: Instant.now.duration(to: end)) != nil else {
                throw HandoffFailure(
                    .connectionUnavailable,
                    "Which web browser is the default is not known yet, since a file system does not answer. Try again"
                        + " later.")
            }
        }
    }

    /// The desktop entries, or what they are the defaults for, may have changed.
    func lookAgain() { lookups.changed() }

    private func look() {
        let types = lookups.begin(at: .now)
        guard !types.isEmpty else { return }
        let (lookup, isWatching) = (lookup, isWatching)
        do {
            try start("defaults") { [weak self] in
                // Watched before they are read, so that no change is missed.
                let watched =
                    isWatching ? nil : WatchedFolders([], files: DefaultLists.configurationFiles)
                let found = lookup(types)
                MainLoop.start {
                    if !isWatching { self?.watch(watched) }
                    self?.found(found)
                }
            }
        } catch {
            brokerLog.info("The default applications cannot be looked up now: \(error.message).")
            lookups.failed(at: .now)
        }
    }

    private func watch(_ watched: WatchedFolders?) {
        isWatching = watched != nil
        watch.watch(watched)
    }

    private func found(_ found: [String: ApplicationID]) {
        let isChanged = lookups.ended(found, at: .now)
        let end = nextEnd
        nextEnd = Awaited()
        end.come(())
        if isChanged { onChange() }
    }
}
