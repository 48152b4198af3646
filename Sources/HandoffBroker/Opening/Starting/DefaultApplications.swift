// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// What the user's desktop opens web pages and documents with.
@MainLoop
final class DefaultApplications {
    /// Called when the answers may have changed.
    private let onChange: @MainLoop () -> Void

    init(_ onChange: @escaping @MainLoop () -> Void) { self.onChange = onChange }

    /// The user's browser; nil if there is none.
    var browser: ApplicationID? { nil }

    /// What documents of the MIME type `contentType` are opened with; nil if there is nothing, or if such files are
    /// programs or desktop entries, which nobody but the user may open.
    func application(forDocumentsOf contentType: String) -> ApplicationID? { nil }
}
