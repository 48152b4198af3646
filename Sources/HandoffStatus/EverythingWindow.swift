// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffInterfaces

/// How the Handoff window is asked for what is open at a device, and says that it shows what became of that.
extension HandoffNames {
    /// The action of the window that shows what is open at a device. Its parameter is the device's id (`s`).
    package static let everythingAction = "everything"
    /// The bus name that the window has while its user looks at what it continues, or has continued, of what is open at a device.
    package static let everythingInView: BusName = "org.example.Handoff.Settings.Everything"
}
