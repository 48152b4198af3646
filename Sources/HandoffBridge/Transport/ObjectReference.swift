// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// One reference to a GObject, given up when the value is freed.
final class ObjectReference<Pointee>: @unchecked Sendable {
    // @unchecked: the pointer never changes; g_object_ref and g_object_unref are safe from any thread.
    // Whoever calls functions on the object is responsible for their being safe.
    let raw: UnsafeMutablePointer<Pointee>

    /// Takes over a reference.
    init(owning raw: UnsafeMutablePointer<Pointee>) { self.raw = raw }

    /// Takes a reference of its own.
    init(retaining raw: UnsafeMutablePointer<Pointee>) {
        self.raw = raw
        g_object_ref(raw)
    }

    deinit { g_object_unref(raw) }

    /// The same object as the type `Other`, which it is derived from.
    func cast<Other>(to: Other.Type = Other.self) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: Other.self)
    }
}
