// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
package import HandoffCore

/// Something that was sent to a device while that was away, and has neither been continued nor dismissed there.
package struct WaitingSend: ListedEntry, Equatable, Sendable {
    /// 32 hexadecimal digits.
    package let id: String
    package let title: String
    package let type: String
    package let applicationID: String
    /// When it was sent, in microseconds since the Unix epoch.
    package let since: Int64
    /// When the device took it first, likewise; 0 if it has not yet.
    package let arrived: Int64
    /// Why the device did not take it last, as the bridge says it; empty otherwise.
    package let error: String

    /// What these properties describe.
    package init(_ properties: [String: Value]) {
        id = properties.text("Id")
        title = properties.text("Title")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        since = properties.time("Since")
        arrived = properties.time("Arrived")
        error = properties.text("Error")
    }

    /// What to call it.
    package var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }

    /// Why the device did not take it last; nil if nothing is known of that.
    package var failure: FailureText? { error.isEmpty ? nil : .waiting(error) }
}
