// SPDX-License-Identifier: LGPL-2.1-or-later
// However often something changes, it is told at most once in a while, and at once after a pause.

export class Pace {
    // Calls `body` at most once in `pause` milliseconds. There is a timer only while a call waits.
    constructor(pause, body) {
        this._pause = pause;
        this._body = body;
        this._last = -Infinity;
        this._timer = null;
    }

    // Something has changed.
    changed() {
        if (this._timer !== null)
            return;
        const wait = this._last + this._pause - performance.now();
        if (wait <= 0)
            this._call();
        else
            this._timer = setTimeout(() => this._call(), wait);
    }

    _call() {
        this._timer = null;
        this._last = performance.now();
        this._body();
    }
}
