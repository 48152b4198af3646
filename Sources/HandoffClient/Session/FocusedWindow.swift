// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
internal import HandoffInterfaces

/// The window that the user works in, as the desktop's shell describes it.
///
/// Its title may be anything, private things too: it is kept in memory for adapters, and neither shown nor logged.
package struct FocusedWindow: Equatable, Sendable {
    /// The application, nil if the shell does not know it.
    package var application: ApplicationID?
    /// The title, at most 256 characters.
    package var title = ""
    /// The process that the window belongs to, nil if the shell does not know it.
    package var processID: Int32?
    /// The unique name under which the window's actions are exported, nil if they are not.
    package var busName: BusName?
    /// The object that they are exported at, nil if they are not.
    package var windowPath: ObjectPath?

    /// A window of which nothing is known.
    package init() {}

    /// The window that `dictionary` describes, which is what a shell says; nil if it says that no window has the focus.
    /// - Throws: `InvalidArgs`, naming the key that is not what it should be.
    package static func described(
        by dictionary: [String: Value]
    ) throws(HandoffFailure) -> FocusedWindow? {
        if dictionary.isEmpty { return nil }
        var window = FocusedWindow()
        for (key, value) in dictionary { try window.take(key, value) }
        return window
    }

    private mutating func take(_ key: String, _ value: Value) throws(HandoffFailure) {
        switch key {
        case "ApplicationId": application = try ApplicationID(ActivityState.string(value, key))
        case "Title": title = PeerText.title(try ActivityState.string(value, key))
        case "ProcessId":
            guard case .int32(let number) = value else { throw ActivityState.wrongType(key, "i", value) }
            processID = number > 0 ? number : nil
        case "BusName":
            let text = try ActivityState.string(value, key)
            guard let name = try? BusName(text), text.hasPrefix(":") else {
                throw HandoffFailure(
                    .invalidArguments,
                    "BusName: \"\(PeerText.message(text))\" is not a unique name such as :1.42. Leave it out"
                        + " if the window exports nothing.")
            }
            busName = name
        case "WindowPath":
            guard case .objectPath(let path) = value else {
                throw ActivityState.wrongType(key, "o", value)
            }
            windowPath = path
        default: break
        }
    }
}
