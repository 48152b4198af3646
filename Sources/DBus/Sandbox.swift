// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

extension Sandbox {
    /// The sandbox of the process that `credentials` name, nil if it is in none. Only what the kernel says
    /// counts: the root directory and the control group of the process, which it cannot choose. A process
    /// that cannot be examined counts as sandboxed: if it has ended, another one may hold its connection.
    static func of(_ credentials: Credentials) -> Sandbox? {
        guard credentials.userID == getuid() else { return .unknown }
        guard let process = credentials.processID, process > 0 else { return .unknown }
        return of(processDirectory: "/proc/\(process)")
    }

    /// The sandbox that this process runs in, nil if it is in none. From within one, others cannot be examined.
    package static let own = of(processDirectory: "/proc/\(getpid())")

    /// The sandbox of a process, found out from its directory in `/proc`.
    static func of(
        processDirectory path: String, ownMount: String? = ProcessDirectory.ownMountNumber
    ) -> Sandbox? {
        guard let process = ProcessDirectory(path, ownMount: ownMount), process.isAlive else {
            return .unknown
        }
        let sandbox = look(into: process)
        // If the process has ended in the meantime, what was seen of it means nothing.
        return process.isAlive ? sandbox : .unknown
    }

    private static func look(into process: borrowing ProcessDirectory) -> Sandbox? {
        switch process.file(inRoot: ".flatpak-info") {
        case .hidden: return .unknown
        case .other: return .flatpak(application: "")
        case .regular(let information):
            return .flatpak(application: FlatpakInformation(information).application)
        case .absent:
            guard let groups = process.text("cgroup") else { return .unknown }
            return snap(in: groups).map { .snap(name: $0) }
        }
    }

    /// The snap that a list of control groups names: `…/snap.NAME.APP….scope` or `….service`.
    static func snap(in controlGroups: String) -> String? {
        for line in controlGroups.split(separator: "\n") {
            for element in line.split(separator: "/") where element.hasPrefix("snap.") {
                let parts = element.split(separator: ".")
                if parts.count >= 3, element.hasSuffix(".scope") || element.hasSuffix(".service") {
                    return String(parts[1])
                }
            }
        }
        return nil
    }
}
