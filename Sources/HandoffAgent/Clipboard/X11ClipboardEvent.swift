// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CXCB
internal import MainLoop

/// What a display tells a client that uses its clipboard.
enum X11ClipboardEvent {
    /// This window owns the clipboard from now on; 0 if none does.
    case owned(by: UInt32, at: UInt32)
    /// The owner has answered what it was asked for.
    case converted(X11Answer)
    /// Another client asks for what is ours.
    case requested(X11Request)
    /// We do not own the clipboard any more.
    case ceased
    /// This property of our window was written.
    case written(UInt32, at: UInt32)
    /// This property of another client's window was deleted.
    case deleted(UInt32, of: UInt32)
    /// A question was answered: this is to be called.
    case answered(@MainLoop () -> Void)
}

/// What an owner answers to a client that wants its content.
struct X11Answer: Equatable, Sendable {
    /// The type that was asked for.
    var target: UInt32
    /// The property that the content is in, or begins in; 0 if the owner refuses.
    var property: UInt32
    /// The time that was asked for.
    var time: UInt32
}

/// What another client wants of an owner.
struct X11Request: Equatable, Sendable {
    /// The window of the client.
    var requestor: UInt32
    /// What it wants the content of.
    var selection: UInt32
    /// The type that it wants.
    var target: UInt32
    /// The property of its window to write into.
    var property: UInt32
    /// The time that it wants the content of.
    var time: UInt32
}

extension X11ClipboardEvent {
    /// What an event says to the client with this window; nil if it says nothing that is needed. `ownerEvent` is the number of
    /// the event that tells of a new owner.
    init?(
        _ pointer: UnsafeMutablePointer<xcb_generic_event_t>, _ window: UInt32, _ atoms: X11Atoms,
        _ ownerEvent: UInt8
    ) {
        let raw = UnsafeRawPointer(pointer)
        // Of what clients can send to each other, only the answers of owners count.
        switch Int32(pointer.pointee.response_type) {
        case Int32(ownerEvent):
            let event = raw.load(as: xcb_xfixes_selection_notify_event_t.self)
            guard event.selection == atoms.clipboard else { return nil }
            self = .owned(by: event.owner, at: event.timestamp)
        case XCB_SELECTION_NOTIFY, XCB_SELECTION_NOTIFY | 0x80:
            let event = raw.load(as: xcb_selection_notify_event_t.self)
            guard event.requestor == window, event.selection == atoms.clipboard else { return nil }
            self = .converted(X11Answer(target: event.target, property: event.property, time: event.time))
        case XCB_SELECTION_REQUEST:
            let event = raw.load(as: xcb_selection_request_event_t.self)
            // Clients from before ICCCM name no property, and mean the one with the name of the target.
            self = .requested(
                X11Request(
                    requestor: event.requestor, selection: event.selection, target: event.target,
                    property: event.property == 0 ? event.target : event.property, time: event.time))
        case XCB_SELECTION_CLEAR: self = .ceased
        case XCB_PROPERTY_NOTIFY:
            let event = raw.load(as: xcb_property_notify_event_t.self)
            switch (event.window == window, UInt32(event.state) == XCB_PROPERTY_DELETE.rawValue) {
            case (true, false): self = .written(event.atom, at: event.time)
            case (false, true): self = .deleted(event.atom, of: event.window)
            case (true, true), (false, false): return nil
            }
        default: return nil
        }
    }
}
