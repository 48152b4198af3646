// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The adapters that others call, and where.
extension HandoffNames {
    /// The bus name of the adapter for browsers.
    package static let browserAdapter = own("Browser")
    /// What it serves for the hosts that browsers start.
    package static let browserAdapterPath: ObjectPath = "/org/example/Handoff/Browser"
    /// The bus name of the adapter for document viewers and file managers.
    package static let documentsAdapter = own("Documents")
    /// The bus name of the adapter for editors.
    package static let editorAdapter = own("Editor")
    /// What it serves for the plugins of editors, and that for the office for its extension.
    package static let editorAdapterPath: ObjectPath = "/org/example/Handoff/Editor"
    /// The bus name of the adapter for media players.
    package static let mediaAdapter = own("Media")
    /// The bus name of the adapter for the office; it serves what that for editors does, at the same path.
    package static let officeAdapter = own("Office")
    /// The bus name of the adapter for telephones.
    package static let phoneAdapter = own("Phone")
    /// The bus name of the adapter for shells.
    package static let shellAdapter = own("Shell")
    /// What it serves for `handoff here`.
    package static let shellAdapterPath: ObjectPath = "/org/example/Handoff/Shell"
}
