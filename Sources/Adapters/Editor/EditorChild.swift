// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// The part of an editor's plugin that is in Handoff: a child of the editor, which ends with it.
@MainLoop
final class EditorChild {
    private let editor: KnownEditor
    private nonisolated let token = RunToken()
    private let pipe = PluginPipe(input: STDIN_FILENO, output: STDOUT_FILENO)
    private var bus: Bus?
    private var feed: PreferencesFeed?
    private var session: EditorSession?
    /// What the user had chosen when a broker was there last.
    private var preferences: [String: Value] = [:]

    private init(_ editor: KnownEditor) { self.editor = editor }

    /// Runs for the editor `id` until that ends.
    /// - Returns: the exit status. That there is no session, or that the user keeps Handoff out of the editor, is no error.
    nonisolated static func run(_ id: String) -> Int32 {
        Log.useStandardError()
        guard let editor = KnownEditor.called(id) else {
            adapterLog.warning(
                "\(PeerText.message(id)) is no editor that is known. Call it with one of"
                    + " \(KnownEditor.all.map(\.id).joined(separator: ", ")).")
            return 2
        }
        guard SessionBus.isKnown else { return 0 }
        signal(SIGPIPE, SIG_IGN)
        let child = MainLoop.assumeIsolated { EditorChild(editor) }
        MainLoop.start { await child.live() }
        MainLoop.run(until: child.token)
        return MainLoop.assumeIsolated { child.end() }
    }

    private func end() -> Int32 {
        session?.end()
        if let bus, !bus.connection.isClosed { bus.leave() }
        return 0
    }

    private func stop(_ reason: String) {
        adapterLog.debug("Handoff leaves \(editor.name): \(reason)")
        token.stop()
    }

    private func live() async {
        do {
            let bus = try await Bus.connect(.session)
            self.bus = bus
            bus.connection.policy = BusAccessPolicy()
            bus.connection.onClosed = { [weak self] _ in self?.stop("the bus has ended.") }
            pipe.onEnd = { [weak self] in self?.stop("it has ended.") }
            let feed = PreferencesFeed(on: bus, log: adapterLog)
            self.feed = feed
            feed.onChange = { [weak self] in self?.choicesChanged() }
            feed.begin()
        } catch {
            stop("there is no bus.")
        }
    }

    /// Nothing of the editor is read before it is known whether the user wants that.
    private func choicesChanged() {
        preferences = feed?.preferences ?? preferences
        if preferences.texts("DisabledAdapters").contains(EditorAdapter.name)
            || preferences.texts("ExcludedApplications").contains(editor.id)
        {
            return leaveAlone()
        }
        guard session == nil else { return }
        do {
            let session = try EditorSession(editor, pipe)
            session.onSteppedBack = { [weak self] in self?.stop("it has learnt Handoff itself.") }
            self.session = session
            // What was said while it was left alone is forgotten.
            if !pipe.begin() { pipe.tell(.front) }
            MainLoop.start { [weak self] in await self?.openPending() }
        } catch {
            stop("\(error)")
        }
    }

    /// The user keeps Handoff out of the editor, for now: nobody but this could begin again when that is over.
    private func leaveAlone() {
        session?.end()
        session = nil
        pipe.onMessage = nil
        // An editor must not wait for somebody who does not read.
        _ = pipe.begin()
    }

    /// Opens what the editor was started for, if it was started by the adapter.
    private func openPending() async {
        guard let bus, let owner = try? await bus.identifiedOwner(of: HandoffNames.editorAdapter),
            owner.sandbox == nil, let name = owner.name
        else { return }
        let adapter = EditorAdapterProxy(RemoteObject(bus.connection, name, HandoffNames.editorAdapterPath))
        guard let pending = try? await adapter.takePending(editor: editor.id), !pending.isEmpty,
            TextFile.isUsable(pending.text("Path"))
        else { return }
        do {
            try await session?.open(EditingText.pending(pending))
        } catch {
            adapterLog.warning("What \(editor.name) was started for is not shown: \(error)")
        }
    }
}
