// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

/// Values that tests are made of; the same number gives the same value.
enum Sample {
    static func activity(_ number: UInt8 = 1) throws -> ActivityID {
        try #require(ActivityID(bytes: [UInt8](repeating: number, count: 16)))
    }

    static func device(_ number: UInt8 = 1) throws -> DeviceID {
        try #require(DeviceID(bytes: [UInt8](repeating: number, count: 32)))
    }

    /// What a peer offers.
    static func offer(
        _ number: UInt8 = 1, title: String = "Shopping", host: String? = nil, document: String? = nil,
        streams: Bool = false, revision: UInt64 = 1, since: Int64 = 5
    ) throws -> Offer {
        Offer(
            id: try activity(number), type: try ActivityType("com.example.notes.edit"), title: title,
            applicationID: try ApplicationID("com.example.notes"), team: try Team("com.example"),
            webpageHost: host, documentType: document, supportsContinuationStreams: streams,
            revision: revision, since: since)
    }
}
