// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import HandoffSession
internal import MainLoop

/// What GVfs remembers of files. This process does without GVfs, which would open connections of its own, so a brief
/// program of GLib reads it.
enum GVfsMetadata {
    /// How long it may take, and how much it may say.
    private static let (patience, maximumSize) = (Duration.milliseconds(1000), 4096)
    private static let page = "metadata::evince::page"

    /// The page that Evince has noted for `file`; nil if there is none.
    @MainLoop
    static func page(of file: ViewedPath, gio: String) async -> PageNumber? {
        guard let url = file.url else { return nil }
        var variables = SessionEnvironment.variables
        variables["LC_ALL"] = "C.UTF-8"
        let program = BriefProgram(
            [gio, "info", "--attributes=\(page)", url],
            environment: variables.map { "\($0.key)=\($0.value)" },
            maximumSize: maximumSize)
        guard let outcome = try? await program.run(within: patience), outcome.status == 0 else { return nil }
        return page(in: String(decoding: outcome.output, as: UTF8.self))
    }

    /// The page in what `gio info` says, which counts from 0.
    static func page(in text: String) -> PageNumber? {
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " }
            guard line.hasPrefix("\(page): ") else { continue }
            return Int64(line.dropFirst(page.count + 2)).flatMap { PageNumber(index: $0) }
        }
        return nil
    }
}
