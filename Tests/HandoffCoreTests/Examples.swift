// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) throws -> Element {
        try #require(elements.randomElement(using: &self))
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}

/// Values that tests are made of; the same number gives the same value.
enum Example {
    static func activity(_ number: UInt8) throws -> ActivityID {
        try #require(ActivityID(bytes: [UInt8](repeating: number, count: 16)))
    }

    static func continuation(_ number: UInt8) throws -> ContinuationID {
        try #require(ContinuationID(bytes: [UInt8](repeating: number, count: 16)))
    }

    static func device(_ number: UInt8) throws -> DeviceID {
        try #require(DeviceID(bytes: [UInt8](repeating: number, count: 32)))
    }

    static func application(_ name: String = "notes") throws -> ApplicationID {
        try ApplicationID("com.example.\(name)")
    }

    static func team(_ name: String = "com.example") throws -> Team {
        try Team(name)
    }

    static func type(_ name: String = "edit") throws -> ActivityType {
        try ActivityType("com.example.notes.\(name)")
    }

    static func refusal(_ message: String) -> Continuation.Refusal {
        Continuation.Refusal(
            name: "org.freedesktop.DBus.Error.UnknownMethod", message: message, path: "/com/example/notes")
    }

    static func offer(
        _ number: UInt8 = 1, type: String = "edit", title: String = "Shopping", application: String = "notes",
        team: String = "com.example", host: String? = nil, document: String? = nil, streams: Bool = false,
        revision: UInt64 = 1, since: Int64 = 0
    ) throws -> Offer {
        Offer(
            id: try activity(number), type: try Self.type(type), title: title,
            applicationID: try Self.application(application), team: try Self.team(team), webpageHost: host,
            documentType: document, supportsContinuationStreams: streams, revision: revision, since: since)
    }
}

extension Invitations {
    /// The same, with both clocks alike.
    mutating func invite(_ id: ActivityID, by device: DeviceID, at now: Instant) -> Bool {
        invite(id, by: device, at: Moment(instant: now, wall: now.microseconds))
    }
}

extension RemoteOffers {
    /// The same, with both clocks alike.
    mutating func invite(
        _ id: ActivityID, from device: DeviceID, at now: Instant
    ) throws(HandoffFailure) -> [Action] {
        try invite(id, from: device, at: Moment(instant: now, wall: now.microseconds))
    }
}

extension Instant {
    /// The instant this many milliseconds after the clock's start.
    static func at(_ milliseconds: Int64) -> Instant {
        Instant(microseconds: milliseconds * 1000)
    }
}

extension Moment {
    /// The moment this many milliseconds after the start of both clocks.
    static func at(_ milliseconds: Int64) -> Moment {
        Moment(instant: .at(milliseconds), wall: 1_000_000_000 + milliseconds * 1000)
    }
}

/// The code of the failure that `body` throws; nil if it throws none.
func code(of body: () throws -> Void) -> HandoffFailure.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? HandoffFailure)?.code
    }
}
