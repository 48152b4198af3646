// SPDX-License-Identifier: LGPL-2.1-or-later
// What is said of the tabs of a window, and what a tab stands for that waits to be opened. Nothing here asks the browser.

import {described, isOfferable} from './pages.js';

// How many tabs of a window are continued elsewhere, and how long the address of each may be.
const MAXIMUM_TABS = 50;
const MAXIMUM_ADDRESS = 2048;

// The tabs of a window as the host is told of them, in their order: those that may be continued elsewhere, or none if that is not
// more than one. One of them is in front: that which is, or the first one after it. Of too many, those nearest to it are told.
export function toldTabs(tabs, sites) {
    const fit = tab => described(tab, sites) !== null && tab.url.length <= MAXIMUM_ADDRESS;
    const before = tabs.slice(0, Math.max(tabs.findIndex(tab => tab.active), 0)).filter(fit).length;
    const all = tabs.filter(fit);
    if (all.length < 2)
        return [];
    const front = Math.min(before, all.length - 1);
    // As many on either side, and where there are fewer, more on the other one.
    const first = Math.max(0, Math.min(front - MAXIMUM_TABS / 2, all.length - MAXIMUM_TABS));
    return all.slice(first, first + MAXIMUM_TABS).map((tab, index) => {
        const {url, title} = described(tab, sites);
        return {url, title, pinned: tab.pinned === true, front: first + index === front};
    });
}

// The address of the page of the add-on at `base` that waits in a tab until its user turns to it, and then goes to `url`.
export function waitingAddress(base, {url, title}) {
    return `${base}#${new URLSearchParams({url, title})}`;
}

// What the page of the add-on at `base` waits for whose address this is; null if it is another page, or waits for none.
export function waitedFor(base, address) {
    if (typeof address !== 'string' || !address.startsWith(`${base}#`))
        return null;
    const told = new URLSearchParams(address.slice(base.length + 1));
    const url = told.get('url');
    return isOfferable(url) ? {url, title: told.get('title') ?? ''} : null;
}

// The tab as if it showed what it waits for.
export function meant(base, tab) {
    const page = waitedFor(base, tab?.url);
    return page ? {...tab, ...page} : tab;
}
