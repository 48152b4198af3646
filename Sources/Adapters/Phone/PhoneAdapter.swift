// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import HandoffInterfaces

/// The adapter `phone`: pages and documents go to the telephones that KDE Connect, GSConnect or Valent reaches.
package enum PhoneAdapter {
    /// What `DisabledAdapters` calls it.
    static let name = "phone"

    /// The adapter as a program.
    package static let program = AdapterProgram(name) { arguments in
        AdapterService.run(
            name, busName: HandoffNames.phoneAdapter,
            summary: "Send pages and documents to the telephones that KDE Connect reaches.",
            arguments: arguments,
            make: { service, _ in try PhoneService(service) }, begin: { $0.begin() })
    }
}
