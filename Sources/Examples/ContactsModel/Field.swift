// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What there is to know about a person.
package enum Field: String, CaseIterable, Codable, Sendable {
    /// What the form asks for, in this order.
    case name, company, phone, email, address, website, note

    /// The field as a person reads it.
    package var label: String {
        switch self {
        case .name: tr("Name")
        case .company: tr("Company")
        case .phone: tr("Phone")
        case .email: tr("Email")
        case .address: tr("Address")
        case .website: tr("Website")
        case .note: tr("Note")
        }
    }

    /// Whether it may have several lines.
    package var hasLines: Bool { self == .note }

    /// The most bytes that it may take, so that a contact always fits into what is handed off.
    package var maximumSize: Int { self == .note ? 65_536 : 4_096 }
}
