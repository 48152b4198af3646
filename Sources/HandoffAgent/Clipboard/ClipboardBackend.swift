// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// One of the ways in which a program without a window has to the clipboard of a desktop.
///
/// It knows nothing of what types mean: they are names, as MIME types or as targets of X11, and others decide. Nothing in it
/// waits for another program on the main loop, and it wakes only for what the desktop says,
/// and to reach a desktop again that it has lost.
@MainLoop
protocol ClipboardBackend: AnyObject {
    /// What it is called, for people to read.
    var name: String { get }

    /// Whoever is told what happens. Set before ``begin()``.
    var user: (any ClipboardUser)? { get set }

    /// Begins to follow the clipboard, and says what is in it now, which is not new.
    /// - Returns: whether this desktop has this way.
    func begin() async -> Bool

    /// Ends all of it: what is owned is given up, and nothing is told any more.
    func end()

    /// Reads what another program has in the clipboard now, as `type`, whole.
    /// - Throws: `LimitsExceeded` if it is too large, `OfferWithdrawn` if it is not there any more or never comes to its end.
    func read(_ type: String) async throws -> ClipboardFile

    /// Takes the clipboard over, with content that can be had as each of `types`, the best first. `provide` is called for each
    /// time that a program wants it, with one of these types; nil refuses. It is called until something else is in the
    /// clipboard, which is told as a change, unless ``own(_:_:)`` has been called again.
    /// - Returns: whether the desktop has taken it, once it has.
    func own(_ types: [String], _ provide: @escaping ClipboardProvider) async -> Bool

    /// Gives up the clipboard if it is owned: then there is nothing in it.
    func disown()
}

extension ClipboardBackend {
    /// How long a desktop may take to take what is owned.
    static var owningTime: Duration { .seconds(2) }

    /// What can be had of these kinds, the best first, as far as it fits together.
    /// - Parameter isSame: whether what is in the clipboard is still what was looked at.
    func content(
        _ wanted: [(kind: ClipboardKind, type: String)], while isSame: @MainLoop () -> Bool
    ) async throws -> ClipboardContent {
        var files: [(kind: ClipboardKind, file: ClipboardFile)] = []
        var failure: any Error = HandoffFailure.clipboardEmpty
        for (kind, type) in wanted {
            do {
                let file = try await read(type)
                let size = files.reduce(file.size) { $0 + $1.file.size }
                if size <= ClipboardFile.maximum { files.append((kind, file)) }
            } catch {
                failure = error
            }
            guard isSame() else { throw HandoffFailure.clipboardEmpty }
        }
        guard !files.isEmpty else { throw failure }
        return try ClipboardContent(files)
    }
}

/// Gives the content of a clipboard as one type; nil refuses.
typealias ClipboardProvider = @MainLoop @Sendable (_ type: String) async -> ClipboardFile?

/// Whoever uses a clipboard.
@MainLoop
protocol ClipboardUser: AnyObject {
    /// Another program puts something into the clipboard at this moment. What it is follows, by ``clipboardChanged(_:isNew:)``,
    /// which comes without this if it is known at once.
    func clipboardChanging()

    /// In the clipboard is something of another program, which can be had as these types, each of at most
    /// ``ClipboardTypes/maximumLength`` bytes; none if there is nothing in it now.
    /// - Parameter isNew: whether it was put there just now; otherwise it may have been there before it was looked.
    func clipboardChanged(_ types: [String], isNew: Bool)

    /// The desktop lets nobody have the clipboard any more, at least for now: it has ended, or is locked. If it comes back,
    /// that is told by ``clipboardChanged(_:isNew:)``.
    func clipboardLost()
}

/// What of a list of types is taken.
enum ClipboardTypes {
    /// How many types there may be; what has more counts as nothing, since the one that says that it is a secret may be the last.
    static let maximum = 256
    /// How many bytes a type has at most; those that have more are left out.
    static let maximumLength = 256
}
