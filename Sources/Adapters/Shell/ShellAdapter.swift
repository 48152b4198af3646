// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import HandoffInterfaces

/// The adapter `shell`.
package enum ShellAdapter {
    /// What `DisabledAdapters` calls it.
    static let name = "shell"

    /// The adapter as a program: with `--greet ERRAND` or `--attach ERRAND` what runs in a terminal, else what the bus starts.
    package static let program = AdapterProgram(name) { arguments in
        if arguments.count == 3 {
            if arguments[1] == "--greet" { return ShellGreeting.run(arguments[2]) }
            if arguments[1] == "--attach" { return SessionAttaching.run(arguments[2]) }
        }
        return AdapterService.run(
            name, busName: HandoffNames.shellAdapter,
            summary: "Continue the folders and tmux sessions of shells in terminals of this session.",
            arguments: arguments,
            make: { service, _ in ShellService(service) }, begin: { try $0.begin() })
    }
}
