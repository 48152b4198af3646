// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import HandoffStatus
import Testing

@testable import HandoffCommand

@Suite("What handoff status finds wrong")
struct StatusTests {
    private static func broker(isEnabled: Bool = true) -> StatusReport.Daemon<BrokerStatus> {
        var broker = BrokerStatus()
        broker.isEnabled = isEnabled
        return .running(broker)
    }

    private static func bridge(
        port: Int = 4000, _ devices: [KnownDevice] = []
    ) -> StatusReport.Daemon<BridgeStatus> {
        var bridge = BridgeStatus()
        (bridge.deviceID, bridge.deviceName, bridge.port, bridge.devices) = ("aa", "desk", port, devices)
        return .running(bridge)
    }

    private static func peer(_ name: String, isConnected: Bool) -> KnownDevice {
        KnownDevice(
            "/org/example/Handoff/Bridge/devices/bb", id: "bb",
            ["Name": .string(name), "Paired": .boolean(true), "Connected": .boolean(isConnected)])
    }

    private static func report(
        _ broker: StatusReport.Daemon<BrokerStatus>, _ bridge: StatusReport.Daemon<BridgeStatus>
    ) -> StatusReport {
        StatusReport(broker: broker, bridge: bridge)
    }

    @Test("nothing, if all is well")
    func good() {
        let report = Self.report(Self.broker(), Self.bridge([Self.peer("lap", isConnected: true)]))
        #expect(report.problems.isEmpty)
        #expect(report.isWorking)
        #expect(!report.lines(at: 0).contains("Problems:"))
    }

    @Test("without a bus, that alone")
    func noBus() {
        let report = StatusReport(busFailure: "No bus.")
        #expect(report.problems.count == 1)
        #expect(report.lines(at: 0).first == "Problems:")
        #expect(!report.isWorking)
    }

