// SPDX-License-Identifier: LGPL-2.1-or-later

extension Continuation {
    /// How far the application is while the activity is on its way.
    enum Application {
        /// No application is asked: one only opens the page or the document.
        case notNeeded
        /// It was started and has not registered.
        case starting(until: Instant)
        /// `WillContinueActivity` was called and has not been answered.
        case asked(until: Instant)
        /// It waits for the activity.
        case ready

        /// Whether the activity can be handed over.
        var isReady: Bool {
            switch self {
            case .notNeeded, .ready: true
            case .starting, .asked: false
            }
        }

        /// When the application has taken too long; nil if nothing is expected of it any more.
        var deadline: Instant? {
            switch self {
            case .starting(let until), .asked(let until): until
            case .notNeeded, .ready: nil
            }
        }
    }
}
