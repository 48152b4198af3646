// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What has to be said of a contact that is shown or edited.
package enum Notice: Equatable, Sendable {
    /// Editing was continued on a device of this name.
    case elsewhere(String)
    /// The contact has come from another device and is not in this address book.
    case notStored
    /// The contact has come from another device, and is older in this address book.
    case newer
    /// The contact was changed here after editing had begun.
    case changedHere

    /// As a person reads it.
    package var text: String {
        switch self {
        case .elsewhere(let device): tr("Continued on {device}", ["device": device])
        case .notStored: tr("This contact is not stored here")
        case .newer: tr("This contact is newer than the one that is stored here")
        case .changedHere: tr("This contact was changed here meanwhile. Saving replaces that.")
        }
    }

    /// What can be done about it, as a button says it with an underscore before its letter; nil for nothing.
    package var button: String? {
        switch self {
        case .elsewhere: tr("_Edit Here")
        case .notStored: tr("_Add")
        case .newer: tr("_Update")
        case .changedHere: nil
        }
    }
}
