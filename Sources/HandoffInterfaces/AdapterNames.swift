// SPDX-License-Identifier: LGPL-2.1-or-later
public import DBus

/// The adapters that others call, and where.
extension HandoffNames {
    /// The bus name of the adapter for browsers.
    public static let browserAdapter: BusName = "org.example.Handoff.Browser"
    /// What it serves for the hosts that browsers start.
    public static let browserAdapterPath: ObjectPath = "/org/example/Handoff/Browser"
    /// The bus name of the adapter for editors.
    public static let editorAdapter: BusName = "org.example.Handoff.Editor"
    /// What it serves for the plugins of editors.
    public static let editorAdapterPath: ObjectPath = "/org/example/Handoff/Editor"
    /// The bus name of the adapter for shells.
    public static let shellAdapter: BusName = "org.example.Handoff.Shell"
    /// What it serves for `handoff here`.
    public static let shellAdapterPath: ObjectPath = "/org/example/Handoff/Shell"
}
