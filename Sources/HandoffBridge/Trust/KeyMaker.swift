// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGnuTLS
internal import Glibc

/// Makes the key and the certificate of a device, which GIO cannot.
enum KeyMaker {
    /// P-256, in the encoding of GnuTLS's GNUTLS_CURVE_TO_BITS, a macro that Swift does not import.
    private static let bits = UInt32(1) << 31 | GNUTLS_ECC_CURVE_SECP256R1.rawValue
    /// 2000-01-01, and the end of the year 9999, which stands for no end (RFC 5280, section 4.1.2.5).
    private static let (validFrom, validUntil): (time_t, time_t) = (946_684_800, 253_402_300_799)
    private static let commonName = "handoff"

    /// A new P-256 key (PKCS #8) and a certificate that it signs itself, as PEM.
    static func makeIdentity() throws -> String {
        var key: gnutls_x509_privkey_t?
        try check(gnutls_x509_privkey_init(&key), "A key cannot be made")
        defer { gnutls_x509_privkey_deinit(key) }
        try check(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, bits, 0), "A key cannot be made")
        var certificate: gnutls_x509_crt_t?
        try check(gnutls_x509_crt_init(&certificate), "A certificate cannot be made")
        defer { gnutls_x509_crt_deinit(certificate) }
        try fill(certificate, key)
        let text = try export("key") {
            gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, nil, 0, $0)
        }
        return text
            + (try export("certificate") { gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, $0) })
    }

    private static func fill(_ certificate: gnutls_x509_crt_t?, _ key: gnutls_x509_privkey_t?) throws {
        let what = "A certificate cannot be made"
        try check(gnutls_x509_crt_set_version(certificate, 3), what)
        try check(gnutls_x509_crt_set_serial(certificate, [1] as [UInt8], 1), what)
        try check(gnutls_x509_crt_set_activation_time(certificate, validFrom), what)
        try check(gnutls_x509_crt_set_expiration_time(certificate, validUntil), what)
        let length = UInt32(commonName.utf8.count)
        try check(
            gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, commonName, length),
            what)
        try check(gnutls_x509_crt_set_key(certificate, key), what)
        try check(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), what)
    }

    /// Throws unless `pem` holds a certificate and the key that belongs to it.
    static func check(_ pem: String) throws {
        var key: gnutls_x509_privkey_t?
        try check(gnutls_x509_privkey_init(&key), "No memory")
        defer { gnutls_x509_privkey_deinit(key) }
        var certificate: gnutls_x509_crt_t?
        try check(gnutls_x509_crt_init(&certificate), "No memory")
        defer { gnutls_x509_crt_deinit(certificate) }
        try withDatum(pem) { datum in
            try check(
                gnutls_x509_privkey_import2(key, datum, GNUTLS_X509_FMT_PEM, nil, 0), "The key cannot be read"
            )
            try check(
                gnutls_x509_crt_import(certificate, datum, GNUTLS_X509_FMT_PEM),
                "The certificate cannot be read")
        }
        let ids = (
            try keyID { gnutls_x509_privkey_get_key_id(key, 1, $0, $1) },
            try keyID { gnutls_x509_crt_get_key_id(certificate, 1, $0, $1) }
        )
        guard ids.0 == ids.1 else { throw StartFailure("the certificate is not that of the key") }
    }

    // MARK: GnuTLS

    private static func check(_ code: Int32, _ what: String) throws {
        if code < 0 { throw StartFailure("\(what): \(String(cString: gnutls_strerror(code)))") }
    }

    private static func export(_ what: String, _ body: (UnsafeMutablePointer<gnutls_datum_t>) -> Int32) throws
        -> String
    {
        var datum = gnutls_datum_t()
        try check(body(&datum), "The \(what) cannot be written")
        // `gnutls_free` is a variable that Swift takes for unsafe; it is free(3) unless somebody sets it.
        defer { free(datum.data) }
        return String(decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
    }

    private static func withDatum(_ text: String, _ body: (UnsafePointer<gnutls_datum_t>) throws -> Void)
        throws
    {
        var bytes = Array(text.utf8)
        try bytes.withUnsafeMutableBufferPointer { buffer in
            var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
            try body(&datum)
        }
    }

    private static func keyID(
        _ body: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>) -> Int32
    ) throws -> [UInt8] {
        var id = [UInt8](repeating: 0, count: 64)
        var length = id.count
        try check(id.withUnsafeMutableBufferPointer { body($0.baseAddress, &length) }, "The key has no id")
        return Array(id.prefix(length))
    }
}
