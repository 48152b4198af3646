// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What a peer says of another device, and what the user can make of it.
package struct QuestionRow: Equatable, Sendable, Identifiable {
    /// Something to press.
    package struct Answer: Equatable, Sendable {
        /// What the button says.
        package let label: String
        /// What has to be asked for.
        package let request: Request
        /// What stands above why it was not done.
        package let refusal: String
    }

    /// The device that it is about: 64 hexadecimal digits.
    package let id: String
    /// What that is called.
    package let name: String
    /// What the peer says of it.
    package let says: String
    /// The name of the picture that stands for the device.
    package let picture: String
    /// That the user does what the peer says.
    package let agree: Answer
    /// That the user does not.
    package let refuse: Answer

    private init(_ device: KnownDevice, _ says: String, agree: Answer, refuse: Answer) {
        id = device.id
        name = device.label.shown
        self.says = says
        picture = Pictures.name(ofDevice: device.type)
        (self.agree, self.refuse) = (agree, refuse)
    }

    /// Whether `device` is the user's, as a peer among `devices` says; nil if the user has said so, or it asks to be paired itself.
    init?(introduced device: KnownDevice, among devices: [KnownDevice]) {
        guard device.isIntroduced, !AskingRow.asks(device),
            let peer = device.introducers(among: devices).first
        else { return nil }
        self.init(
            device,
            tr("“{device}” says that this is one of your devices.", ["device": peer.label.shown]),
            agree: Answer(
                label: tr("Pair"), request: .acceptIntroduction(device.id), refusal: tr("Not Paired")),
            refuse: Answer(
                label: tr("No"), request: .declineIntroduction(device.id), refusal: tr("Not Changed")))
    }

    /// Whether `device` is unpaired here too, as on a peer among `devices`; nil if there is no such peer.
    init?(retracted device: KnownDevice, among devices: [KnownDevice]) {
        guard device.isPaired, let peer = device.retractors(among: devices).first else { return nil }
        self.init(
            device,
            tr(
                "“{peer}” no longer counts “{device}” among your devices.",
                ["peer": peer.label.shown, "device": device.label.shown]),
            agree: Answer(
                label: tr("Unpair Here Too"), request: .unpair(device.id), refusal: tr("Not Unpaired")),
            refuse: Answer(label: tr("Keep"), request: .keepPairing(device.id), refusal: tr("Not Changed")))
    }
}
