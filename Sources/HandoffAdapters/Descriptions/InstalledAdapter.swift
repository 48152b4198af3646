// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// An adapter whose description is on this machine, with those of its applications that are.
package struct InstalledAdapter: Hashable, Sendable {
    /// An application that is installed.
    package struct Application: Hashable, Sendable {
        /// The name of its desktop entry.
        package let id: ApplicationID
        /// What its windows are called on X11 (`StartupWMClass`); nil if the entry does not say.
        package let windowClass: String?

        /// An application.
        package init(id: ApplicationID, windowClass: String? = nil) {
            (self.id, self.windowClass) = (id, windowClass)
        }
    }

    /// What the description says.
    package let description: AdapterDescription
    /// Those of its applications that are installed.
    package let applications: [Application]

    /// An adapter of which these applications are installed.
    package init(_ description: AdapterDescription, _ applications: [Application]) {
        (self.description, self.applications) = (description, applications)
    }

    /// Whether anything here needs it.
    package var isNeeded: Bool { !applications.isEmpty }

    /// The same adapter with none of the `excluded` applications.
    package func without(_ excluded: Set<String>) -> InstalledAdapter {
        InstalledAdapter(description, applications.filter { !excluded.contains($0.id.description) })
    }
}
