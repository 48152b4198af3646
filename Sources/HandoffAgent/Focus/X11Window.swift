// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import Platform

/// What a window on X11 says of itself. Any client can say anything.
struct X11Window: Equatable, Sendable {
    /// The properties that are looked at.
    enum Property: String, CaseIterable, Sendable {
        case process = "_NET_WM_PID"
        case machine = "WM_CLIENT_MACHINE"
        case windowClass = "WM_CLASS"
        case gtkApplication = "_GTK_APPLICATION_ID"
        case desktopFile = "_KDE_NET_WM_DESKTOP_FILE"
        case desktopPath = "_BAMF_DESKTOP_FILE"
        case busName = "_GTK_UNIQUE_BUS_NAME"
        case windowPath = "_GTK_WINDOW_OBJECT_PATH"

        /// How many bytes of it are asked for at most.
        var maximumSize: Int {
            switch self {
            case .process: 4
            case .desktopPath, .windowPath, .windowClass: 1024
            case .machine, .gtkApplication, .desktopFile, .busName: 256
            }
        }
    }

    /// The window that has these properties, as they are on the wire.
    /// - Parameters:
    ///   - classes: the applications that are known by the classes of their windows.
    ///   - machine: what this machine is called: the processes of others are not ours.
    /// - Returns: nil if it says nothing that can be used.
    static func described(
        by properties: [Property: [UInt8]], _ classes: X11Classes, machine: String
    ) -> FocusedWindow? {
        func text(_ property: Property) -> String {
            let bytes = properties[property] ?? []
            // One that is as long as may be is cut off, and something else than what was meant.
            guard bytes.count < property.maximumSize else { return "" }
            return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) ?? ""
        }
        var window = FocusedWindow()
        let path = text(.desktopPath)
        let candidates = [
            text(.gtkApplication), withoutSuffix(text(.desktopFile)),
            withoutSuffix(path.split(separator: "/").last.map(String.init) ?? ""),
        ]
        window.application =
            candidates.firstResult { try? ApplicationID($0) }
            ?? classes.application(properties[.windowClass] ?? [])
        let host = text(.machine)
        if let bytes = properties[.process], bytes.count == 4, host.isEmpty || host == machine {
            let number = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            window.processID = Int32(exactly: number).flatMap { $0 > 0 ? $0 : nil }
        }
        let name = text(.busName)
        if name.hasPrefix(":") { window.busName = try? BusName(name) }
        window.windowPath = try? ObjectPath(text(.windowPath))
        return window == FocusedWindow() ? nil : window
    }

    private static func withoutSuffix(_ name: String) -> String {
        name.hasSuffix(".desktop") ? String(name.dropLast(".desktop".count)) : name
    }
}

/// The applications whose windows are known by their classes: by the names of their desktop entries, and by what those say
/// the class is.
struct X11Classes: Equatable, Sendable {
    private var applications: [String: ApplicationID] = [:]

    /// None.
    init() {}

    /// These `applications`, with what their entries say the class is. Of two of one class the first counts.
    init(_ applications: [(id: ApplicationID, windowClass: String?)]) {
        for (id, windowClass) in applications {
            for name in [windowClass, id.description].compactMap({ $0 })
            where self.applications[name.lowercased()] == nil {
                self.applications[name.lowercased()] = id
            }
        }
    }

    /// The application of a window with this `WM_CLASS`, which is two texts, each with a zero behind it: the instance and the
    /// class, which is looked for first.
    func application(_ property: [UInt8]) -> ApplicationID? {
        let parts = property.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).prefix(2)
        return parts.reversed().firstResult { part in
            String(validating: part, as: UTF8.self).flatMap { applications[$0.lowercased()] }
        }
    }
}
