// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The adapters that others call, and where.
extension HandoffNames {
    /// The bus name of the adapter for browsers.
    package static let browserAdapter: BusName = "org.example.Handoff.Browser"
    /// What it serves for the hosts that browsers start.
    package static let browserAdapterPath: ObjectPath = "/org/example/Handoff/Browser"
    /// The bus name of the adapter for editors.
    package static let editorAdapter: BusName = "org.example.Handoff.Editor"
    /// What it serves for the plugins of editors, and that for the office for its extension.
    package static let editorAdapterPath: ObjectPath = "/org/example/Handoff/Editor"
    /// The bus name of the adapter for the office; it serves what that for editors does, at the same path.
    package static let officeAdapter: BusName = "org.example.Handoff.Office"
    /// The bus name of the adapter for telephones.
    package static let phoneAdapter: BusName = "org.example.Handoff.Phone"
    /// The bus name of the adapter for shells.
    package static let shellAdapter: BusName = "org.example.Handoff.Shell"
    /// What it serves for `handoff here`.
    package static let shellAdapterPath: ObjectPath = "/org/example/Handoff/Shell"
}
