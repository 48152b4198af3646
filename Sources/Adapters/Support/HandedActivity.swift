// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient

/// An activity of another device that an adapter is to continue. All of it was chosen by whoever sent it: it is data, and
/// has to be checked before it is used.
package struct HandedActivity: Sendable {
    /// The properties of `org.example.Handoff.Activity` that are set.
    package let properties: [String: Value]
    /// Where it comes from.
    package let device: ClientDevice
    /// What lets a program raise its window; empty if there is nothing.
    package let activationToken: String
    /// Whether its document was written for this continuation, so that nobody else has it.
    package let isDocumentNew: Bool

    init(_ properties: [String: Value], _ context: [String: Value]) {
        self.properties = properties
        device = ClientDevice(context)
        activationToken = context.text("ActivationToken")
        isDocumentNew = context.flag("DocumentIsNew")
    }

    /// Its `UserInfo`; empty if there is none.
    package var userInfo: [String: Value] { properties["UserInfo"]?.properties ?? [:] }
}
