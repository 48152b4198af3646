// SPDX-License-Identifier: LGPL-2.1-or-later
// What the browser offers add-ons, by whichever name it has it.

export const api = globalThis.browser ?? globalThis.chrome;
// Firefox tells when all of its windows have lost the focus; Chromium does not, on X11.
export const tellsLostFocus = location.protocol === 'moz-extension:';
