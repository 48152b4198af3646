// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Whoever shows notifications, in one of the ways in which desktops do.
@MainLoop
protocol NoticeServer: AnyObject {
    /// Whether there is one now that can be believed.
    var isThere: Bool { get }
    /// Whether it tells when the user has put something away. Where it does not, anything that is shown may be out of sight.
    var tellsOfClosing: Bool { get }
    /// Who is told what comes of it.
    var owner: (any NoticeServerOwner)? { get set }
    /// Shows `post` in its place, as soon as there is a server. This never waits.
    func show(_ post: NoticePost)
    /// Takes back what is shown in this place; harmless if that is nothing.
    func withdraw(_ slot: NoticeSlot)
    /// Returns once all that was taken back is so, or cannot be.
    func settle() async
}

/// Who has notifications shown.
@MainLoop
protocol NoticeServerOwner: AnyObject {
    /// There is a server now where there was none, or none any more, or it shows none of ours.
    func availabilityChanged()
    /// Another server has taken the place of `server`, which was there all the time, and shows nothing of ours yet.
    func replaced(_ server: any NoticeServer)
    /// The user has pressed something. `token` lets a program raise its window, and may be empty.
    func pressed(_ slot: NoticeSlot, _ press: NoticePress, token: String)
    /// The user has put away what was shown in this place, or it has been shown long enough.
    func closed(_ slot: NoticeSlot)
}
