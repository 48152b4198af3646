// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Continuations of our activities by peers.
extension Broker {
    func perform(_ actions: [OriginContinuations.Action]) {
        for action in actions {
            switch action {
            case .tellWasContinued(let entry):
                guard let object = activityObjects[entry.activity] else { continue }
                object.wasContinued(by: entry.device)
                tellContinued(object, by: entry.device)
            case .ended(let entry):
                ended(entry)
                if entry.openStreams > 0 { endStreams(of: entry) }
            case .released(let entry): ended(entry)
            }
        }
    }

    private func ended(_ entry: OriginContinuations.Entry) {
        brokerLog.debug("Continuation \(entry.id) of activity \(entry.activity) has ended.")
        activityObjects[entry.activity]?.forget(entry.id)
        sentDocuments.stop(entry.id, of: entry.device)
    }

    /// Has the bridge end the streams of `entry`, since the broker has given their descriptors away.
    private func endStreams(of entry: OriginContinuations.Entry) {
        MainLoop.start { [weak self] in
            guard let peer = try? self?.bridgePeer(entry.device) else { return }
            do {
                try await peer.release(continuation: entry.id.description)
            } catch {
                brokerLog.debug("continuation \(entry.id): Release: \(DBusError.converting(error).message)")
            }
        }
    }

    /// Tells subscribers that `device` has continued `object`.
    private func tellContinued(_ object: ActivityObject, by device: DeviceID) {
        let continued: [String: Value] = [
            "DeviceId": .string(device.description), "DeviceName": .string(name(of: device)),
            "ActivityType": .string(object.type.description),
            "ApplicationId": .string(object.applicationID.description),
            "Title": .string(PeerText.title(object.title)), "Time": .int64(clock.wall),
        ]
        connection.objects.tellSubscribers(of: HandoffNames.brokerPath) { () throws(DBusError) in
            try ManagerBinding.activityContinued(from: HandoffNames.brokerPath, continued: continued)
        }
    }
}
