// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts the add-on into pages that it is not in. The browser does so with each page that begins once it knows the scripts of
// the add-on, and no earlier: Chromium leaves out what it shows by then, such as the page that it was started with.

import {api} from './api.js';

const FILES = ['late.js', ...api.runtime.getManifest().content_scripts[0].js];

// Puts the add-on into the page of this tab as soon as that can be read, or at once. Nothing happens if it is there already,
// or if the page keeps add-ons out.
export async function enter(tab, {atOnce} = {atOnce: false}) {
    await api.scripting.executeScript({target: {tabId: tab}, files: FILES, injectImmediately: atOnce}).catch(() => null);
}

// What the add-on in the page of this tab answers to `message`; null if there can be none.
export async function ask(tab, message) {
    const answer = () => api.tabs.sendMessage(tab, message, {frameId: 0}).catch(() => null);
    const first = await answer();
    if (first)
        return first;
    await enter(tab, {atOnce: true});
    return answer();
}
