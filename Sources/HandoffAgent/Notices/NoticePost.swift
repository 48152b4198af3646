// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// A notification as it is given to whoever shows it.
struct NoticePost: Equatable {
    let notice: Notice
    let icon: ApplicationLook.Icon
    /// Whether it replaces one that asks the same.
    let isUpdate: Bool
    /// What has to be said by whoever presses something, which nobody can guess.
    let words: [NoticePress: String]

    /// A notification in place of `former`. Whoever has seen that one may press what is still there.
    init(_ notice: Notice, _ look: ApplicationLook?, replacing former: NoticePost?) {
        self.notice = notice
        icon = look?.icon ?? .named(notice.icon)
        var words: [NoticePress: String] = [:]
        var numbers = UnpredictableNumbers()
        for press in notice.presses {
            words[press] = former?.words[press] ?? RandomID<WordNoun>(using: &numbers).description
        }
        self.words = words
        isUpdate = former.map { Self.isSame(notice, $0.notice) } ?? false
    }

    /// Whether both ask the same, or one only offers less than the other to answer the same.
    private static func isSame(_ notice: Notice, _ former: Notice) -> Bool {
        let (presses, formerPresses) = (Set(notice.presses), Set(former.presses))
        return presses == formerPresses || notice.title == former.title && presses.isSubset(of: formerPresses)
    }

    /// Whether this may come in place of `former` under the same name: whatever can be pressed in it is what could be
    /// pressed there.
    func canReplace(_ former: NoticePost) -> Bool {
        notice.press == former.notice.press && words.allSatisfy { former.words[$0.key] == $0.value }
    }

    /// What is pressed by who says this `word` for this `action`.
    func press(_ action: String, _ word: String) -> NoticePress? {
        words.first { $0.key.action == action && $0.value == word }?.key
    }
}

/// What a word of a notification is the identifier of.
enum WordNoun: Identified {
    /// As in "button id".
    static let noun = "button"
}
