// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import HandoffStatus
import Testing

@Suite("What is said of particular things that have failed")
struct FailureKindsTests {
    private let words = "In a daemon’s “own” words."

    @Test(
        "each name that the bridge gives has a sentence of its own, which has nothing of what the daemon says"
    )
    func named() {
        let ours = HandoffFailure.Code.allCases.map(\.errorName.text)
        let names =
            ours + ["org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.Failed", "", "x"]
        for name in names {
            for text in [
                FailureText.sending(name, words), .pairing(name, words), .connection(name, words),
                .discovery(name, words),
            ] {
                #expect(text.summary.hasSuffix(".") && !text.summary.contains("daemon"))
            }
        }
    }

    @Test(
        "what was sent says why it was not taken, in the words of the device only where it has made up the error"
    )
    func sending() {
        #expect(FailureText.sending("org.freedesktop.DBus.Error.NotSupported", words).detail.isEmpty)
        let other = FailureText.sending(HandoffFailure.Code.applicationFailed.errorName.text, words)
        #expect(other.summary == "The other device did not take it.")
        #expect(other.line == "The other device did not take it. “In a daemon's 'own' words.”")
        #expect(FailureText.sending(DBusError(.noReply, words)).line == "No answer came. Try again.")
    }

    @Test(
        "a device that does not list what is open there is too old, or answers with nonsense, or cannot be asked"
    )
    func listing() {
        let old = FailureText.listing(DBusError(.notSupported, words)).line
        #expect(old == "The Handoff of the other device is too old for that. Update it there.")
        let odd = FailureText.listing(DBusError(HandoffFailure.Code.applicationFailed.errorName, words))
        #expect(odd.summary == "The other device did not answer as it should." && !odd.detail.isEmpty)
        let away = FailureText.listing(DBusError(HandoffFailure.Code.connectionUnavailable.errorName, words))
        #expect(away.line.hasPrefix("The other device cannot be reached."))
    }

    @Test("where nothing answers at an address, the firewall there is named, and not where somebody refuses")
    func firewall() {
        let name = HandoffFailure.Code.connectionUnavailable.errorName
        let silent = FailureText.connecting(
            DBusError(name, "x cannot be reached: nothing came. \(HandoffFailure.mayBeFirewall) Is it on?"))
        #expect(silent.summary.hasPrefix("Nothing answers there.") && silent.summary.contains("firewall"))
        #expect(silent.detail.isEmpty)
        let refused = FailureText.connecting(DBusError(name, "x cannot be reached: Connection refused."))
        #expect(!refused.line.contains("firewall"))
    }

    @Test("why nothing was pasted is said with what to do, and the words of others only where they say more")
    func pasting() {
        let names: [(ErrorName, String, Bool)] = [
            (.notSupported, "cannot be reached", true), (.accessDenied, "locked", false),
            ("org.example.Handoff.Error.OfferWithdrawn", "nothing in its clipboard", false),
            ("org.example.Handoff.Error.Disabled", "switched off", false),
            ("org.example.Handoff.Error.ApplicationFailed", "not what it claims", true),
            ("org.example.Handoff.Error.ConnectionUnavailable", "cannot be reached", false),
            (.noReply, "No answer", false),
        ]
        for (name, part, hasDetail) in names {
            let text = FailureText.pasting(DBusError(name, words))
            #expect(text.summary.contains(part), "\(name)")
            #expect(text.detail.isEmpty != hasDetail, "\(name)")
        }
    }

    @Test("a call that the user has chosen says so if it cannot be used")
    func request() {
        let text = FailureText.request(DBusError(.invalidArgs, "“x” is no address."))
        #expect(text.line == "What was given cannot be used. Give something else. “'x' is no address.”")
    }

    @Test("a daemon that does not answer is told of by what has happened")
    func silence() {
        #expect(FailureText.silence(DBusError(.noReply, words)).summary == "It has not answered in time.")
        #expect(
            FailureText.silence(DBusError(.accessDenied, words)).summary
                == "It does not let this program ask.")
    }

    @Test("problems are in the user's words, and for who has a terminal in those of the daemons too")
    func problems() {
        var bridge = BridgeStatus()
        bridge.port = 1
        bridge.discoveryError = "Avahi is on strike"
        bridge.discoveryErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
        let report = StatusReport(broker: .running(BrokerStatus()), bridge: .running(bridge))
        let problem = report.problems.first
        #expect(problem?.text == "Devices are not found automatically: Avahi is not running.")
        #expect(problem?.words == "Devices are not found automatically: Avahi is on strike.")
    }
}
