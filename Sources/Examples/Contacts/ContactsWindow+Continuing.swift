// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport
import HandoffKit
import Platform

/// What comes from other devices, and what was continued there.
extension ContactsWindow {
    /// Shows that something is coming.
    func willContinue(from device: String) {
        hasStopped = false
        failureDetails = ""
        change { $0.beginContinuing(from: device) }
        present()
    }

    /// Shows why it has not come.
    func failContinuing(from device: String, _ error: any Error) {
        let reason = HandoffError.reason(of: error)
        if let known = error as? HandoffError, !reason.contains(known.message) {
            failureDetails = known.message
        }
        change { $0.failContinuing(from: device, reason: reason) }
    }

    /// Goes on with what was being done on `device`.
    /// - Throws: if it can't be understood, for example because it is from another version.
    func restore(_ activity: UserActivity, from device: String) async throws -> Bool {
        do {
            switch ContactActivity.Kind(rawValue: activity.activityType) {
            case .list:
                let stream = try await activity.continuationStream()
                // What was here before is no longer what the user does, and on a narrow screen it would hide the bar.
                change { $0.show(nil) }
                if case .string(let query)? = activity.userInfo[ContactActivity.queryKey], !query.isEmpty {
                    search()
                    widgets.search[text: "text"] = Text.query(query)
                }
                receive(stream, from: device, for: activity)
            case .view:
                let contact = try payload(of: activity, Contact.self).changed(atMost: Moment.now)
                change {
                    $0.show(contact)
                    // What is stored here may be newer.
                    $0.listChanged(store.list)
                }
            case .edit:
                edit(try payload(of: activity, Draft.self).changed(atMost: Moment.now))
            case nil:
                change { $0.goBack() }
                return false
            }
        } catch {
            failContinuing(from: device, error)
            throw error
        }
        // Without this the desktop would only say that the window is ready.
        if let token = activity.activationToken { gtk_window_set_startup_id(window.pointer, token) }
        present()
        return true
    }

    /// What the other device has sent, as a person understands why it is none.
    private func payload<Payload: Decodable>(
        of activity: UserActivity, _ type: Payload.Type
    ) throws(HandoffError) -> Payload {
        do {
            return try activity.typedPayload(type)
        } catch {
            failureDetails = "\(error)"
            throw .notUnderstood
        }
    }

    /// What this window shows was continued elsewhere.
    func continued(_ kind: ContactActivity.Kind, on device: ContinuationDevice) {
        change { $0.continued(on: device.name) }
        if kind != .edit { toast(tr("Continued on {device}", ["device": device.name])) }
    }

    /// Takes over the contacts that come, and shows how many have. `activity` lives until then, and with it the stream.
    private func receive(_ stream: ContinuationStream, from device: String, for activity: UserActivity) {
        transfer?.cancel()
        transfers += 1
        let number = transfers
        widgets.transferLabel[text: "label"] = tr(
            "Receiving contacts from {device}…", ["device": device])
        widgets.transferBar[fraction: "fraction"] = 0
        widgets.transferBox[flag: "visible"] = true
        widgets.transfer[flag: "reveal-child"] = true
        transfer = Task { [weak self] in
            var reader = ContactStreamReader()
            do {
                for try await piece in stream.bytes {
                    try reader.read(piece)
                    if let self, transfers == number {
                        widgets.transferBar[fraction: "fraction"] = reader.progress
                    }
                }
                let contacts = try reader.finish()
                try await stream.finish()
                try await self?.take(contacts)
            } catch {
                // What was stopped ends in one error or another, depending on where it was.
                if Task.isCancelled {
                    self?.toast(tr("Stopped. No contacts were changed."))
                } else {
                    self?.tell(tr("Couldn’t Receive Contacts"), HandoffError.reason(of: error))
                }
            }
            activity.invalidate()
            // Another may have taken its place.
            if let self, transfers == number { widgets.transfer[flag: "reveal-child"] = false }
        }
    }

    /// What says how many have come has been moved in or out. Assistive technology would go on reading it there.
    func transferMoved() {
        let isThere = widgets.transfer[flag: "child-revealed"] || widgets.transfer[flag: "reveal-child"]
        widgets.transferBox[flag: "visible"] = isThere
    }

    private func take(_ contacts: [Contact]) async throws {
        toast(try await store.merge(contacts).text)
    }
}
