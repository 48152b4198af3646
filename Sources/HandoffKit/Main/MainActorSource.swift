// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDispatchMain
internal import Glibc
internal import MainLoop

/// Lets GLib's default main context run the main actor, so that a program whose loop is GLib's, as every GTK program's
/// is, needs no second thread.
@MainActor
package enum MainActorSource {
    private static var source: DescriptorSource?

    /// Attaches the source, once; more calls do nothing.
    ///
    /// Neither does a call on a thread that GLib's default main context cannot belong to: whoever runs the main actor
    /// there already goes on to do so.
    package static func attach() {
        guard source == nil, MainLoop.canBeHere else { return }
        source = MainLoop.assumeIsolated {
            let queue = _dispatch_get_main_queue_handle_4CF()
            return DescriptorSource(queue, .readable) { _ in
                // The queue only ever adds to the counter; what comes after this is announced anew.
                var count: UInt64 = 0
                _ = read(queue, &count, MemoryLayout.size(ofValue: count))
                _dispatch_main_queue_callback_4CF(nil)
            }
        }
    }
}
