// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffAdapters
import HandoffCore
import HandoffSettingsModel
import MainLoop
import Platform

/// The adapters of which an application is installed, which the user can switch off one by one.
///
/// The catalogue is on the main loop and the window on the main actor, which are both the process's first thread.
@MainLoop
final class InstalledAdapters {
    private var catalogue: AdapterCatalogue?

    /// None is known yet.
    nonisolated init() {}

    /// Begins to follow which there are. `tell` is called each time that they are others.
    nonisolated func begin(_ tell: @escaping @MainActor ([Adapter]) -> Void) {
        MainLoop.start { [self] in
            let catalogue = AdapterCatalogue(log: Log(domain: "handoff-settings"))
            self.catalogue = catalogue
            catalogue.onChange = { [weak catalogue] in
                let adapters = (catalogue?.adapters ?? []).map {
                    Adapter(
                        id: $0.description.name.description, name: $0.description.title,
                        applications: $0.applications.map(\.id.description))
                }
                MainActor.assumeIsolated { tell(adapters) }
            }
            catalogue.begin()
        }
    }
}
