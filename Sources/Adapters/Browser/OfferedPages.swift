// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffStatus

extension RemoteOffer {
    /// Whether a browser shows it: it is a page, or this browser can continue it.
    func concerns(_ browser: ApplicationID) -> Bool {
        type == ActivityType.browsingWeb.description || handlers.contains(browser.description)
    }

    /// It for the add-on, with texts that are fit to be shown.
    var json: JSONValue {
        [
            "id": .string(path.text), "title": .string(label.shown), "device": .string(device.shown),
            "since": .number(Double(since) / 1000), "sent": .boolean(isInvited),
            "busy": .boolean(state == "continuing"),
        ]
    }
}
