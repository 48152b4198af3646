// SPDX-License-Identifier: LGPL-2.1-or-later
package import CGio

/// A GError as a Swift error.
package struct GLibError: Error, CustomStringConvertible, Sendable {
    /// The GQuark of its domain, e.g. that of `g-io-error-quark`.
    package let domain: UInt32
    /// The code within the domain.
    package let code: Int32
    /// What GLib says of it, for people.
    package let message: String

    /// The message alone.
    package var description: String { message }

    /// Takes over `error` and frees it. If that is nil, the message says that no reason was given.
    package init(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else {
            (domain, code, message) = (0, 0, "failed without giving a reason")
            return
        }
        domain = error.pointee.domain
        code = error.pointee.code
        message = error.pointee.message.map { String(cString: $0) } ?? "no message"
        g_error_free(error)
    }

    /// Whether this is `code` of GIO's own domain, e.g. `G_IO_ERROR_CANCELLED`.
    package func isIO(_ code: GIOErrorEnum) -> Bool {
        domain == g_io_error_quark() && self.code == Int32(code.rawValue)
    }
}

/// Calls `body` with a place for a GError and throws what it puts there.
///
/// The one bridge from GError to Swift errors: a call that sets no error has succeeded.
package func throwingGError<Result>(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) throws(GLibError) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = body(&error)
    if let error { throw GLibError(taking: error) }
    return result
}
