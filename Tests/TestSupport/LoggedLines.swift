// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Synchronization

/// What has been logged in this process, by whichever test: a test looks for what no other one has.
package enum LoggedLines {
    private static let lines = Mutex<[String]>([])
    private static let listening: Void = {
        g_log_set_writer_func(
            { level, fields, count, _ in
                for field in UnsafeBufferPointer(start: fields, count: Int(count))
                where String(cString: field.key) == "MESSAGE" {
                    let text = field.value.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
                    LoggedLines.lines.withLock { $0.append(text ?? "") }
                }
                return g_log_writer_default(level, fields, count, nil)
            }, nil, nil)
    }()

    /// Keeps what is logged from now on.
    package static func begin() { listening }

    /// The lines that have `text`, in order.
    package static func with(_ text: String) -> [String] {
        lines.withLock { lines in lines.filter { $0.contains(text) } }
    }
}
