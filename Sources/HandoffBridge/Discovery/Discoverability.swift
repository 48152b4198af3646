// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// Whether devices that are not paired can find this one: as long as somebody on the bus who has asked for that is there,
/// and five minutes at most, so that a program that is killed leaves no door open.
@MainLoop
final class Discoverability {
    private(set) var isOn = false
    private let bus: Bus
    private let changed: @MainLoop () -> Void
    /// Who has asked for it since it was off the last time.
    private var seekers: [BusName: NameWatch] = [:]
    private var timer: LoopSource?

    /// How long others can find this device after somebody has asked for it.
    private static let time = Duration.seconds(300)

    /// Nobody can. `changed` is called after each change.
    init(_ bus: Bus, _ changed: @escaping @MainLoop () -> Void) {
        self.bus = bus
        self.changed = changed
    }

    /// `caller`, a connection of the bus, wants that others can find this device, or that nobody can any more. What no
    /// connection has asked for ends only by itself.
    func set(_ value: Bool, by caller: BusName? = nil) {
        guard value else { return end() }
        timer = .timer(after: Self.time) { [weak self] in self?.end() }
        if let caller, seekers[caller] == nil {
            seekers[caller] = bus.watch(caller) { [weak self] owner in
                if owner == nil { self?.left(caller) }
            }
        }
        guard !isOn else { return }
        isOn = true
        changed()
    }

    private func left(_ caller: BusName) {
        guard seekers.removeValue(forKey: caller) != nil, seekers.isEmpty else { return }
        bridgeLog.debug("Who has made this device discoverable is gone.")
        end()
    }

    private func end() {
        timer = nil
        seekers = [:]
        guard isOn else { return }
        isOn = false
        changed()
    }
}
