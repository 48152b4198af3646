// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import MainLoop

/// Where the user works, from whoever knows it best: the desktop's shell, or else the display if that is one of X11.
@MainLoop
final class DesktopFocus: FocusSource {
    var window: FocusedWindow? { source.window }
    var isTelling: Bool { source.isTelling }
    var onFocusChange: (@MainLoop () -> Void)?

    private let shell: any FocusSource
    private let display: X11Focus?
    private var source: any FocusSource { shell.isTelling ? shell : display ?? shell }

    /// What `shell` says, or else the display that the environment names.
    init(_ shell: any FocusSource, _ display: X11Focus?) { (self.shell, self.display) = (shell, display) }

    /// The windows of these applications are known by their classes on X11.
    func know(_ classes: X11Classes) { display?.classes = classes }

    /// Begins to follow both.
    func begin() {
        shell.onFocusChange = { [weak self] in self?.shellChanged() }
        display?.onFocusChange = { [weak self] in
            if let self, !shell.isTelling { onFocusChange?() }
        }
        display?.begin()
    }

    private func shellChanged() {
        // Nobody asks the display for what the shell says.
        if shell.isTelling { display?.end() } else { display?.begin() }
        onFocusChange?()
    }
}
