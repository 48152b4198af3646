// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Glibc
internal import Platform

/// What runs first in a terminal that was opened for a shell of another device: it shows the last commands from there, and
/// becomes the user's shell.
enum ShellGreeting {
    /// Does so, for an errand whose words are the name of the device, the folder, and the commands.
    /// - Returns: the exit status, if there is no shell.
    static func run(_ errand: String) -> Int32 {
        Log.useStandardError()
        guard let words = Errand.take(errand), words.count >= 2 else {
            adapterLog.warning("There is nothing to continue any more. Continue the activity again.")
            return 1
        }
        print(text(device: words[0], history: Array(words.dropFirst(2))), terminator: "")
        fflush(nil)
        if chdir(words[1]) != 0 {
            adapterLog.warning("The folder cannot be entered: \(SystemError.last).")
        } else {
            setenv("PWD", words[1], 1)
        }
        let shell = Self.shell
        ProgramExchange.become(shell, [shell])
        adapterLog.warning("\(shell) cannot be run: \(SystemError.last).")
        return 1
    }

    /// What is shown. All of it is plain text, whoever has written it.
    static func text(device: String, history: [String]) -> String {
        let device = ShellHistory.shown([device]).joined()
        if history.isEmpty { return "" }
        let head = tr("The last commands on the other device (“{device}”):", ["device": device])
        return head + "\n" + ShellHistory.shown(history).map { "    \($0)\n" }.joined() + "\n"
    }

    /// The user's shell: `$SHELL`, what the user database says, or sh(1).
    private static var shell: String {
        if let shell = Variables.all["SHELL"], isProgram(shell) { return shell }
        if let entry = getpwuid(getuid()), let shell = entry.pointee.pw_shell {
            let path = String(cString: shell)
            if isProgram(path) { return path }
        }
        return "/bin/sh"
    }

    private static func isProgram(_ path: String) -> Bool { path.hasPrefix("/") && access(path, X_OK) == 0 }
}
