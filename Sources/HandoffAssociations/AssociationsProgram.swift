// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore

/// `handoff-associations HOST`: asks the site of a host to which applications it gives its pages, prints the answer, and
/// says on standard error why there is none. The broker starts it, since the broker itself does not touch the network.
package enum AssociationsProgram {
    /// Runs the program with its name and its arguments.
    /// - Returns: its exit status: 0 if it has printed an answer, 2 if it was called in a wrong way.
    package static func run(_ arguments: [String]) -> Int32 {
        Confinement.begin()
        guard arguments.count == 2, let host = WebHost(arguments[1]) else {
            complain(
                "Usage: handoff-associations HOST, the name of a public host in lower case such as www.example.com."
            )
            return 2
        }
        let (answer, reason) = SiteQuestion.ask(host, HTTPSDownload.file)
        if let reason { complain(reason) }
        guard write(answer.text, to: STDOUT_FILENO) else {
            complain("The answer could not be written.")
            return 1
        }
        return 0
    }

    private static func complain(_ text: String) { _ = write(text + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
