// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Has a handshake refuse a certificate that is not wanted.
///
/// The dialler's certificate goes out only after this has agreed, so that it is shown to nobody else. The
/// side that was dialled has shown its own by then; it accepts any certificate here, and checks it when the
/// handshake is complete.
final class HandshakeGate: @unchecked Sendable {
    // @unchecked: GIO asks while the handshake runs, on whichever thread, and `refusal` is read after it has
    // ended.
    private let demand: TLSConnection.Demand?
    /// Why the certificate was refused, if it was.
    private(set) var refusal: TLSFailure?

    /// Refuses what does not meet `demand`; accepts anything if that is nil.
    init(_ demand: TLSConnection.Demand?) { self.demand = demand }

    /// Has `connection` ask this gate.
    func `guard`(_ connection: ObjectReference<GTlsConnection>) {
        let accept:
            @convention(c) (
                UnsafeMutablePointer<GTlsConnection>?, UnsafeMutablePointer<GTlsCertificate>?,
                GTlsCertificateFlags,
                gpointer?
            ) -> gboolean = { _, certificate, _, data in
                guard let certificate, let data else { return 0 }
                let gate = Unmanaged<HandshakeGate>.fromOpaque(data).takeUnretainedValue()
                return gate.accepts(Certificate(retaining: certificate)) ? 1 : 0
            }
        g_signal_connect_data(
            connection.raw, "accept-certificate", unsafeBitCast(accept, to: GCallback.self),
            Unmanaged.passRetained(self).toOpaque(),
            { data, _ in if let data { Unmanaged<HandshakeGate>.fromOpaque(data).release() } },
            GConnectFlags(rawValue: 0))
    }

    private func accepts(_ certificate: Certificate) -> Bool {
        refusal = demand?.refusal(of: certificate)
        return refusal == nil
    }
}