    @Test("each state of the daemons has its own problem and remedy")
    func daemons() {
        func first(
            _ broker: StatusReport.Daemon<BrokerStatus>,
            _ bridge: StatusReport.Daemon<BridgeStatus>
        ) -> String {
            Self.report(broker, bridge).problems.first.map { "\($0.text) \($0.remedy)" } ?? ""
        }
        let peers = Self.bridge([Self.peer("lap", isConnected: true)])
        #expect(
            first(.absent(canStart: true), .absent(canStart: true)).contains(
                "systemctl --user start handoffd"))
        #expect(first(.absent(canStart: false), .absent(canStart: false)).contains("Install Handoff"))
        #expect(first(Self.broker(), .absent(canStart: true)).contains("start handoff-bridge"))
        #expect(first(.silent(FailureText(summary: "slow")), peers).contains("slow"))
        #expect(
            first(.silent(FailureText(summary: "slow")), peers).contains(
                "systemctl --user restart handoffd.service"))
        #expect(
            first(Self.broker(), .silent(FailureText(summary: "slow"))).contains(
                "systemctl --user restart handoff-bridge.service"))
        #expect(first(Self.broker(), .silent(FailureText(summary: "slow"))).contains("log out and in again"))
        #expect(first(Self.broker(), Self.bridge(port: 0)).contains("does not listen"))
    }

    @Test("who has ended the pairing is named, and is nothing that is wrong")
    func unpaired() {
        var bridge = BridgeStatus()
        (bridge.port, bridge.devices) = (4000, [Self.peer("lap", isConnected: true)])
        bridge.endedPairings = [EndedPairing(id: "cc", name: "desk")]
        let report = Self.report(Self.broker(), .running(bridge))
        #expect(report.isWorking)
        let line = "“desk” is no longer paired: its user has ended the pairing with this device."
        #expect(report.lines(at: 0).contains(line))
    }

    @Test("the switch is told of, but not what it causes")
    func off() {
        let report = Self.report(
            Self.broker(isEnabled: false), Self.bridge(port: 0, [Self.peer("lap", isConnected: false)]))
        #expect(report.problems.map(\.text) == ["Handoff is switched off."])
    }

    @Test("no peers, and peers without a link")
    func peers() {
        #expect(
            Self.report(Self.broker(), Self.bridge()).problems.map(\.text) == [
                "No device is paired with this one."
            ])
        let report = Self.report(Self.broker(), Self.bridge([Self.peer("l\u{1B}ap", isConnected: false)]))
        #expect(report.problems.map(\.text) == ["There is no connection to “l\u{FFFD}ap”."])
    }

    @Test(
        "a peer that was introduced and is not accepted there, and one that another peer's user has unpaired")
    func introductions() {
        func peer(_ id: String, _ more: [String: Value]) -> KnownDevice {
            KnownDevice(
                "/org/example/Handoff/Bridge/devices/bb", id: id,
                ["Name": .string(id), "Paired": .boolean(true)].merging(more) { $1 })
        }
        let lap = peer("lap", ["Connected": .boolean(true)])
        let pad = peer("pad", ["IntroductionState": .string("accepted")])
        let old = peer("old", ["Connected": .boolean(true), "RetractedBy": .strings(["lap", "gone"])])
        let problems = Self.report(Self.broker(), Self.bridge([lap, pad, old])).problems
        #expect(
            problems.map(\.text) == [
                "“pad” is accepted here, but not there yet.",
                "“lap” no longer counts “old” among your devices.",
            ])
        #expect(problems.allSatisfy { $0.mend == nil && $0.deviceID != nil })
    }

    // MARK: Hidden offers and fetches

    private static func entry(_ more: [String: Value]) -> Value {
        let some: [String: Value] = [
            "DeviceId": .string(String(repeating: "b", count: 64)), "DeviceName": .string("lap” x  123 456"),
            "ActivityType": .string("com.example.edit"), "ApplicationId": .string("com.example.editor"),
            "Title": .string("A “letter”"), "Time": .int64(1_000_000), "Since": .int64(1_000_000),
        ]
        return .properties(some.merging(more) { $1 })
    }

    private static func list(_ entries: Value...) throws -> Value { try .array(of: "a{sv}", entries) }

    @Test("what is hidden is listed with its reason, below what it is about")
    func hidden() throws {
        let value = try Self.list(Self.entry(["Reason": .string("No application here can continue it")]))
        let offers = HiddenOffer.all(in: value)
        #expect(
            offers.lines(at: 61_000_000) == [
                "Hidden, because nothing here continues it:",
                "  DEVICE          TITLE       TYPE              APPLICATION         SINCE",
                "  lap' x ### ###  A 'letter'  com.example.edit  com.example.editor  1 min ago",
                "    No application here can continue it.",
            ])
        #expect([HiddenOffer]().lines(at: 0).isEmpty)
        #expect(HiddenOffer.all(in: nil).isEmpty && HiddenOffer.all(in: .byte(1)).isEmpty)
    }

    @Test("who is registered and what was refused is listed, and why the current activity is not offered")
    func applications() throws {
        var broker = BrokerStatus()
        broker.current = .current(in: [
            "/org/example/Handoff/activities/1": [
                ActivityProxy.interface.text: [
                    "Current": .boolean(true), "Title": .string("A letter"),
                    "ActivityType": .string("com.example.edit"),
                    "ApplicationId": .string("com.example.editor"),
                ]
            ]
        ])
        broker.applications = RegisteredApplication.all(
            in: try Self.list(
                Self.entry([
                    "ActivityTypes": .strings(["com.example.edit", "com.example.view"]),
                    "Activities": .uint32(2),
                    "Current": .boolean(true), "NotOffered": .string("Its ExpirationDate has passed."),
                ]), Self.entry(["ApplicationId": .string("com.example.other")])))
        broker.refusals = RecentRefusal.all(
            in: try Self.list(
                Self.entry([
                    "ApplicationId": .string(""), "ProcessId": .uint32(7),
                    "Member": .string("RegisterApplication"),
                    "Message": .string("“no id” is no application id."),
                ])))
        let report = StatusReport(broker: .running(broker), bridge: Self.bridge())
        let text = report.lines(at: 61_000_000).joined(separator: "\n")
        for part in [
            "\nCurrent  “A letter”, com.example.edit, of com.example.editor. It is not offered: Its ExpirationDate has passed.\n",
            """
            Registered applications:
              APPLICATION         STATE                 ACTIVITIES  TYPES
              com.example.editor  current, not offered  2           com.example.edit com.example.view
              com.example.other   no activity           0           none

            Refused, the latest first:
              1 min ago  RegisterApplication of a program that is not registered, process 7:
                “no id” is no application id.

            """,
        ] { #expect(text.contains(part), "\(text)") }
    }

    @Test("which devices were told what is open here is listed, with what they were told")
    func listings() throws {
        var broker = BrokerStatus()
        broker.listings = DeviceListing.all(
            in: try Self.list(
                Self.entry(["Titles": .strings(["A letter", "A”, “note"])]), Self.entry([:])))
        let report = StatusReport(broker: .running(broker), bridge: Self.bridge())
        let text = report.lines(at: 61_000_000).joined(separator: "\n")
        let lines = """
            Told what is open here, since the broker started:
              DEVICE    ACTIVITIES  LAST       TITLES                   NAME
              bbbbbbbb  2           1 min ago  “A letter”, “A', 'note”  lap' x ### ###
              bbbbbbbb  0           1 min ago  -                        lap' x ### ###
            """
        #expect(text.contains(lines), "\(text)")
        #expect(report.json.text.contains(#""titles":["A letter","A”, “note"]"#))
    }

    @Test("what was fetched is called so, streams and documents apart, and is counted for each device")
    func fetches() throws {
        var broker = BrokerStatus()
        broker.fetches = RecentFetch.all(
            in: try Self.list(
                Self.entry(["Kind": .string("stream")]), Self.entry(["Kind": .string("document")]),
                Self.entry([:])))
        broker.fetchesByDevice = DeviceFetches.all(
            in: try Self.list(
                Self.entry(["Fetches": .uint64(3), "Streams": .uint64(1), "Documents": .uint64(2)])))
        let report = StatusReport(broker: .running(broker), bridge: Self.bridge())
        let text = report.lines(at: 61_000_000).joined(separator: "\n")
        #expect(!text.contains("ontinued") && !text.contains("123 456"))
        #expect(text.contains("1 min ago  stream    lap' x ### ###  A 'letter'  com.example.edit"))
        #expect(text.contains("1 min ago  document  lap' x ### ###  A 'letter'  com.example.edit"))
        #expect(text.contains("1 min ago  activity  lap' x ### ###  A 'letter'  com.example.edit"))
        #expect(
            text.contains("bbbbbbbb  3           1        2          1 min ago  A 'letter'  lap' x ### ###"))
    }

    // MARK: The clipboard

    @Test(
        "that the clipboard was fetched is said with what it had, and counted in a column that is there then")
    func clipboardFetches() throws {
        let fetch: [String: Value] = [
            "Kind": .string("clipboard"), "Title": .string("text/plain, text/html"),
            "ActivityType": .string("org.example.Handoff.clipboard"),
        ]
        var broker = BrokerStatus()
        broker.fetches = RecentFetch.all(in: try Self.list(Self.entry(fetch)))
        broker.fetchesByDevice = DeviceFetches.all(
            in: try Self.list(
                Self.entry(fetch.merging(["Fetches": .uint64(3), "Clipboards": .uint64(2)]) { $1 })))
        let report = StatusReport(broker: .running(broker), bridge: Self.bridge())
        let text = report.lines(at: 61_000_000).joined(separator: "\n")
        #expect(
            text.contains("1 min ago  clipboard  lap' x ### ###  Text   org.example.Handoff.clipboard"),
            "\(text)")
        let table = """
              DEVICE    ACTIVITIES  STREAMS  DOCUMENTS  CLIPBOARDS  LAST       TITLE            NAME
              bbbbbbbb  3           0        0          2           1 min ago  clipboard: Text  lap' x ### ###
            """
        #expect(text.contains(table), "\(text)")
        #expect(report.json.text.contains(#""clipboardCount":2"#))
        #expect(report.json.text.contains(#""kind":"clipboard""#))
    }

    @Test("that nothing reaches the clipboard here is said while the agent runs and the user wants one")
    func noClipboard() {
        func report(_ mode: String, _ desktop: String, isAgentRunning: Bool = true) -> StatusReport {
            var broker = BrokerStatus()
            (broker.preferences, broker.clipboardDesktop) = (["Clipboard": .string(mode)], desktop)
            var report = StatusReport(broker: .running(broker), bridge: Self.bridge())
            report.isAgentRunning = isAgentRunning
            return report
        }
        func line(_ report: StatusReport) -> String? {
            report.lines(at: 0).first { $0.hasPrefix("Clipboard") }
        }
        #expect(line(report("ask", ""))?.contains("handoff paste --stdout") == true)
        #expect(
            line(report("follow", ""))?.hasPrefix(
                "Clipboard  the clipboard of this desktop cannot be reached") == true)
        #expect(line(report("off", "")) == nil)
        #expect(line(report("ask", "X11")) == nil)
        #expect(line(report("ask", "", isAgentRunning: false)) == nil)
        #expect(report("ask", "").problems == report("ask", "X11").problems)
        let json = report("follow", "X11").json.text
        #expect(json.contains(#""clipboard":"follow","clipboardDesktop":"X11""#), "\(json)")
        #expect(report("ask", "").json.text.contains(#""clipboard":"ask","clipboardDesktop":null"#))
    }
}
