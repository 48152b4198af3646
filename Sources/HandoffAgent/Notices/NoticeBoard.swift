// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// What is shown to the user in notifications now, by whichever server there is.
@MainLoop
final class NoticeBoard: NoticeServerOwner {
    /// Called when the user has pressed something, which has put the notification away.
    var onPress: (@MainLoop (NoticeSlot, NoticePress, _ token: String) -> Void)?
    /// Called when the user has put a notification away.
    var onClose: (@MainLoop (NoticeSlot) -> Void)?

    private let servers: [any NoticeServer]
    private let looks: ApplicationLooks
    private weak var current: (any NoticeServer)?
    private var posts: [NoticeSlot: NoticePost] = [:]
    /// What the user sees in the Handoff window.
    private var views: Set<WindowView> = []
    /// The notifications whose picture is being looked for, by the number of the look.
    private var expected: [NoticeSlot: Int] = [:]
    private var looked = 0
    private var hasEnded = false

    /// Shows it with the first of `servers` that is there. The last one is asked if none is, since the bus may start it.
    init(_ servers: [any NoticeServer], _ looks: ApplicationLooks) {
        self.servers = servers
        self.looks = looks
        for server in servers { server.owner = self }
    }

    /// Whether whoever shows what is shown now tells when the user has put it away.
    var tellsOfClosing: Bool { current?.tellsOfClosing ?? true }

    /// Shows `notice` in its place.
    func show(_ notice: Notice) {
        guard !hasEnded else { return }
        looked += 1
        let number = looked
        expected[notice.slot] = number
        looks.find(notice.applications) { [weak self] look in
            guard let self, expected[notice.slot] == number else { return }
            expected[notice.slot] = nil
            post(notice, look)
        }
    }

    /// Takes back what is shown in this place; harmless if that is nothing.
    func withdraw(_ slot: NoticeSlot) {
        expected[slot] = nil
        if posts.removeValue(forKey: slot) != nil { current?.withdraw(slot) }
    }

    /// The user sees this in the Handoff window, or does not any more: a notification would cover what it repeats.
    func set(_ view: WindowView, isSeen: Bool) {
        guard isSeen != views.contains(view) else { return }
        if isSeen { views.insert(view) } else { views.remove(view) }
        for post in posts.values where post.notice.slot.views.contains(view) {
            if isSeen { hide(post.notice.slot) } else { show(post) }
        }
    }

    /// The user sees it in the window. What is asked once is asked by that.
    private func hide(_ slot: NoticeSlot) {
        current?.withdraw(slot)
        if slot.isAskedOnce { closed(slot) }
    }

    private func show(_ post: NoticePost) {
        if views.isDisjoint(with: post.notice.slot.views) {
            current?.show(post)
        } else {
            hide(post.notice.slot)
        }
    }

    /// Takes back all that is shown, and shows nothing any more.
    func end() {
        hasEnded = true
        for slot in Set(posts.keys).union(expected.keys) { withdraw(slot) }
    }

    /// Returns once all that was taken back is so, also what was still on its way. That can take as long as a server does.
    func settle() async { for server in servers { await server.settle() } }

    /// Presses what has this `action` and this `word` in what is shown now.
    /// - Returns: whether there is such a thing.
    func press(_ action: String, _ word: String, token: String) -> Bool {
        for (slot, post) in posts {
            guard let press = post.press(action, word) else { continue }
            pressed(slot, press, token: token)
            return true
        }
        return false
    }

    private func post(_ notice: Notice, _ look: ApplicationLook?) {
        let post = NoticePost(notice, look, replacing: posts[notice.slot])
        guard post != posts[notice.slot] else { return }
        posts[notice.slot] = post
        if current == nil { current = best }
        show(post)
    }

    private var best: (any NoticeServer)? { servers.first(where: \.isThere) ?? servers.last }

    // MARK: Servers

    func availabilityChanged() {
        let former = current
        current = best
        guard former !== current else { return }
        for post in posts.values {
            former?.withdraw(post.notice.slot)
            show(post)
        }
    }

    func replaced(_ server: any NoticeServer) {
        guard server === current else { return }
        for post in posts.values { show(post) }
    }

    func pressed(_ slot: NoticeSlot, _ press: NoticePress, token: String) {
        guard posts[slot]?.words[press] != nil else { return }
        withdraw(slot)
        onPress?(slot, press, token)
    }

    func closed(_ slot: NoticeSlot) {
        expected[slot] = nil
        if posts.removeValue(forKey: slot) != nil { onClose?(slot) }
    }
}
