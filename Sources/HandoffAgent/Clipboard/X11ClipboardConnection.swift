// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CXCB
internal import MainLoop

/// A connection with a display of X11 for its clipboard, with a window of its own that nobody sees.
///
/// Whatever waits for an answer happens when it is made. Afterwards what is asked for is sent by ``flush()``, and what has come
/// is taken by ``take()``. What a request does to the window of another client may fail: then nothing is told. It is used by one
/// thread after another, the one that makes it and then the main loop's; libxcb is safe even for several at a time ("XCB",
/// xcb.h).
final class X11ClipboardConnection: @unchecked Sendable {
    /// The descriptor that is readable when something has arrived.
    let descriptor: Int32
    /// The window that the clipboard is owned and read by.
    let window: UInt32
    /// The names that are needed.
    let atoms: X11Atoms
    /// How many bytes are written into a property at a time at most.
    let pieceSize: Int
    /// Called when there is something for ``flush()``.
    var onUnsent: (@MainLoop () -> Void)?

    private let raw: OpaquePointer
    private let ownerEvent: UInt8
    private var isUnsent = false
    /// What is asked, by the number of the request.
    private var open: [(question: Question, number: UInt32)] = []
    /// What was answered and is not taken yet.
    private var answers: [(number: UInt32, body: @MainLoop () -> Void)] = []

    private static let maximumPiece = 64 << 10
    /// How many bytes of a property are asked for at a time.
    private static let maximumPart = 256 << 10
    /// How many events are taken at a time, so that clients which make many do not keep the main loop.
    private static let maximumEvents = 256

    private enum Question {
        case atom(@MainLoop (UInt32?) -> Void)
        case name(@MainLoop (String?) -> Void)
        case owner(@MainLoop (UInt32?) -> Void)
        case property(@MainLoop (X11Property?) -> Void)
    }

    /// Connects with the display that the environment names. This blocks as long as that does not answer.
    ///
    /// Nil if there is none, or if it does not tell who owns the clipboard (XFIXES).
    init?() {
        var screen: Int32 = 0
        guard let raw = xcb_connect(nil, &screen) else { return nil }
        guard xcb_connection_has_error(raw) == 0, let root = X11Connection.root(raw, screen),
            let ownerEvent = Self.ownerEvent(raw), let atoms = X11Atoms({ X11Connection.atom($0, raw) }),
            let window = Self.window(raw, root, atoms.clipboard)
        else {
            xcb_disconnect(raw)
            return nil
        }
        (self.raw, self.ownerEvent, self.atoms, self.window) = (raw, ownerEvent, atoms, window)
        // The display counts in words, and the request itself needs some. To ask for it may block for the first time.
        pieceSize = min(Self.maximumPiece, Int(xcb_get_maximum_request_length(raw)) * 4 - 64)
        descriptor = xcb_get_file_descriptor(raw)
    }

    deinit { xcb_disconnect(raw) }

    /// The number of the event that tells of a new owner; nil if there is no such event.
    private static func ownerEvent(_ raw: OpaquePointer) -> UInt8? {
        let name = "XFIXES"
        let extensionReply = xcb_query_extension_reply(
            raw, xcb_query_extension(raw, UInt16(name.utf8.count), name), nil)
        defer { free(extensionReply) }
        guard let extensionReply, extensionReply.pointee.present != 0 else { return nil }
        // A display does nothing of an extension for clients that have not said which version they know.
        let version = xcb_xfixes_query_version_reply(raw, xcb_xfixes_query_version(raw, 5, 0), nil)
        defer { free(version) }
        guard let version, version.pointee.major_version >= 1 else { return nil }
        return extensionReply.pointee.first_event &+ UInt8(XCB_XFIXES_SELECTION_NOTIFY)
    }

    /// A new window, which is told who owns `selection`; nil if there is none.
    private static func window(_ raw: OpaquePointer, _ root: UInt32, _ selection: UInt32) -> UInt32? {
        let window = xcb_generate_id(raw)
        var mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
        let created = xcb_create_window_checked(
            raw, 0, window, root, -1, -1, 1, 1, 0, UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0,
            XCB_CW_EVENT_MASK.rawValue, &mask)
        let selected = xcb_xfixes_select_selection_input_checked(
            raw, window, selection,
            XCB_XFIXES_SELECTION_EVENT_MASK_SET_SELECTION_OWNER.rawValue
                | XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_WINDOW_DESTROY.rawValue
                | XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_CLIENT_CLOSE.rawValue)
        for cookie in [created, selected] {
            let error = xcb_request_check(raw, cookie)
            free(error)
            guard error == nil else { return nil }
        }
        return xcb_connection_has_error(raw) == 0 ? window : nil
    }

