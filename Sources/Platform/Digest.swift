// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// SHA-256 and HMAC-SHA-256, by GLib.
package enum Digest {
    /// SHA-256 of `bytes`: 32 bytes.
    package static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let checksum = g_checksum_new(G_CHECKSUM_SHA256)
        defer { g_checksum_free(checksum) }
        let bytes = Array(bytes)
        g_checksum_update(checksum, bytes, gssize(bytes.count))
        var digest = [UInt8](repeating: 0, count: 32)
        var length: gsize = 32
        g_checksum_get_digest(checksum, &digest, &length)
        return digest
    }

    /// HMAC-SHA-256 of `bytes` under `key`: 32 bytes.
    package static func hmacSHA256(key: [UInt8], _ bytes: some Sequence<UInt8>) -> [UInt8] {
        let hmac = g_hmac_new(G_CHECKSUM_SHA256, key, gsize(key.count))
        defer { g_hmac_unref(hmac) }
        let bytes = Array(bytes)
        g_hmac_update(hmac, bytes, gssize(bytes.count))
        var digest = [UInt8](repeating: 0, count: 32)
        var length: gsize = 32
        g_hmac_get_digest(hmac, &digest, &length)
        return digest
    }

    /// `bytes` in lower-case hexadecimal digits.
    package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
