// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The adapter `browser`: the native messaging host of the add-on for browsers, which start it and end it. Without anything
/// that names an add-on it is what the bus starts, for pages that are continued where no browser with the add-on runs.
package enum BrowserAdapter {
    /// The adapter as a program.
    package static let program = AdapterProgram(BrowserHost.name) { arguments in
        let rest = arguments.dropFirst()
        // Browsers always name the add-on.
        if rest != ["--version"], rest.allSatisfy({ $0.hasPrefix("-") }) {
            return AdapterService.run(
                BrowserHost.name, busName: HandoffNames.browserAdapter,
                summary: "Continue pages in the default web browser.", arguments: arguments,
                make: { service, _ in BrowserCatcher(service) }, begin: { try $0.begin() })
        }
        Log.useStandardError()
        if rest.first == "--version" {
            print("handoff-browser \(Release.version)")
            return 0
        }
        guard BrowserIdentity.isForAddOn(rest) else {
            adapterLog.warning(
                "handoff-browser is started by browsers, for the Handoff add-on alone. Install that.")
            return 2
        }
        guard BrowserIdentity.parent() != nil else {
            adapterLog.warning("handoff-browser ends: it cannot find out which browser has started it.")
            return 1
        }
        let run = MainLoop.assumeIsolated { BrowserRun() }
        MainLoop.start { await run.live() }
        MainLoop.run(until: run.token)
        return MainLoop.assumeIsolated { run.status }
    }
}

/// One run of the host, as long as its browser reads and writes.
@MainLoop
private final class BrowserRun {
    nonisolated let token = RunToken()
    private(set) var status: Int32 = 0
    private let port = NativePort()
    private var signals: [LoopSource] = []
    private var bus: Bus?
    private var host: BrowserHost?

    func live() async {
        port.onEnd = { [weak self] in self?.ended($0) }
        port.onMessage = { [weak self] in self?.host?.received($0) }
        signals = [SIGTERM, SIGINT].map { .signal($0) { [weak self] in self?.ended(nil) } }
        port.begin()
        // Without a bus the browser is told so, and the host waits for its end, or it would be started again and again.
        guard SessionBus.isKnown, let bus = try? await Bus.connect(.session),
            let browser = BrowserIdentity.parent()
        else { return tell(.absent) }
        self.bus = bus
        bus.connection.onClosed = { [weak self] _ in
            self?.host = nil
            self?.tell(.absent)
        }
        host = BrowserHost(browser, port, on: bus)
        host?.begin()
    }

    private func tell(_ standing: BrowserStanding) {
        port.send(["message": "standing", "standing": .string(standing.rawValue)])
    }

    private func ended(_ reason: String?) {
        if let reason {
            adapterLog.warning("handoff-browser ends: \(reason)")
            status = 1
        }
        token.stop()
    }
}
