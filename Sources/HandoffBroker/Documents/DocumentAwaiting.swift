// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Waits on a thread of its own, without looking before something has happened, until a document has been synchronised
/// to this machine.
final class DocumentAwaiting: Sendable {
    /// What is told on the main loop. After a cancellation, nothing is.
    enum Event: Sendable {
        /// The copy has so many bytes by now. This is told at most every 100 ms.
        case grown(UInt64)
        /// It is here. Nothing follows.
        case arrived
        /// It cannot be waited for. Nothing follows.
        case failed(HandoffFailure)
    }

    private let path: String
    private let document: FetchedDocument
    private let stop: StopSignal
    private let tell: @MainLoop @Sendable (Event) -> Void

    /// A look costs little, but somebody may write into the folder without a pause.
    private static let interval = Duration.milliseconds(100)

    /// Begins to wait until the file at `path` is `document`.
    /// - Throws: if there is no thread or descriptor for it.
    init(
        _ document: FetchedDocument, at path: String, _ tell: @escaping @MainLoop @Sendable (Event) -> Void
    ) throws(HandoffFailure) {
        guard let stop = StopSignal() else { throw Self.shortage(SystemError.last) }
        (self.document, self.path, self.stop, self.tell) = (document, path, stop, tell)
        do {
            try BackgroundThread.start("await document") { [self] in run() }
        } catch {
            throw Self.shortage(error.message)
        }
    }

    /// It is no longer waited for.
    func cancel() { stop.send() }

    private func run() {
        BackgroundThread.giveWay()
        guard let watch = PathWatch(path) else { return post(.failed(Self.shortage(SystemError.last))) }
        var size: UInt64?
        repeat {
            // Watched first, so that nothing is missed.
            watch.renew()
            switch CopyLook.at(path, of: document) {
            case .current: return post(.arrived)
            case .behind(let new), .changing(let new):
                if new != size { post(.grown(new)) }
                size = new
            case .missing, .outside: break
            }
        } while watch.wait(unless: stop, atMost: size == nil ? nil : .microseconds(SynchronisedCopy.rest))
            && stop.pause(Int32(Self.interval.components.attoseconds / 1_000_000_000_000_000))
    }

    private func post(_ event: Event) { MainLoop.start { [self] in tell(event) } }

    private static func shortage(_ why: String) -> HandoffFailure {
        HandoffFailure(.limitsExceeded, "The shared document cannot be waited for: \(why).")
    }
}
