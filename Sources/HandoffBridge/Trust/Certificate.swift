// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import Platform

/// A device's certificate, with its key if it is our own.
struct Certificate: Sendable {
    let reference: ObjectReference<GTlsCertificate>

    /// Takes a reference of its own to `raw`.
    init(retaining raw: UnsafeMutablePointer<GTlsCertificate>) { reference = ObjectReference(retaining: raw) }

    /// The certificate and key in `pem`.
    /// - Throws: what GIO says if there is none.
    init(pem: String) throws {
        let raw = try throwingGError { g_tls_certificate_new_from_pem(pem, gssize(pem.utf8.count), $0) }
        guard let raw else { throw StartFailure("There is no certificate.") }
        reference = ObjectReference(owning: raw)
    }

    /// The device that it identifies: its SHA-256, and nothing that it says.
    var device: DeviceID? {
        var value = GValue()
        g_value_init(&value, g_byte_array_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(reference.cast(), "certificate", &value)
        guard let array = g_value_get_boxed(&value)?.assumingMemoryBound(to: GByteArray.self).pointee else {
            return nil
        }
        return DeviceID(bytes: Digest.sha256(UnsafeBufferPointer(start: array.data, count: Int(array.len))))
    }
}
