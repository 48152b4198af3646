// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import Platform

/// The certificate of a device, with the key if the device is this one.
struct Certificate: Sendable {
    let reference: ObjectReference<GTlsCertificate>

    /// Takes a reference of its own to `raw`.
    init(retaining raw: UnsafeMutablePointer<GTlsCertificate>) { reference = ObjectReference(retaining: raw) }

    /// The certificate and key in `pem`.
    /// - Throws: what GIO says if they are not there.
    init(pem: String) throws {
        let raw = try throwingGError { g_tls_certificate_new_from_pem(pem, gssize(pem.utf8.count), $0) }
        guard let raw else { throw StartFailure("There is no certificate.") }
        reference = ObjectReference(owning: raw)
    }

    /// The device that the certificate identifies, which is its SHA-256 alone, whatever it says.
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
