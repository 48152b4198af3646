// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// Finds out how applications are shown. Desktop entries are read on a thread, and who has to wait for one does not wait for
/// longer than a moment: what is shown is then shown without a picture.
@MainLoop
final class ApplicationLooks {
    /// Reads where it may block.
    typealias Reader = @Sendable ([String]) -> ApplicationLook?

    /// How long somebody waits who can show nothing before.
    static let patience = Duration.seconds(1)
    /// For how long what was read counts; an application may be installed or renamed at any time.
    private static let lifetime: Int64 = 60_000_000
    /// How many are remembered, and how many may be read at a time.
    private static let (maximumRemembered, maximumThreads) = (32, 4)
    /// How many are to be read at most once there is a thread for them.
    private static let maximumQueued = 64

    private struct Remembered {
        let look: ApplicationLook?
        let time: Int64
    }

    private let reader: Reader
    private var remembered: [[String]: Remembered] = [:]
    private var waiting: [[String]: [Wait]] = [:]
    private var threads = 0
    /// What is to be read next.
    private var queue: [[String]] = []

    /// Reads them with `reader`.
    init(_ reader: @escaping Reader = { ApplicationLook.read($0) }) { self.reader = reader }

    /// Calls `body` once with the look of the first of these `applications` that is installed: at once if it is known, and
    /// with nil if none is or that cannot be found out within `limit`, or at all if that is nil.
    func find(
        _ applications: [String], within limit: Duration? = patience,
        _ body: @escaping @MainLoop (ApplicationLook?) -> Void
    ) {
        let key = applications.filter { !$0.isEmpty }
        guard !key.isEmpty else { return body(nil) }
        if let known = remembered[key], MainLoop.now - known.time < Self.lifetime { return body(known.look) }
        if waiting[key] == nil {
            if threads >= Self.maximumThreads {
                guard queue.count < Self.maximumQueued else { return body(nil) }
                queue.append(key)
            } else if !read(key) {
                return body(nil)
            }
        }
        waiting[key, default: []].removeAll(where: \.hasEnded)
        waiting[key, default: []].append(Wait(limit, body))
    }

    private func read(_ key: [String]) -> Bool {
        let reader = reader
        do {
            try BackgroundThread.start("application") {
                let look = reader(key)
                MainLoop.start { [weak self] in self?.found(key, look) }
            }
        } catch {
            return false
        }
        threads += 1
        return true
    }

    private func found(_ key: [String], _ look: ApplicationLook?) {
        threads -= 1
        if remembered.count >= Self.maximumRemembered { remembered = [:] }
        remembered[key] = Remembered(look: look, time: MainLoop.now)
        end(key, look)
        while threads < Self.maximumThreads, !queue.isEmpty {
            let next = queue.removeFirst()
            if !read(next) { end(next, nil) }
        }
    }

    private func end(_ key: [String], _ look: ApplicationLook?) {
        for wait in waiting.removeValue(forKey: key) ?? [] { wait.end(look) }
    }

    /// Somebody who waits.
    @MainLoop
    private final class Wait {
        private var body: (@MainLoop (ApplicationLook?) -> Void)?
        private var timer: LoopSource?

        var hasEnded: Bool { body == nil }

        init(_ limit: Duration?, _ body: @escaping @MainLoop (ApplicationLook?) -> Void) {
            self.body = body
            timer = limit.map { .timer(after: $0) { [weak self] in self?.end(nil) } }
        }

        func end(_ look: ApplicationLook?) {
            timer = nil
            let body = body
            self.body = nil
            body?(look)
        }
    }
}
