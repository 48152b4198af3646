// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pages are continued elsewhere, and what is said of them. Nothing here asks the browser.

// How long an address may be, and how much of a title is sent.
const MAXIMUM_ADDRESS = 8192;
const MAXIMUM_TITLE = 512;

function parsed(address) {
    if (typeof address !== 'string' || address.length > MAXIMUM_ADDRESS)
        return null;
    try {
        return new URL(address);
    } catch {
        return null;
    }
}

// Whether the page at this address may be continued elsewhere, or be opened because it is.
export function isOfferable(address) {
    const url = parsed(address);
    return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '' &&
        url.username === '' && url.password === '' && !/^[a-z]+:\/\/[^/?#]*[@\\]/iu.test(address);
}

// The origin of the page at this address; null if it is none.
export function origin(address) {
    return isOfferable(address) ? parsed(address).origin : null;
}

// Whether two addresses are of the same page, wherever in it.
export function isSamePage(one, other) {
    const [first, second] = [parsed(one), parsed(other)];
    if (!first || !second)
        return false;
    first.hash = second.hash = '';
    return first.href === second.href;
}

// The site of the page at this address, by which it is excluded; null if it is none.
export function site(address) {
    return isOfferable(address) ? parsed(address).hostname : null;
}

// The site that somebody has written as `text`, with or without the rest of an address; null if it is none.
export function writtenSite(text) {
    const trimmed = text.trim().replace(/^\*\./u, '');
    if (trimmed === '' || /\s/u.test(trimmed))
        return null;
    return site(/^https?:\/\//iu.test(trimmed) ? trimmed : `http://${trimmed}`);
}

// Whether the page at this address is of one of these sites, or of one below them.
export function isExcluded(address, sites) {
    const host = site(address)?.replace(/\.$/u, '');
    return host !== undefined && sites.some(one => host === one || host.endsWith(`.${one}`));
}

// The page in this tab as the host is told of it; null if it stays here.
export function described(tab, sites) {
    if (!tab || tab.incognito || !isOfferable(tab.url) || isExcluded(tab.url, sites))
        return null;
    return {tab: tab.id, url: tab.url, title: (tab.title ?? '').slice(0, MAXIMUM_TITLE)};
}