    /// Whether the display is gone.
    var isBroken: Bool { xcb_connection_has_error(raw) != 0 }
}

// MARK: What is asked

@MainLoop
extension X11ClipboardConnection {
    /// Asks for the atom of a name; `body` gets nil if there is none. `isMade` makes one if there is none.
    func atom(of name: String, isMade: Bool, _ body: @escaping @MainLoop (UInt32?) -> Void) {
        guard let count = UInt16(exactly: name.utf8.count) else { return body(nil) }
        ask(.atom(body), xcb_intern_atom(raw, isMade ? 0 : 1, count, name).sequence)
    }

    /// Asks for the name of an atom; `body` gets nil if it has none that is text.
    func name(of atom: UInt32, _ body: @escaping @MainLoop (String?) -> Void) {
        ask(.name(body), xcb_get_atom_name(raw, atom).sequence)
    }

    /// Asks which window owns the clipboard; `body` gets 0 if none does.
    func owner(_ body: @escaping @MainLoop (UInt32?) -> Void) {
        ask(.owner(body), xcb_get_selection_owner(raw, atoms.clipboard).sequence)
    }

    /// Asks for a part of a property of our window, which begins at `offset`, a multiple of four.
    func property(_ property: UInt32, at offset: Int, _ body: @escaping @MainLoop (X11Property?) -> Void) {
        let cookie = xcb_get_property(
            raw, 0, window, property, 0, UInt32(offset / 4), UInt32(Self.maximumPart / 4))
        ask(.property(body), cookie.sequence)
    }

    private func ask(_ question: Question, _ number: UInt32) {
        open.append((question, number))
        hasUnsent()
    }
}

// MARK: What is done

@MainLoop
extension X11ClipboardConnection {
    /// Deletes a property of our window.
    func delete(_ property: UInt32) {
        xcb_delete_property(raw, window, property)
        hasUnsent()
    }

    /// Asks the owner of the clipboard to write its content as `target` into a property of our window, which is empty then.
    func convert(to target: UInt32, into property: UInt32, at time: UInt32) {
        delete(property)
        xcb_convert_selection(raw, window, atoms.clipboard, target, property, time)
    }

    /// Changes nothing, so that the display tells what time it is: by ``X11ClipboardEvent/written`` of that property.
    func stamp() {
        xcb_change_property(
            raw, UInt8(XCB_PROP_MODE_APPEND.rawValue), window, atoms.stamp, XCB_ATOM_STRING.rawValue, 8, 0,
            nil)
        hasUnsent()
    }

    /// Takes the clipboard, or gives it up.
    func setOwned(_ isOwned: Bool, at time: UInt32) {
        xcb_set_selection_owner(raw, isOwned ? window : 0, atoms.clipboard, time)
        hasUnsent()
    }

    /// Writes these bytes, at most ``pieceSize``, for another client.
    func write(_ bytes: [UInt8], as type: UInt32, for request: X11Request) {
        xcb_change_property(
            raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), request.requestor, request.property, type, 8,
            UInt32(bytes.count), bytes)
        hasUnsent()
    }

    /// Writes these atoms for another client.
    func write(atoms: [UInt32], for request: X11Request) {
        write(atoms, XCB_ATOM_ATOM.rawValue, request)
    }

    /// Writes this time of the display for another client.
    func write(time: UInt32, for request: X11Request) {
        write([time], XCB_ATOM_INTEGER.rawValue, request)
    }

    /// Writes that pieces follow for another client, which have so many bytes together.
    func write(sizeOfPieces size: Int, for request: X11Request) {
        write([UInt32(clamping: size)], atoms.incremental, request)
    }

    private func write(_ numbers: [UInt32], _ type: UInt32, _ request: X11Request) {
        xcb_change_property(
            raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), request.requestor, request.property, type, 32,
            UInt32(numbers.count), numbers)
        hasUnsent()
    }

    /// Tells another client that its request was done, or refused.
    func answer(_ request: X11Request, isGiven: Bool) {
        var notice = xcb_selection_notify_event_t()
        notice.response_type = UInt8(XCB_SELECTION_NOTIFY)
        notice.time = request.time
        notice.requestor = request.requestor
        notice.selection = request.selection
        notice.target = request.target
        notice.property = isGiven ? request.property : 0
        // All events have this size on the wire.
        var event = [CChar](repeating: 0, count: 32)
        event.withUnsafeMutableBytes { $0.storeBytes(of: notice, as: xcb_selection_notify_event_t.self) }
        xcb_send_event(raw, 0, request.requestor, 0, event)
        hasUnsent()
    }

    /// Has the display tell when properties of another client's window are deleted, or no longer.
    func follow(_ window: UInt32, _ isFollowed: Bool) {
        guard window != self.window else { return }
        var mask = isFollowed ? XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue : 0
        xcb_change_window_attributes(raw, window, XCB_CW_EVENT_MASK.rawValue, &mask)
        hasUnsent()
    }

    private func hasUnsent() {
        guard !isUnsent else { return }
        isUnsent = true
        onUnsent?()
    }

    /// Sends what is unsent.
    func flush() {
        isUnsent = false
        xcb_flush(raw)
    }
}

