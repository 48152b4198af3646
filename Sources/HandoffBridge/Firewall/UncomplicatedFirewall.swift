// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What everybody may read of ufw (ufw(8)): whether it is switched on. Its rules are for the administrator alone.
struct UncomplicatedFirewall: Sendable {
    /// The file that says whether it is switched on.
    let file = "/etc/ufw/ufw.conf"

    /// What is known of it.
    struct State: Equatable, Sendable {
        /// Whether it is installed.
        var isInstalled = false
        /// Whether it is switched on, and lets in only what it is told to.
        var isGuarding = false
        /// Whether it knows Handoff by name.
        var knowsHandoff = false
    }

    /// The name of Handoff in `data/ufw/handoff`.
    static let service = "Handoff"

    private static let maximumSize = 64 << 10

    /// Looks. This may block.
    func look() -> State {
        guard let settings = text(file) else { return State() }
        let profile = text("/etc/ufw/applications.d/handoff") ?? ""
        // Without that file, ufw refuses to start.
        let policy = Self.value("DEFAULT_INPUT_POLICY", in: text("/etc/default/ufw") ?? "")
        return State(
            isInstalled: true,
            isGuarding: Self.value("ENABLED", in: settings)?.lowercased() == "yes"
                && policy?.uppercased() != "ACCEPT",
            knowsHandoff: profile.split(whereSeparator: \.isNewline).contains("[\(Self.service)]"))
    }

    private func text(_ path: String) -> String? {
        let bytes = try? SmallFile.read(path, maximumSize: Self.maximumSize)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last value of `name` in a file of a shell's assignments, without quotation marks.
    static func value(_ name: String, in text: String) -> String? {
        var found: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let plain: String = String(line).filter { !$0.isWhitespace }
            let words: [Substring] = plain.split(separator: "=", maxSplits: 1)
            guard words.count == 2, words[0] == name else { continue }
            let value = String(words[1].prefix { $0 != "#" })
            found = value.filter { $0 != "\"" && $0 != "'" }
        }
        return found
    }
}
