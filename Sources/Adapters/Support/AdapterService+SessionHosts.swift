// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

extension AdapterService {
    /// What ssh is called with to reach a device; nil if the user has not said so.
    package func sessionHost(of device: String) -> String? {
        guard case .dictionary(let named)? = preferences["Sessions"] else { return nil }
        let host = named.entries.first { $0.key == .string(device) }?.value.string
        return host.flatMap { SessionHosts.isHost($0) ? $0 : nil }
    }
}
