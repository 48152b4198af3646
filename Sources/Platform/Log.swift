// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Synchronization

/// Structured logging through GLib: to the journal if standard error leads there, otherwise to standard
/// error.
///
/// Debug lines appear with `G_MESSAGES_DEBUG=DOMAIN` (or `all`), or after ``enableDebug()``.
package struct Log: Sendable {
    /// How much a line matters (GLib's log levels, which map to syslog priorities).
    package enum Level: Sendable {
        case debug, info, message, warning, critical

        var flags: GLogLevelFlags {
            switch self {
            case .debug: G_LOG_LEVEL_DEBUG
            case .info: G_LOG_LEVEL_INFO
            case .message: G_LOG_LEVEL_MESSAGE
            case .warning: G_LOG_LEVEL_WARNING
            case .critical: G_LOG_LEVEL_CRITICAL
            }
        }

        /// The syslog priority, as in GLib's `log_level_to_priority`.
        var priority: StaticString {
            switch self {
            case .debug: "7"
            case .info: "6"
            case .message: "5"
            case .warning, .critical: "4"
            }
        }
    }

    /// GLib's log domain: the component that speaks.
    package let domain: String

    /// A log of `domain`, e.g. `handoff-broker`.
    package init(domain: String) { self.domain = domain }

    /// Sends everything to standard error, so that programs can read standard output. To be called before the
    /// first line.
    package static func useStandardError() { g_log_writer_default_set_use_stderr(1) }

    /// Shows debug lines of every domain, as `--verbose` asks for.
    package static func enableDebug() {
        g_log_set_debug_enabled(1)
        showsAll.store(true, ordering: .relaxed)
    }

    /// Set once debug lines are enabled: what GLib answered before no longer counts.
    private static let showsAll = Atomic<Bool>(false)

    /// Writes one line; `fields` become fields of the journal entry (names in upper case).
    package func callAsFunction(
        _ level: Level, _ text: @autoclosure () -> String, _ fields: KeyValuePairs<String, String> = [:]
    ) {
        if (level == .debug || level == .info) && drops(level) { return }
        var values: [(String, String)] = [("GLIB_DOMAIN", domain), ("PRIORITY", "\(level.priority)")]
        values.append(("MESSAGE", text()))
        for (name, value) in fields { values.append((name, value)) }
        write(level.flags, values)
    }

    /// Writes what only a developer asks for.
    package func debug(_ text: @autoclosure () -> String, _ fields: KeyValuePairs<String, String> = [:]) {
        self(.debug, text(), fields)
    }

    /// Writes what is normal but worth knowing when asked for.
    package func info(_ text: @autoclosure () -> String, _ fields: KeyValuePairs<String, String> = [:]) {
        self(.info, text(), fields)
    }

    /// Writes what a user or administrator should be able to find.
    package func message(_ text: @autoclosure () -> String, _ fields: KeyValuePairs<String, String> = [:]) {
        self(.message, text(), fields)
    }

    /// Writes what has gone wrong without ending the program.
    package func warning(_ text: @autoclosure () -> String, _ fields: KeyValuePairs<String, String> = [:]) {
        self(.warning, text(), fields)
    }

    /// Whether GLib would drop lines of this level. Its answer is kept: asking costs a third of a
    /// microsecond, on paths that take ten.
    private func drops(_ level: Level) -> Bool {
        if Self.showsAll.load(ordering: .relaxed) { return false }
        if verdict.drops.load(ordering: .relaxed) == Verdict.unknown {
            let drops = g_log_writer_default_would_drop(level.flags, domain) != 0
            verdict.drops.store(drops ? Verdict.yes : Verdict.no, ordering: .relaxed)
        }
        return verdict.drops.load(ordering: .relaxed) == Verdict.yes
    }

    private final class Verdict: Sendable {
        static let (unknown, yes, no): (UInt8, UInt8, UInt8) = (0, 1, 2)
        let drops = Atomic<UInt8>(Verdict.unknown)
    }

    private let verdict = Verdict()

    private func write(_ level: GLogLevelFlags, _ values: [(String, String)]) {
        var memory: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in memory { g_free(text) } }
        let fields = values.map { name, value in
            let (key, text) = (g_strdup(name), g_strdup(value))
            memory += [key, text]
            return GLogField(key: UnsafePointer(key), value: UnsafeRawPointer(text), length: -1)
        }
        g_log_structured_array(level, fields, gsize(fields.count))
    }
}
