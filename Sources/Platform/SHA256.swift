// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// SHA-256 of what comes in pieces, however much it is. It may be used on any thread, by one at a time.
///
/// GnuTLS computes it, several times as fast as GLib. It is loaded when the first digest begins and stays from then
/// on, since a program that it was linked to would be larger and slower to start even if it never computes any
/// (stack.md, "TLS"). Where it is not installed, GLib does it.
package final class SHA256 {
    private enum State {
        case gnutls(GnuTLSHash, OpaquePointer)
        case glib(OpaquePointer)
        /// It is finished, or cannot be.
        case over
    }

    private var state: State

    /// The digest of nothing yet.
    package convenience init() { self.init(GnuTLSHash.loaded) }

    /// The digest of nothing yet, by `library` or else by GLib.
    init(_ library: GnuTLSHash?) {
        if let library, let handle = library.begin() {
            state = .gnutls(library, handle)
        } else {
            state = .glib(g_checksum_new(G_CHECKSUM_SHA256))
        }
    }

    deinit { _ = end() }

    /// Goes on with `bytes`.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        switch state {
        case .gnutls(let library, let handle):
            // An error means that the library refuses to work at all; there is no digest then.
            if !library.update(handle, start, bytes.count) { _ = end() }
        case .glib(let checksum):
            g_checksum_update(checksum, start.assumingMemoryBound(to: UInt8.self), gssize(bytes.count))
        case .over: return
        }
    }

    /// The 32 bytes; none if they could not be computed, or are asked for once more.
    package func finish() -> [UInt8] { end() ?? [] }

    private func end() -> [UInt8]? {
        defer { state = .over }
        var digest = [UInt8](repeating: 0, count: 32)
        switch state {
        case .gnutls(let library, let handle):
            library.end(handle, &digest)
            return digest
        case .glib(let checksum):
            var length: gsize = 32
            g_checksum_get_digest(checksum, &digest, &length)
            g_checksum_free(checksum)
            return digest
        case .over: return nil
        }
    }
}

/// What is needed of GnuTLS (gnutls_hash_init(3), gnutls_hash(3), gnutls_hash_deinit(3)).
struct GnuTLSHash: Sendable {
    private typealias Begin =
        @convention(c) (UnsafeMutablePointer<OpaquePointer?>, Int32) -> Int32
    private typealias Update = @convention(c) (OpaquePointer, UnsafeRawPointer, Int) -> Int32
    private typealias End = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?) -> Void

    private let beginning: Begin
    private let updating: Update
    private let ending: End

    /// `GNUTLS_DIG_SHA256`.
    private static let sha256: Int32 = 6

    /// Nil if the library is not installed.
    static let loaded: GnuTLSHash? = {
        guard let library = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL),
            let begin = dlsym(library, "gnutls_hash_init"), let update = dlsym(library, "gnutls_hash"),
            let end = dlsym(library, "gnutls_hash_deinit")
        else { return nil }
        return GnuTLSHash(
            beginning: unsafeBitCast(begin, to: Begin.self), updating: unsafeBitCast(update, to: Update.self),
            ending: unsafeBitCast(end, to: End.self))
    }()

    /// A hash that has begun; nil if the library does not want to.
    func begin() -> OpaquePointer? {
        var handle: OpaquePointer?
        return beginning(&handle, Self.sha256) == 0 ? handle : nil
    }

    /// Goes on with `count` bytes.
    /// - Returns: whether that has worked.
    func update(_ handle: OpaquePointer, _ start: UnsafeRawPointer, _ count: Int) -> Bool {
        updating(handle, start, count) == 0
    }

    /// Ends it, and gives its 32 bytes.
    func end(_ handle: OpaquePointer, _ digest: inout [UInt8]) { ending(handle, &digest) }
}
