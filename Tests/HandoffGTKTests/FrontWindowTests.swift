// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffGTK
import Testing

/// Stands for an activity.
private final class Activity {
    let name: String

    init(_ name: String) { self.name = name }
}

struct FrontWindowTests {
    private var front = FrontWindow<String, Activity>()
    private let first = Activity("first")
    private let second = Activity("second")

    /// What was done, in words.
    private func words(_ actions: [FrontWindow<String, Activity>.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .becomeCurrent(let activity): "+\(activity.name)"
            case .resignCurrent(let activity): "-\(activity.name)"
            case .leaveCurrent(let activity): "<\(activity.name)"
            case .lookSoon: "look"
            }
        }
    }

    @Test("the activity of the window that becomes active becomes current")
    mutating func activating() {
        #expect(words(front.show(first, in: "1", isActive: false)) == [])
        #expect(words(front.show(second, in: "2", isActive: true)) == ["+second"])
        #expect(words(front.deactivated("2")) == ["look"])
        #expect(words(front.activated("1")) == ["+first"])
        #expect(words(front.looked(anyIsActive: true)) == [])
    }

    @Test("the activity is left open when no window of the application is active, and comes back with one")
    mutating func leaving() {
        _ = front.show(first, in: "1", isActive: true)
        #expect(words(front.deactivated("1")) == ["look"])
        #expect(words(front.looked(anyIsActive: false)) == ["<first"])
        #expect(words(front.looked(anyIsActive: false)) == [])
        #expect(words(front.deactivated("1")) == [])
        #expect(words(front.activated("1")) == ["+first"])
    }

    @Test(
        "in a dialog the activity stays current, and it is left open when the user leaves the dialog for another application"
    )
    mutating func dialogs() {
        _ = front.show(first, in: "1", isActive: true)
        #expect(words(front.deactivated("1")) == ["look"])
        #expect(words(front.looked(anyIsActive: true)) == [])
        #expect(words(front.deactivatedAnother()) == ["look"])
        #expect(words(front.looked(anyIsActive: false)) == ["<first"])
        #expect(words(front.activatedAnother()) == ["+first"])
        #expect(words(front.activatedAnother()) == [])
    }

    @Test("another activity in the active window takes the place of the former, in another window it waits")
    mutating func showing() {
        _ = front.show(first, in: "1", isActive: true)
        #expect(words(front.show(second, in: "1", isActive: true)) == ["+second"])
        #expect(words(front.show(nil, in: "1", isActive: true)) == ["-second"])
        #expect(words(front.show(first, in: "2", isActive: false)) == [])
        #expect(words(front.activated("2")) == ["+first"])
    }

    @Test("in a window that was left nothing becomes current behind the user's back, below a dialog it does")
    mutating func behind() {
        _ = front.show(first, in: "1", isActive: true)
        #expect(words(front.show(second, in: "1", isActive: false)) == ["+second"])
        _ = front.looked(anyIsActive: false)
        #expect(words(front.show(first, in: "1", isActive: false)) == [])
    }

    @Test("a window that is closed takes its activity along")
    mutating func closing() {
        _ = front.show(first, in: "1", isActive: true)
        _ = front.show(second, in: "2", isActive: false)
        #expect(words(front.closed("2")) == [])
        #expect(words(front.closed("1")) == ["-first"])
        #expect(words(front.activated("1")) == [])
    }
}
