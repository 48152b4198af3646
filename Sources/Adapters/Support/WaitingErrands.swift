// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// The errands of this program that nobody has taken yet. None outlives its time, and this program has to be there until then.
@MainLoop
final class WaitingErrands {
    /// Called when ``isEmpty`` may be different.
    var onChange: (@MainLoop () -> Void)?

    private let patience: Duration
    /// What drops each of them when its time is up, the oldest first.
    private var waiting: [(errand: String, timer: LoopSource)] = []
    private var watch: FolderWatch?
    private var (isLooking, isToLookAgain) = (false, false)

    /// How many there are at most; the oldest makes room.
    private static let maximum = 16

    /// Nothing yet. What earlier programs have left, longer than `patience` ago, is swept away.
    init(patience: Duration) {
        self.patience = patience
        let seconds = patience.components.seconds
        try? BackgroundThread.start("errands") { Errand.sweep(olderThan: seconds) }
    }

    /// Whether there is none.
    var isEmpty: Bool { waiting.isEmpty }

    /// `errand` has been left just now.
    func add(_ errand: String) {
        let timer = LoopSource.timer(after: patience) { [weak self] in self?.drop(errand) }
        waiting.append((errand, timer))
        if waiting.count > Self.maximum { drop(waiting[0].errand) }
        onChange?()
        look()
    }

    /// `errand` is not needed any more.
    func drop(_ errand: String) {
        try? BackgroundThread.start("errands") { Errand.drop(errand) }
        forget { $0 == errand }
    }

    private func forget(_ isOver: (String) -> Bool) {
        for one in waiting where isOver(one.errand) { one.timer.cancel() }
        waiting.removeAll { isOver($0.errand) }
        if waiting.isEmpty { watch = nil }
        onChange?()
    }

    /// Finds out which have been taken, and when to look again.
    private func look() {
        guard !waiting.isEmpty else { return }
        guard !isLooking else {
            isToLookAgain = true
            return
        }
        isLooking = true
        let watch = watch ?? FolderWatch { [weak self] in self?.look() }
        self.watch = watch
        let errands = waiting.map(\.errand)
        MainLoop.start { [weak self] in
            // What is taken after this was made is told by it, so that nothing is missed.
            let found = try? await BackgroundThread.run("errands") {
                (watched: Errand.watched(errands), taken: errands.filter { !Errand.isThere($0) })
            }
            watch.watch(found?.watched)
            self?.looked(Set(found?.taken ?? []))
        }
    }

    private func looked(_ taken: Set<String>) {
        isLooking = false
        if !taken.isEmpty { forget(taken.contains) }
        if isToLookAgain {
            isToLookAgain = false
            look()
        }
    }
}
