// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import Platform
import Testing

@Suite("GLib's errors")
struct ErrorTests {
    @Test("a GError is thrown with its domain, code and message")
    func thrown() throws {
        let error = try #require(throws: GLibError.self) {
            var text: UnsafeMutablePointer<CChar>?
            _ = try throwingGError { g_file_get_contents("/nonexistent/file", &text, nil, $0) }
        }
        #expect(error.domain == g_file_error_quark())
        #expect(error.code == Int32(G_FILE_ERROR_NOENT.rawValue))
        #expect(error.message.contains("/nonexistent/file"))
        #expect("\(error)" == error.message)
        #expect(!error.isIO(G_IO_ERROR_NOT_FOUND))
    }

    @Test("what succeeds returns its result")
    func returned() throws {
        #expect(try throwingGError { _ in 7 } == 7)
    }

    @Test("an error of GIO is known by its code")
    func io() throws {
        let error = try #require(throws: GLibError.self) {
            try throwingGError { place in
                place.pointee = g_error_new_literal(
                    g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue), "enough")
            }
        }
        #expect(error.isIO(G_IO_ERROR_CANCELLED))
        #expect(!error.isIO(G_IO_ERROR_CLOSED))
    }

    @Test("a failure without an error says so")
    func missing() {
        let error = GLibError(taking: nil)
        #expect(error.domain == 0 && error.code == 0 && !error.message.isEmpty)
    }
}
