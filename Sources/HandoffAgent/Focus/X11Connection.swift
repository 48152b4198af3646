// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CXCB

/// A connection with a display of X11 that follows which window is active.
///
/// Everything that may wait for the display happens when it is made. Afterwards what has arrived is taken, and what is asked
/// for is sent: never more than one set of questions is open, which fits into any buffer. It is used by one thread after
/// another, the one that makes it and then the main loop's; libxcb is safe even for several at a time ("XCB", xcb.h).
final class X11Connection: @unchecked Sendable {
    /// The descriptor that is readable when something has arrived.
    let descriptor: Int32

    private let raw: OpaquePointer
    private let root: xcb_window_t
    private let activeWindow: xcb_atom_t
    private let atoms: [(X11Window.Property, xcb_atom_t)]
    /// What is asked, by the number of the request.
    private var open: [(question: Question, number: UInt32)] = []
    private var found: [X11Window.Property: [UInt8]] = [:]

    private enum Question {
        case active
        case property(X11Window.Property)
    }

    /// What has become known.
    enum Answer: Equatable {
        /// Another window may be active.
        case changed
        /// This window is active; nil if none is.
        case active(UInt32?)
        /// There is no window manager that says which window is active.
        case unknown
        /// The active window has these properties.
        case properties([X11Window.Property: [UInt8]])
    }

    /// Connects with the display that the environment names. This blocks as long as that does not answer.
    ///
    /// Nil if there is none, or if it is none that says which window is active.
    init?() {
        var screen: Int32 = 0
        guard let raw = xcb_connect(nil, &screen) else { return nil }
        guard xcb_connection_has_error(raw) == 0, let root = Self.root(raw, screen) else {
            xcb_disconnect(raw)
            return nil
        }
        let active = Self.atom("_NET_ACTIVE_WINDOW", raw)
        let atoms = X11Window.Property.allCases.map { ($0, Self.atom($0.rawValue, raw)) }
        var mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
        let selected = xcb_change_window_attributes_checked(raw, root, XCB_CW_EVENT_MASK.rawValue, &mask)
        let error = xcb_request_check(raw, selected)
        free(error)
        guard error == nil, active != 0, xcb_connection_has_error(raw) == 0 else {
            xcb_disconnect(raw)
            return nil
        }
        (self.raw, self.root, activeWindow, self.atoms) = (raw, root, active, atoms)
        descriptor = xcb_get_file_descriptor(raw)
    }

    deinit { xcb_disconnect(raw) }

    /// The root window of the screen with this number; nil if there is no such screen.
    static func root(_ raw: OpaquePointer, _ number: Int32) -> xcb_window_t? {
        guard let setup = xcb_get_setup(raw) else { return nil }
        var screens = xcb_setup_roots_iterator(setup)
        for _ in 0..<max(0, number) where screens.rem > 0 { xcb_screen_next(&screens) }
        return screens.rem > 0 ? screens.data?.pointee.root : nil
    }

    /// What `read` makes of the reply to the request with this number, which is nil if the request failed; nil if there is no
    /// reply yet. The reply lives as long as `read` runs.
    static func reply<Value>(
        _ raw: OpaquePointer, _ number: UInt32, _ read: (UnsafeMutableRawPointer?) -> Value
    ) -> Value? {
        var (reply, error): (UnsafeMutableRawPointer?, UnsafeMutablePointer<xcb_generic_error_t>?) = (
            nil, nil
        )
        guard xcb_poll_for_reply(raw, number, &reply, &error) == 1 else { return nil }
        defer {
            free(reply)
            free(error)
        }
        return read(reply)
    }

    /// The atom of a name, which is made if there is none; 0 if that fails. This waits for the display.
    static func atom(_ name: String, _ raw: OpaquePointer) -> xcb_atom_t {
        let reply = xcb_intern_atom_reply(raw, xcb_intern_atom(raw, 0, UInt16(name.utf8.count), name), nil)
        defer { free(reply) }
        return reply?.pointee.atom ?? 0
    }

    /// Whether the display is gone.
    var isBroken: Bool { xcb_connection_has_error(raw) != 0 }

    /// Whether questions are open.
    var isAsking: Bool { !open.isEmpty }

    /// Asks which window is active.
    func askActive() { ask([(.active, root, activeWindow, 4)]) }

    /// Asks what `window` says of itself.
    func askProperties(_ window: UInt32) {
        found = [:]
        ask(atoms.map { (.property($0.0), window, $0.1, $0.0.maximumSize) })
    }

    private func ask(_ questions: [(Question, xcb_window_t, xcb_atom_t, Int)]) {
        guard !isAsking, !isBroken else { return }
        for (question, window, atom, size) in questions {
            // Only so many bytes are sent of what a client has made as long as it likes.
            let cookie = xcb_get_property(raw, 0, window, atom, 0, 0, UInt32((size + 3) / 4))
            open.append((question, cookie.sequence))
        }
        xcb_flush(raw)
    }

    /// What has arrived since the last time, without waiting for more.
    func takeAnswers() -> [Answer] {
        var answers: [Answer] = []
        var hasChanged = false
        // Looking for one kind of what has arrived may read more of the other.
        repeat {
            while let event = xcb_poll_for_event(raw) {
                defer { free(event) }
                if event.pointee.response_type & 0x7F == UInt8(XCB_PROPERTY_NOTIFY) {
                    event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) {
                        if $0.pointee.atom == activeWindow { hasChanged = true }
                    }
                }
            }
        } while takeReply(&answers)
        return (hasChanged ? [.changed] : []) + answers
    }

    /// - Returns: whether there was a reply.
    private func takeReply(_ answers: inout [Answer]) -> Bool {
        guard let (question, number) = open.first else { return false }
        guard let bytes = Self.reply(raw, number, Self.bytes) else { return false }
        open.removeFirst()
        switch question {
        case .active:
            let window = bytes.count == 4 ? bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } : nil
            answers.append(window.map { .active($0 == 0 ? nil : $0) } ?? .unknown)
        case .property(let property):
            found[property] = bytes.isEmpty ? nil : Array(bytes.prefix(property.maximumSize))
            if open.isEmpty { answers.append(.properties(found)) }
        }
        return true
    }

    /// The value of a property; empty if there is none, or the window is gone.
    private static func bytes(_ reply: UnsafeMutableRawPointer?) -> [UInt8] {
        guard let reply = reply?.assumingMemoryBound(to: xcb_get_property_reply_t.self),
            let value = xcb_get_property_value(reply)
        else { return [] }
        let count = Int(xcb_get_property_value_length(reply))
        return count > 0 ? Array(UnsafeRawBufferPointer(start: value, count: count)) : []
    }
}
