// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// What a file descriptor can be ready for.
package struct IOCondition: OptionSet, Sendable {
    /// GLib's own bits (`GIOCondition`).
    package let rawValue: UInt32

    /// The conditions of GLib's own bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is something to read, or the end of the file.
    package static let readable = IOCondition(rawValue: G_IO_IN.rawValue)
    /// Writing would not block.
    package static let writable = IOCondition(rawValue: G_IO_OUT.rawValue)
    /// An error is pending. This is reported whether it was asked for or not.
    package static let failed = IOCondition(rawValue: G_IO_ERR.rawValue)
    /// The other side has closed. This is reported whether it was asked for or not.
    package static let hungUp = IOCondition(rawValue: G_IO_HUP.rawValue)
}

/// Watches one file descriptor, which it does not own, on the main loop.
@MainLoop
package final class DescriptorSource {
    private var source: LoopSource?
    private let body: @MainLoop (IOCondition) -> Void

    /// Calls `body` whenever `descriptor` is ready for any of `condition`, until ``cancel()`` or freeing.
    package init(
        _ descriptor: Int32, _ condition: IOCondition, _ body: @escaping @MainLoop (IOCondition) -> Void
    ) {
        self.body = body
        let function: @convention(c) (gint, GIOCondition, gpointer?) -> gboolean = { _, ready, data in
            guard let data else { return 0 }
            let this = Unmanaged<DescriptorSource>.fromOpaque(data).takeUnretainedValue()
            MainLoop.enter {
                if this.source != nil { this.body(IOCondition(rawValue: ready.rawValue)) }
            }
            return 1
        }
        // Not retained: freeing this destroys the source first.
        source = LoopSource(
            g_unix_fd_source_new(descriptor, GIOCondition(rawValue: condition.rawValue)),
            unsafeBitCast(function, to: GSourceFunc.self), Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    isolated deinit { cancel() }

    /// Stops watching. Harmless when that has been done already.
    package func cancel() {
        source?.cancel()
        source = nil
    }
}
