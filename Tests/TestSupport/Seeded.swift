// SPDX-License-Identifier: LGPL-2.1-or-later

/// A generator of random numbers that always yields the same for the same seed (SplitMix64).
package struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    /// One that begins with `seed`.
    package init(_ seed: UInt64) { state = seed }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 on that is less than `limit`.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
