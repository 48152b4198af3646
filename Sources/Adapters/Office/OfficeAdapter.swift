// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import HandoffInterfaces

/// The adapter `office`: documents of LibreOffice are continued at the same place, also what was not saved.
package enum OfficeAdapter {
    /// What `DisabledAdapters` calls it.
    static let name = "office"

    /// The adapter as a program: with `--stdio` the child of the extension in LibreOffice, else what the bus starts.
    package static let program = AdapterProgram(name) { arguments in
        if arguments.count == 2, arguments[1] == "--stdio" {
            return PluginChild.run(
                name, for: "LibreOffice", isExcluded: { OfficeApplication.areAllIn($0) },
                make: { try OfficeSession($0) })
        }
        return AdapterService.run(
            name, busName: HandoffNames.officeAdapter,
            summary: "Continue documents in LibreOffice in this session.", arguments: arguments,
            make: { service, _ in OfficeCatcher(service) }, begin: { try $0.begin() })
    }
}
