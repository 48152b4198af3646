// SPDX-License-Identifier: LGPL-2.1-or-later
// The host: the program beside the browser that speaks with Handoff. The browser starts it and ends it.

import {api} from './api.js';

const NAME = 'org.example.handoff';
// After how many milliseconds a host that has ended is started again; each time it ends at once, it takes longer.
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 300000;
// A host that has lived as long as this has worked.
const LIVED = 10000;

export class Host {
    // Tells `onMessage` what the host says, and `onEnd` that there is none any more.
    constructor(onMessage, onEnd) {
        this._onMessage = onMessage;
        this._onEnd = onEnd;
        this._port = null;
        this._pause = FIRST_PAUSE;
    }

    connect() {
        const began = Date.now();
        const port = api.runtime.connectNative(NAME);
        this._port = port;
        port.onMessage.addListener(message => this._onMessage(message));
        port.onDisconnect.addListener(() => {
            // Whoever does not look at it is told of it in the log.
            void api.runtime.lastError;
            this._port = null;
            this._onEnd();
            if (Date.now() - began > LIVED)
                this._pause = FIRST_PAUSE;
            setTimeout(() => this.connect(), this._pause);
            this._pause = Math.min(2 * this._pause, LONGEST_PAUSE);
        });
    }

    // Sends `message`, if there is a host.
    send(message) {
        this._port?.postMessage(message);
    }
}
