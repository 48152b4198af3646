// SPDX-License-Identifier: LGPL-2.1-or-later

/// What there is to know about a person.
package enum Field: String, CaseIterable, Codable, Sendable {
    /// What the form asks for, in this order.
    case name, company, phone, email, address, website, note

    /// The field as a person reads it.
    package var label: String {
        switch self {
        case .name: "Name"
        case .company: "Company"
        case .phone: "Phone"
        case .email: "Email"
        case .address: "Address"
        case .website: "Website"
        case .note: "Note"
        }
    }

    /// Whether it may have several lines.
    package var hasLines: Bool { self == .note }

    /// The most bytes that it may take, so that a contact always fits into what is handed off.
    package var maximumSize: Int { self == .note ? 65_536 : 4_096 }
}
