// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The id and the summary of an activity, as `Peer.List` has them.
package typealias ListedActivity = Structure<String, [String: Value]>

/// The id, the summary and the state of an activity, as `PeerManager.ParkAside` has them.
package typealias LeftActivity = Structure<String, [String: Value], [String: Value]>
