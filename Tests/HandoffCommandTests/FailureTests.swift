// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import Testing

@testable import HandoffCommand

@Suite("Failures of commands")
struct FailureTests {
    @Test(
        "each has the exit status and the name by which scripts know it",
        arguments: [
            ("org.example.Handoff.Error.OfferWithdrawn", 3, "OfferWithdrawn"),
            ("org.freedesktop.DBus.Error.UnknownObject", 3, "UnknownObject"),
            ("org.example.Handoff.Error.PairingFailed", 4, "PairingFailed"),
            ("org.example.Handoff.Error.Disabled", 4, "Disabled"),
            ("org.example.Handoff.Error.Cancelled", 4, "Cancelled"),
            ("org.freedesktop.DBus.Error.AccessDenied", 4, "AccessDenied"),
            ("org.example.Handoff.Error.ApplicationTimedOut", 5, "ApplicationTimedOut"),
            ("org.freedesktop.DBus.Error.NoReply", 5, "TimedOut"),
            ("org.freedesktop.DBus.Error.ServiceUnknown", 6, "NotRunning"),
            ("org.freedesktop.DBus.Error.Disconnected", 6, "NotRunning"),
            ("org.example.Handoff.Error.ApplicationFailed", 1, "ApplicationFailed"),
            ("com.example.Elsewhere", 1, "Failed"), ("no name", 1, "Failed"), ("", 1, "Failed"),
        ] as [(String, Int32, String)])
    func names(_ error: String, _ status: Int32, _ name: String) throws {
        let failure = CommandFailure("Words.", errorName: error)
        #expect((failure.status, failure.name, failure.message) == (status, name, "Words."))
        guard let error = try? ErrorName(error) else { return }
        let thrown = CommandFailure(DBusError(error, "Words."))
        #expect((thrown.status, thrown.name) == (status, name))
    }

    @Test("each kind has a status and a name of its own")
    func kinds() {
        #expect(Set(FailureKind.allCases.map(\.rawValue)) == Set(1...6))
        #expect(Set(FailureKind.allCases.map(\.name)).count == 6)
        #expect(CommandFailure.usage("x").status == 2)
        #expect(CommandFailure("x").interrupted.status == 130)
    }

    @Test("JSON has all of it")
    func json() {
        #expect(
            CommandFailure("No.", .notFound).json.text
                == #"{"name":"NotFound","exitStatus":3,"message":"No."}"#)
    }
}
