// SPDX-License-Identifier: LGPL-2.1-or-later

/// A package whose applications run in a sandbox: what the system says that one of them is, whatever it says itself.
package enum SandboxPackage: Hashable, Sendable {
    /// A Flatpak, by the id of its application.
    case flatpak(String)
    /// A snap, by its name.
    case snap(String)

    /// Whether an application of this package may call itself `id`. The desktop entries of a snap are named after the
    /// snap, and after the application if that has another name.
    package func owns(_ id: ApplicationID) -> Bool {
        switch self {
        case .flatpak(let application): id.description == application
        case .snap(let name): id.description == name || id.description.hasPrefix(name + "_")
        }
    }
}
