// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// What an agent that was killed has left on the screen: it is closed as soon as its server is seen, and what is shown now is
/// written down for the next agent.
///
/// The file is in `$XDG_RUNTIME_DIR`, which is always local (XDG Base Directory Specification), and is written only when
/// something else is shown, so that no thread is needed for it. Without that folder nothing is written down.
@MainLoop
final class LeftNotices {
    private let bus: Bus
    private let path: String?
    private var former: NoticeRecord?
    private var busID: String?
    private var server: BusName?
    private var numbers: Set<UInt32> = []
    private let close: @MainLoop (BusName, UInt32) -> Void

    /// Has `close` close what is left with a server.
    init(_ bus: Bus, _ close: @escaping @MainLoop (BusName, UInt32) -> Void) {
        self.bus = bus
        self.close = close
        let folder = Variables.all["XDG_RUNTIME_DIR"] ?? ""
        path = folder.hasPrefix("/") ? "\(folder)/handoff/notifications" : nil
        let bytes = path.flatMap { try? SmallFile.read($0, maximumSize: NoticeRecord.maximumSize) }
        former = bytes.flatMap { NoticeRecord($0) }
        if path != nil { MainLoop.start { [weak self] in await self?.askBus() } }
    }

    private func askBus() async {
        let daemon = RemoteObject(bus.connection, "org.freedesktop.DBus", "/org/freedesktop/DBus")
        let reply = try? await daemon.call("org.freedesktop.DBus", "GetId", output: "s") {
            (_) throws(DBusError) in
        }
        guard let reply else { return }
        var reader = MessageReader(reply)
        busID = try? reader.read(String.self)
        closeLeft()
        write()
    }

    /// `name` is the server now, nil if there is none, and shows nothing yet that is known here.
    func serve(_ name: BusName?) {
        server = name
        closeLeft()
    }

    /// These are shown now.
    func note(_ shown: Set<UInt32>) {
        guard shown != numbers else { return }
        numbers = shown
        write()
    }

    private func closeLeft() {
        guard let server, let busID, let record = former else { return }
        former = nil
        guard record.bus == busID, record.server == server.text else { return }
        for number in record.numbers.subtracting(numbers) { close(server, number) }
    }

    private func write() {
        guard let path, let busID, let server else { return }
        let record = NoticeRecord(bus: busID, server: server.text, numbers: numbers)
        do throws(KeyFileError) {
            try SmallFile.write(record.bytes, to: path)
        } catch {
            agentLog.debug("What is shown is not written down for the next agent: \(error)")
        }
    }
}
