// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffCommand

@Suite("What handoff status finds wrong")
struct StatusTests {
    private static func broker(isEnabled: Bool = true) -> StatusReport.Daemon<StatusReport.Broker> {
        .running(StatusReport.Broker(version: 1, isEnabled: isEnabled, current: nil, offers: []))
    }

    private static func bridge(
        port: Int = 4000, _ devices: [KnownDevice] = []
    ) -> StatusReport.Daemon<StatusReport.Bridge> {
        .running(
            StatusReport.Bridge(
                version: 1, deviceID: "aa", deviceName: "desk", deviceType: "", port: port,
                isDiscoverable: false,
                devices: devices))
    }

    private static func peer(_ name: String, isConnected: Bool) -> KnownDevice {
        KnownDevice(
            "/org/example/Handoff/Bridge/devices/bb", id: "bb",
            ["Name": .string(name), "Paired": .boolean(true), "Connected": .boolean(isConnected)])
    }

    private static func report(
        _ broker: StatusReport.Daemon<StatusReport.Broker>, _ bridge: StatusReport.Daemon<StatusReport.Bridge>
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
            _ broker: StatusReport.Daemon<StatusReport.Broker>,
            _ bridge: StatusReport.Daemon<StatusReport.Bridge>
        ) -> String {
            Self.report(broker, bridge).problems.first.map { "\($0.text) \($0.remedy)" } ?? ""
        }
        let peers = Self.bridge([Self.peer("lap", isConnected: true)])
        #expect(
            first(.absent(canStart: true), .absent(canStart: true)).contains(
                "systemctl --user start handoffd"))
        #expect(first(.absent(canStart: false), .absent(canStart: false)).contains("Install Handoff"))
        #expect(first(Self.broker(), .absent(canStart: true)).contains("start handoff-bridge"))
        #expect(first(.silent("slow"), peers).contains("slow"))
        #expect(first(Self.broker(), .silent("slow")).contains("handoff-bridge --replace"))
        #expect(first(Self.broker(), Self.bridge(port: 0)).contains("does not listen"))
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
}
