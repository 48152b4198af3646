// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import HandoffClient
internal import HandoffCore

/// The windows that there are, and which of them the user is at.
struct WindowOrder {
    /// They, the one that has changed last at the end.
    private(set) var windows: [ViewerWindow] = []

    /// How many are known of one application; of more, the ones that have changed last.
    static let maximumOfApplication = 64

    /// `window` is there, and shows something else than before.
    mutating func changed(_ window: ViewerWindow) {
        windows.removeAll { $0 == window }
        windows.append(window)
        let own = windows.filter { $0.application == window.application }
        if own.count > Self.maximumOfApplication, let oldest = own.first { gone(oldest) }
    }

    /// `window` is no longer there.
    mutating func gone(_ window: ViewerWindow) { windows.removeAll { $0 == window } }

    /// Nothing is known of `application` any more.
    mutating func forget(_ application: ApplicationID) { windows.removeAll { $0.application == application } }

    /// Whether there is one of `application`.
    func holds(_ application: ApplicationID) -> Bool { windows.contains { $0.application == application } }

    /// The one that is in front; nil if none is, as far as is known.
    func inFront(_ front: Front) -> ViewerWindow? {
        switch front {
        case .unknown: windows.last
        case .none: nil
        case .window(let focused): window(focused)
        }
    }

    private func window(_ focused: FocusedWindow) -> ViewerWindow? {
        let own = windows.filter { focused.application == nil || $0.application == focused.application }
        if let name = focused.busName, let path = focused.windowPath,
            let exact = own.last(where: { $0.owner == name && $0.path == path })
        {
            return exact
        }
        if let name = focused.busName, let window = own.last(where: { $0.owner == name && $0.path == nil }) {
            return window
        }
        if let process = focused.processID,
            let window = own.last(where: { $0.process == process && $0.path == nil })
        {
            return window
        }
        // What tells windows apart is not known of it, or not of ours, as where a sandbox numbers its processes anew.
        return focused.application != nil && own.count == 1 ? own.first : nil
    }
}
