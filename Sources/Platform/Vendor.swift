// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CVendor

/// What whoever ships Handoff calls their own, by options that Meson or `meson-helpers/build` is given. Names of the protocol
/// (of the broker, the bridge, interfaces, activity types, teams, errors) are everybody's, and none of these.
package enum Vendor {
    /// The option `app-id`: what desktop entries, icons and the bus names of whatever has a desktop entry begin with, e.g.
    /// `org.example.Handoff`.
    package static let applicationID = String(cString: handoff_vendor_app_id())
    /// Where Handoff is described; empty if nowhere.
    package static let homepage = String(cString: handoff_vendor_homepage())
    /// Where faults are to be told; empty if nowhere.
    package static let bugtracker = String(cString: handoff_vendor_bugtracker())
    /// Who makes it, for people.
    package static let developer: String = {
        let given = String(cString: handoff_vendor_developer())
        return given.isEmpty ? tr("The Handoff developers") : given
    }()

    /// The id of the extension of GNOME Shell, and of the add-on as Firefox names it: the last label of ``applicationID``, in
    /// small letters, at the other labels in the order of a host's name, e.g. `handoff@example.org`.
    package static let addOn: String = {
        let labels = applicationID.split(separator: ".")
        return (labels.last ?? "").lowercased() + "@" + labels.dropLast().reversed().joined(separator: ".")
    }()

    /// The id of the desktop entry whose name ends in `name`, e.g. `org.example.Handoff.Settings`.
    package static func id(_ name: String) -> String { "\(applicationID).\(name)" }
}
