// SPDX-License-Identifier: LGPL-2.1-or-later

/// How long each step may take.
package enum Deadline {
    /// `FetchClipboard` and `ClipboardChanged`: longer than the desktop may take to read its clipboard.
    package static let clipboard: Duration = .seconds(10)
    /// How long what a user has sent of a clipboard can be had by the device that it was sent to.
    package static let sentClipboard: Duration = .seconds(600)
    /// `Paste` and `Read` of a clipboard: fetching it, and what is too large for an answer.
    package static let paste: Duration = .seconds(60)
    /// `WillContinueActivity`; after that its answer is taken to be false.
    package static let willContinue: Duration = .seconds(1)
    /// `WillSave`; after that the last saved state is handed off.
    package static let willSave: Duration = .seconds(2)
    /// `Fetch`, including its one retry.
    package static let fetch: Duration = .seconds(10)
    /// Registering, after the application was started.
    package static let registration: Duration = .seconds(30)
    /// `ContinueActivity`.
    package static let continueActivity: Duration = .seconds(30)
    /// Opening a web page or a document with its default application.
    package static let opening: Duration = .seconds(30)
    /// Opening a stream.
    package static let stream: Duration = .seconds(5)
    /// Taking a stream, at the origin. It is shorter than the time for opening one, so that a refusal still
    /// arrives.
    package static let streamTaking: Duration = .seconds(4)
    /// How long the token of a stream is valid.
    package static let streamToken: Duration = .seconds(10)
    /// Agreeing on a document that is to be sent; together with the wait for the document before, ten seconds.
    package static let document: Duration = .seconds(9)
    /// Opening a document at the origin. It is shorter than the time for agreeing on it, so that a refusal still
    /// arrives.
    package static let documentOpening: Duration = .seconds(4)
    /// Waiting for the end of the document before, whose receiver may have everything already.
    package static let formerDocument: Duration = .seconds(1)
    /// At the origin of a document: nothing of what was sent is taken, or everything is sent and the acknowledgement
    /// does not come. It is longer than the silence that the receiver allows, since only the receiver sees each byte: the
    /// bridges take and give up to a megabyte at a time.
    package static let documentReceipt: Duration = .seconds(60)
    /// A document that is being brought over, during which not a single byte arrives.
    package static let documentSilence: Duration = .seconds(15)
    /// A document of a shared folder that has not been synchronised yet; after that it is brought over.
    package static let synchronisation: Duration = .seconds(60)
    /// How long a continuation lives at the origin without a link, and how long `Continued` is repeated here.
    package static let withoutLink: Duration = .seconds(60)
    /// How long a continuation without streams lives at the origin after its activity ceased to be offered.
    package static let unoffered: Duration = .seconds(300)
    /// Between an attempt to call `Continued` or `Fetch` that did not reach the peer although the link is alive, and the next.
    package static let callRetry: Duration = .seconds(1)
    /// Between two calls of `WillSave` that no continuation asked for.
    package static let autosave: Duration = .seconds(1)
    /// Between two summaries of the same offer, of which the latest counts.
    package static let offerInterval: Duration = .milliseconds(100)
    /// Between two summaries of the same offer that differ only in when it was last used, or in a state that nobody awaits.
    package static let useInterval: Duration = .seconds(300)
    /// By how much a remote activity has to have been used later than known before anybody is told.
    package static let useGrain: Duration = .seconds(60)
    /// How long what was listed for a peer can be fetched, and is shown there.
    package static let listing: Duration = .seconds(60)
    /// Between two lists for a peer.
    package static let listingInterval: Duration = .seconds(1)
    /// Between two invitations of a peer that are shown.
    package static let invitation: Duration = .seconds(10)
    /// `WillSave` before the machine sleeps; after that the last saved state is left with peers.
    package static let parkingSave: Duration = .milliseconds(30)
    /// How long a peer is told on each new link that what it had left here was continued.
    package static let continuedParked: Duration = .seconds(86_400)
    /// `Ping`, which asks whether a connection reads what it is sent.
    package static let ping: Duration = .seconds(2)
    /// Waiting for the other side or a user to agree while pairing, and for the codes to be compared.
    package static let pairing: Duration = .seconds(60)
    /// How often a date is compared with the wall clock, which may be set and runs while the machine sleeps.
    package static let dateCheck: Duration = .seconds(60)
}