// MARK: What comes

@MainLoop
extension X11ClipboardConnection {
    /// What has come since the last time, without waiting for more, in the order in which the display has sent it.
    /// - Returns: `isAll` is false if there may be more, of which the descriptor does not tell.
    func take() -> (events: [X11ClipboardEvent], isAll: Bool) {
        var events: [(number: UInt32, event: X11ClipboardEvent)] = []
        var count = 0
        // Looking for one kind of what has arrived may read more of the other.
        repeat {
            while let event = xcb_poll_for_event(raw) {
                defer { free(event) }
                if let known = X11ClipboardEvent(event, window, atoms, ownerEvent) {
                    events.append((event.pointee.full_sequence, known))
                }
                count += 1
                if count == Self.maximumEvents { return (ordered(events, isAll: false), false) }
            }
        } while takeAnswer()
        return (ordered(events, isAll: true), true)
    }

    /// The events, with the answers among them; if `isAll`, no more events come before the answers.
    private func ordered(_ events: [(number: UInt32, event: X11ClipboardEvent)], isAll: Bool)
        -> [X11ClipboardEvent]
    {
        var all: [X11ClipboardEvent] = []
        var taken = 0
        for (number, event) in events {
            // An event has the number of the request that was the last one done before it. The numbers start over.
            while taken < answers.count, Int32(bitPattern: number &- answers[taken].number) >= 0 {
                all.append(.answered(answers[taken].body))
                taken += 1
            }
            all.append(event)
        }
        if isAll {
            all += answers[taken...].map { .answered($0.body) }
            taken = answers.count
        }
        answers.removeFirst(taken)
        return all
    }

    /// - Returns: whether there was an answer.
    private func takeAnswer() -> Bool {
        guard let (question, number) = open.first else { return false }
        guard let body = X11Connection.reply(raw, number, { Self.answer(question, $0) }) else { return false }
        open.removeFirst()
        answers.append((number, body))
        return true
    }

    private static func answer(_ question: Question, _ reply: UnsafeMutableRawPointer?)
        -> @MainLoop () -> Void
    {
        switch question {
        case .atom(let body):
            let atom = reply?.assumingMemoryBound(to: xcb_intern_atom_reply_t.self).pointee.atom
            return { body(atom == 0 ? nil : atom) }
        case .owner(let body):
            let owner = reply?.assumingMemoryBound(to: xcb_get_selection_owner_reply_t.self).pointee.owner
            return { body(owner) }
        case .name(let body):
            let name = name(reply?.assumingMemoryBound(to: xcb_get_atom_name_reply_t.self))
            return { body(name) }
        case .property(let body):
            let property = property(reply?.assumingMemoryBound(to: xcb_get_property_reply_t.self))
            return { body(property) }
        }
    }

    private static func name(_ reply: UnsafeMutablePointer<xcb_get_atom_name_reply_t>?) -> String? {
        guard let reply else { return nil }
        let count = Int(xcb_get_atom_name_name_length(reply))
        let bytes = UnsafeRawBufferPointer(start: xcb_get_atom_name_name(reply), count: max(0, count))
        return String(validating: bytes, as: UTF8.self)
    }

    private static func property(_ reply: UnsafeMutablePointer<xcb_get_property_reply_t>?) -> X11Property? {
        guard let reply else { return nil }
        let count = Int(xcb_get_property_value_length(reply))
        let bytes = UnsafeRawBufferPointer(start: xcb_get_property_value(reply), count: max(0, count))
        return X11Property(
            type: reply.pointee.type, format: Int(reply.pointee.format), bytes: Array(bytes),
            rest: Int(reply.pointee.bytes_after))
    }
}
