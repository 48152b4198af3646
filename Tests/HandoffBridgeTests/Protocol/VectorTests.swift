// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBridge

/// What the files in docs/vectors are made of: fixed inputs, and what the code of the bridge makes of them.
struct Vectors {
    /// The device that dials, the one that listens, and a third one.
    let desk: DeviceID
    let lap: DeviceID
    let phone: DeviceID
    /// What TLS exports for a link.
    let exporter = Self.row(0xC0, 32)
    /// The random bytes of a link's opening.
    let exchange = Knock.Exchange(listener: Self.row(0xA0, 16), dialler: Self.row(0xB0, 16))
    /// The K that the devices have from that link.
    let secret: PeerSecret
    static let port: UInt16 = 45712

    init() throws {
        desk = try #require(DeviceID(bytes: Self.row(0x00, 32)))
        lap = try #require(DeviceID(bytes: Self.row(0x80, 32)))
        phone = try #require(DeviceID(bytes: Self.row(0x40, 32)))
        secret = PeerSecret(exporter: exporter, client: desk, server: lap)
    }

    /// So many bytes, each one more than the one before.
    static func row(_ first: UInt8, _ count: Int) -> [UInt8] {
        (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
    }
}

@Suite("The values in docs/vectors")
struct VectorTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/vectors").standardized

    /// Compares a file with what it is to hold, or writes it for meson-helpers/vectors.
    private func expect(_ name: String, _ content: JSON) throws {
        let file = Self.folder.appending(path: "\(name).json")
        if ProcessInfo.processInfo.environment["HANDOFF_WRITE_VECTORS"] != nil {
            try content.text.write(to: file, atomically: true, encoding: .utf8)
        }
        let there = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        #expect(there == content.text, "\(name).json is old. Write it anew: meson-helpers/vectors")
    }

    @Test("are the secrets that the code computes")
    func secrets() throws { try expect("secrets", Vectors().secrets()) }

    @Test("are the codes that the code computes, and what comes of each dialogue")
    func pairing() throws { try expect("pairing", Vectors().pairing()) }

    @Test("are the greetings and knocks that the code makes, and who is let in")
    func opening() throws { try expect("opening", Vectors().opening()) }

    @Test("are the announcements that the code makes, and whose they are")
    func announcements() throws { try expect("announcements", Vectors().announcements()) }

    @Test("are the frames that the code makes, and what comes of others")
    func frames() throws { try expect("frames", Vectors().frames()) }

    @Test("are the messages that the code takes on a link, one of each member at least")
    func messages() throws { try expect("messages", Vectors().messages()) }

    @Test("are the answers of a device to what it should not be sent")
    func links() async throws {
        let answered = try await onLoop { try await Vectors().links() }
        try expect("links", answered)
    }
}
