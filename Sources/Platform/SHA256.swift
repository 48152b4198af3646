// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// SHA-256 of what comes piece by piece.
public final class SHA256 {
    private let checksum = g_checksum_new(G_CHECKSUM_SHA256)

    /// The digest of nothing so far.
    public init() {}

    deinit { g_checksum_free(checksum) }

    /// Adds `bytes`.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        g_checksum_update(
            checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), gssize(bytes.count))
    }

    /// The digest, 32 bytes. Nothing may be added afterwards.
    public func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: gsize = 32
        g_checksum_get_digest(checksum, &digest, &length)
        return digest
    }
}
