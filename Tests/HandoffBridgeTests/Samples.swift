// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBridge

/// The device whose id consists of this byte alone, repeated.
func device(_ number: UInt8) throws -> DeviceID {
    try #require(DeviceID(bytes: [UInt8](repeating: number, count: 32)))
}

/// The secret that consists of this byte alone, repeated.
func secret(_ number: UInt8) throws -> PeerSecret {
    try #require(PeerSecret(bytes: [UInt8](repeating: number, count: PeerSecret.size)))
}
