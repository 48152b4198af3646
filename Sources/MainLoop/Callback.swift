// SPDX-License-Identifier: LGPL-2.1-or-later
/// The two ways in which a Swift closure travels through a C callback's `user_data`.
///
/// - ``Once``: C calls back exactly once. Passing retains the closure, and the call releases it.
/// - ``Repeating``: C calls back any number of times and then calls the destroy notify, which releases it.
///
/// Both enter the loop, so that jobs which the closure starts run before GLib gets control back.
package enum Callback {
    /// A callback that happens exactly once, with one argument.
    @MainLoop
    package final class Once<Argument> {
        private let body: @MainLoop (Argument) -> Void

        private init(_ body: @escaping @MainLoop (Argument) -> Void) { self.body = body }

        /// The `user_data` for C.
        package static func pass(_ body: @escaping @MainLoop (Argument) -> Void) -> UnsafeMutableRawPointer {
            Unmanaged.passRetained(Once(body)).toOpaque()
        }

        /// To be called by the C function that got `data` from ``pass(_:)``.
        package nonisolated static func call(_ data: UnsafeMutableRawPointer?, _ argument: Argument) {
            guard let data else { return }
            let callback = Unmanaged<Once>.fromOpaque(data).takeRetainedValue()
            // This is called on the loop's thread, so nothing is sent to another thread.
            nonisolated(unsafe) let argument = argument
            MainLoop.enter { callback.body(argument) }
        }
    }

    /// A callback that happens until its source is destroyed.
    @MainLoop
    package final class Repeating {
        /// The closure, which returns whether the source stays.
        private let body: @MainLoop () -> Bool

        private init(_ body: @escaping @MainLoop () -> Bool) { self.body = body }

        /// The `user_data` for C, to go with ``destroy``.
        package static func pass(_ body: @escaping @MainLoop () -> Bool) -> UnsafeMutableRawPointer {
            Unmanaged.passRetained(Repeating(body)).toOpaque()
        }

        /// To be called by the C function that got `data` from ``pass(_:)``; answers what the closure does.
        package nonisolated static func call(_ data: UnsafeMutableRawPointer?) -> Int32 {
            guard let data else { return 0 }
            let callback = Unmanaged<Repeating>.fromOpaque(data).takeUnretainedValue()
            var stays = false
            MainLoop.enter { stays = callback.body() }
            return stays ? 1 : 0
        }

        /// The GDestroyNotify that releases the closure.
        package nonisolated static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
            if let data { Unmanaged<Repeating>.fromOpaque(data).release() }
        }
    }
}
