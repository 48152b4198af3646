// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGnuTLS
internal import Glibc
internal import HandoffCore

/// An association file that is signed: PKCS #7 in DER, with the file within (RFC 5652).
enum SignedFile {
    /// Whether `bytes` begin as DER does, and as no JSON text can.
    static func isOne(_ bytes: [UInt8]) -> Bool { bytes.first == 0x30 }

    /// How many certificates may come with a signature: more than a chain has.
    private static let maximumCertificates: Int32 = 10

    /// The file in `bytes`, if it is signed with a certificate that this system trusts for the server `host`.
    /// - Throws: what is wrong with the signature.
    static func content(of bytes: [UInt8], for host: WebHost) throws(UnusableFile) -> [UInt8] {
        var message: gnutls_pkcs7_t?
        guard gnutls_pkcs7_init(&message) == 0, let message else {
            throw UnusableFile("cannot be looked at.")
        }
        defer { gnutls_pkcs7_deinit(message) }
        let imported = withDatum(bytes) { gnutls_pkcs7_import(message, &$0, GNUTLS_X509_FMT_DER) }
        guard imported == 0 else { throw UnusableFile("is neither JSON nor PKCS #7.") }
        guard gnutls_pkcs7_get_signature_count(message) == 1 else {
            throw UnusableFile("does not have exactly one signature.")
        }
        var chain = try certificates(of: message)
        defer { for certificate in chain { gnutls_x509_crt_deinit(certificate) } }
        try moveSigner(of: message, toFront: &chain)
        try checkTrust(in: chain, for: host)
        guard gnutls_pkcs7_verify_direct(message, chain[0], 0, nil, 0) == 0 else {
            throw UnusableFile("has a signature that is not that of its content.")
        }
        var content = gnutls_datum_t()
        guard gnutls_pkcs7_get_embedded_data(message, 0, &content) == 0 else {
            throw UnusableFile("is signed, but has no content.")
        }
        defer { free(content.data) }
        return Array(UnsafeBufferPointer(start: content.data, count: Int(content.size)))
    }

    private static func withDatum<Result>(_ bytes: [UInt8], _ body: (inout gnutls_datum_t) -> Result)
        -> Result
    {
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer {
            var datum = gnutls_datum_t(data: $0.baseAddress, size: UInt32($0.count))
            return body(&datum)
        }
    }

    /// The certificates that come with the signature, at least one.
    private static func certificates(of message: gnutls_pkcs7_t) throws(UnusableFile) -> [gnutls_x509_crt_t?]
    {
        let count = gnutls_pkcs7_get_crt_count(message)
        guard 1...maximumCertificates ~= count else {
            throw UnusableFile("is signed, but does not have 1 to \(maximumCertificates) certificates.")
        }
        var certificates: [gnutls_x509_crt_t?] = []
        for index in 0..<count {
            var datum = gnutls_datum_t()
            var certificate: gnutls_x509_crt_t?
            guard gnutls_pkcs7_get_crt_raw2(message, UInt32(index), &datum) == 0 else { continue }
            defer { free(datum.data) }
            guard gnutls_x509_crt_init(&certificate) == 0 else { continue }
            if gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_DER) == 0 {
                certificates.append(certificate)
            } else {
                gnutls_x509_crt_deinit(certificate)
            }
        }
        return certificates
    }

    /// Puts the certificate that the signature names first.
    private static func moveSigner(
        of message: gnutls_pkcs7_t, toFront chain: inout [gnutls_x509_crt_t?]
    ) throws(UnusableFile) {
        var signature = gnutls_pkcs7_signature_info_st()
        guard gnutls_pkcs7_get_signature_info(message, 0, &signature) == 0 else {
            throw UnusableFile("has a signature that cannot be read.")
        }
        defer { gnutls_pkcs7_signature_info_deinit(&signature) }
        let index = chain.firstIndex { certificate in
            hasSerial(certificate, signature.signer_serial) && hasIssuer(certificate, signature.issuer_dn)
        }
        guard let index else { throw UnusableFile("is signed, but without the certificate of its signer.") }
        chain.swapAt(0, index)
    }

    private static func hasSerial(_ certificate: gnutls_x509_crt_t?, _ expected: gnutls_datum_t) -> Bool {
        var serial = [UInt8](repeating: 0, count: 64)
        var size = serial.count
        return gnutls_x509_crt_get_serial(certificate, &serial, &size) == 0
            && bytes(of: expected) == Array(serial[..<size])
    }

    private static func hasIssuer(_ certificate: gnutls_x509_crt_t?, _ expected: gnutls_datum_t) -> Bool {
        var issuer = gnutls_datum_t()
        guard gnutls_x509_crt_get_raw_issuer_dn(certificate, &issuer) == 0 else { return false }
        defer { free(issuer.data) }
        return bytes(of: expected) == bytes(of: issuer)
    }

    private static func bytes(of datum: gnutls_datum_t) -> [UInt8] {
        Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
    }

    /// Checks that the first certificate is one that this system trusts now, for the server `host`.
    private static func checkTrust(
        in chain: [gnutls_x509_crt_t?], for host: WebHost
    ) throws(UnusableFile) {
        guard gnutls_x509_crt_check_hostname2(chain[0], host.description, 0) != 0 else {
            throw UnusableFile("is signed with the certificate of another host.")
        }
        var list: gnutls_x509_trust_list_t?
        guard gnutls_x509_trust_list_init(&list, 0) == 0, let list else {
            throw UnusableFile("cannot be looked at.")
        }
        defer { gnutls_x509_trust_list_deinit(list, 1) }
        guard gnutls_x509_trust_list_add_system_trust(list, 0, 0) > 0 else {
            throw UnusableFile("is signed, but this system trusts no authority (ca-certificates).")
        }
        var status: UInt32 = 0
        var certificates = chain
        let purpose = Array("1.3.6.1.5.5.7.3.1".utf8)
        let verified = withDatum(purpose + [0]) { datum in
            var data = gnutls_typed_vdata_st(
                type: GNUTLS_DT_KEY_PURPOSE_OID, data: datum.data, size: UInt32(purpose.count))
            return gnutls_x509_trust_list_verify_crt2(
                list, &certificates, UInt32(certificates.count), &data, 1, 0, &status, nil)
        }
        guard verified == 0, status == 0 else {
            throw UnusableFile(
                "is signed with a certificate that is not trusted for servers here, or not now.")
        }
    }
}
