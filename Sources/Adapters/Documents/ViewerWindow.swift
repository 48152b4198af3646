// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// A window of a viewer, or of a file manager.
struct ViewerWindow: Hashable, Sendable {
    /// The application.
    let application: ApplicationID
    /// The connection that it is reached by.
    let owner: BusName
    /// The process that this connection belongs to; nil if the bus does not know it.
    let process: Int32?
    /// The object that stands for the window; nil if its process has just this one.
    let path: ObjectPath?
    /// The Flatpak that it runs in; nil if it runs in no sandbox.
    let flatpak: String?

    /// What tells it from the other windows of its application.
    var key: String { "\(owner.text) \(path?.text ?? "")" }

    /// A window of `application`, which is reached through `owner`.
    init(_ application: ApplicationID, _ owner: Caller, name: BusName, path: ObjectPath? = nil) {
        self.application = application
        self.owner = name
        process = owner.credentials?.processID.flatMap { Int32(exactly: $0) }
        self.path = path
        flatpak = if case .flatpak(let id)? = owner.sandbox { id } else { nil }
    }
}
