// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What was copied on a peer, and is fetched when somebody pastes it here.
@MainLoop
final class FollowedClipboard {
    /// The device that it was copied on.
    let device: String
    private let proxy: ClipboardProxy
    /// When the clipboard was taken over, in microseconds of ``MainLoop/now``.
    private let begin = MainLoop.now
    /// What was fetched of it, or is being: once for each kind.
    private var fetched: [ClipboardKind: Task<ClipboardFile?, Never>] = [:]
    /// What is fetched last: a peer gives one kind at a time.
    private var last: Task<ClipboardFile?, Never>?
    private var timer: LoopSource?

    /// What is fetched so soon after the clipboard was taken over is for no user who pastes, in microseconds.
    private static let tooSoon: Int64 = 10_000

    /// What is in the clipboard of `device`, which `proxy` has. `isOver` is called when it is to be given up, after `time`.
    init(
        _ device: String, _ proxy: ClipboardProxy, for time: Duration,
        isOver: @escaping @MainLoop (FollowedClipboard) -> Void
    ) {
        (self.device, self.proxy) = (device, proxy)
        timer = .timer(after: time) { [weak self] in
            if let self { isOver(self) }
        }
    }

    /// It as `kind`; nil if it cannot be had, or if nobody can have pasted it yet.
    func fetch(_ kind: ClipboardKind) async -> ClipboardFile? {
        guard MainLoop.now - begin >= Self.tooSoon else { return nil }
        let task =
            fetched[kind]
            ?? MainLoop.start { [device, proxy, last] in
                _ = await last?.value
                do {
                    let reply = try await proxy.readFollowed(
                        deviceId: device, type: kind.rawValue, timeout: Deadline.paste)
                    let contents = reply.contents
                    return try ClipboardContent(contents, reply.content).file(of: kind)
                } catch {
                    agentLog.info("Nothing was pasted: \(DBusError.converting(error).message)")
                    return nil
                }
            }
        if fetched[kind] == nil { (fetched[kind], last) = (task, task) }
        let file = await task.value
        // What has failed may be had the next time.
        if file == nil { fetched[kind] = nil }
        return file
    }
}
